import assert from "node:assert/strict";
import { replyJson } from "../../helpers/scripted_provider.ts";
import { withBot } from "./_rig.ts";

const answer = (text: string): string => replyJson([], { final: text });
const edit = (messageId: number, text: string) => ({
  edited_message: {
    message_id: messageId,
    date: 1,
    edit_date: 2,
    from: { id: 7, is_bot: false, first_name: "A" },
    chat: { id: 7, type: "private", first_name: "A" },
    text,
  } as never,
});

Deno.test("voice, stickers and edits of what was answered are refused in words, each kind once", () =>
  withBot([], async ({ api, until }) => {
    for (let n = 0; n < 3; n++) api.say(null, { voice: { file_id: "v", duration: 1 } });
    for (let n = 0; n < 2; n++) api.say(null, { sticker: { file_id: "s", width: 1, height: 1 } });
    for (let n = 0; n < 2; n++) api.push(edit(5, "changed"));
    await until(() => api.messages.length === 3);
    const shown = api.shown().join("\n");
    assert.match(shown, /cannot read voice messages: send text, photos or documents/);
    assert.match(shown, /cannot read stickers: send text/);
    assert.match(shown, /already answered this message .*: send it as a new message/);
    await until(() => api.unconfirmed === 0);
    assert.equal(api.messages.length, 3);
  }));

Deno.test("strangers cannot keep the bot from telling those it knows", () =>
  withBot([], async ({ api, until }) => {
    for (let user = 200; user < 230; user++) api.say("let me in", {}, { user });
    api.say(null, { voice: { file_id: "v", duration: 1 } });
    await until(() => api.shown(7).some((text) => text.includes("voice messages")));
  }));

Deno.test("a message that is edited while its query runs is told to the query, and once alone", () =>
  withBot(
    [
      replyJson("await new Promise((r) => setTimeout(r, 400)); const a = 1"),
      (request) =>
        answer(/changed what I wrote before; it says now:\s+say Berlin/.test(request.context) ? "new" : "old"),
    ],
    async ({ api, engine, until }) => {
      api.say("say Paris", { message_id: 55 });
      await until(() => engine.provider.requests.length === 1);
      api.push(edit(55, "say Paris")); // such as Telegram sends for a preview
      api.push(edit(55, "say Berlin"));
      await until(() => api.shown().some((text) => /^(?:new|old)/.test(text)));
      assert.match(api.shown()[0] ?? "", /^new/);
      assert.equal(api.callsOf("setMessageReaction").length, 1);
      assert.equal(api.messages.length, 1);
    },
  ));

Deno.test("a message with a file that comes meanwhile is marked as waiting, and says what it was edited to", () =>
  withBot(
    [
      replyJson("await new Promise((r) => setTimeout(r, 400)); const a = 1"),
      answer("first"),
      (request) => answer(JSON.stringify(request.texts).includes("after") ? "edited" : "not edited"),
    ],
    async ({ api, engine, until }) => {
      api.files.set("a.txt", new TextEncoder().encode("one"));
      api.say("go");
      await until(() => engine.provider.requests.length === 1);
      const document = { file_id: "a.txt", file_name: "a.txt", mime_type: "text/plain" };
      api.say(null, { document, caption: "before", message_id: 56 });
      await until(() => api.callsOf("setMessageReaction").length === 1);
      assert.match(JSON.stringify(api.callsOf("setMessageReaction")[0]?.payload), /👌/);
      api.push(edit(56, "after"));
      await until(() => api.shown().some((text) => /^(?:not )?edited/.test(text)));
      assert.deepEqual(api.shown().map((text) => text.split("\n")[0]), ["first", "edited"]);
    },
  ));
