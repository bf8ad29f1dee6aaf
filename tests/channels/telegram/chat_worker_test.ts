import assert from "node:assert/strict";
import type { BotClock } from "../../../src/channels/telegram/bot_api.ts";
import { LAST_WORDS_MS } from "../../../src/channels/telegram/bot.ts";
import { replyJson } from "../../helpers/scripted_provider.ts";
import { FakeBotApi, refused } from "./_fake_bot_api.ts";
import { fastClock, withBot } from "./_rig.ts";

const answer = (text: string): string => replyJson([], { final: text });
const PNG = Uint8Array.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0, 0, 0, 0]);
const GROUP = { id: -500, type: "supergroup", title: "G" };
const IMAGES = { engine: { scripted: { capabilities: { images: true } } } } as const;

Deno.test("a photo goes with the request as an image, its caption as the words", () =>
  withBot([(request) => answer(JSON.stringify(request.texts).includes("What is on it") ? "a cat" : "?")], async (
    { api, engine, until },
  ) => {
    api.files.set("photos/big.png", PNG);
    const photo = [
      { file_id: "photos/small.png", width: 9, height: 9, file_size: 9 },
      { file_id: "photos/big.png", width: 90, height: 90, file_size: PNG.length },
      { file_id: "photos/huge.png", width: 900, height: 900, file_size: 9_000_000 },
    ];
    api.say(null, { photo, caption: "What is on it?" });
    await until(() => api.shown().some((text) => text.startsWith("a cat")));
    assert.ok(JSON.stringify(engine.provider.requests[0]?.messages).includes("image/png"), "no image was sent");
  }, IMAGES));

Deno.test("an album is one request with all of its photos, though they arrive separately", () =>
  withBot([answer("both")], async ({ api, engine, until }) => {
    for (const name of ["a", "b", "c"]) {
      api.files.set(`${name}.png`, PNG);
      const photo = [{ file_id: `${name}.png`, width: 9, height: 9, file_size: PNG.length }];
      api.say(null, { photo, media_group_id: "g1", ...(name === "a" ? { caption: "Compare" } : {}) });
      if (name === "b") await until(() => api.unconfirmed === 0);
    }
    await until(() => api.shown().some((text) => text.startsWith("both")));
    assert.equal(api.messages.length, 1);
    assert.deepEqual(api.callsOf("getFile").map(({ payload }) => payload["file_id"]), ["a.png", "b.png", "c.png"]);
    assert.equal(engine.provider.requests.length, 1);
  }, { ...IMAGES, clock: fastClock(1) }));

Deno.test("a document is the variable context, read in the sandbox", () =>
  withBot([replyJson("const lines = context.trim().split('\\n').length"), answer("{{lines}} lines")], async (
    { api, until },
  ) => {
    api.files.set("documents/a.txt", new TextEncoder().encode("one\ntwo\nthree\n"));
    api.say(null, { document: { file_id: "documents/a.txt", file_name: "a.txt", mime_type: "text/plain" } });
    await until(() => api.shown().some((text) => text.startsWith("3 lines")));
  }));

Deno.test("a file that is too large, missing or not text is reported, and the next message is answered", () =>
  withBot([answer("fine")], async ({ api, until }) => {
    api.say(null, { document: { file_id: "x", file_name: "big.iso", file_size: 90_000_000 } });
    await until(() =>
      api.shown().some((text) =>
        text.startsWith("⚠️ Cannot read big.iso: it has 90000000 bytes, more than the limit of 20971520")
      )
    );
    api.fail("getFile", refused(400, "Bad Request: file is too big"));
    api.say(null, { document: { file_id: "x", file_name: "y.bin" } });
    await until(() => api.shown().some((text) => text.includes("file is too big")));
    api.files.set("bin", Uint8Array.from([0x7f, 0x45, 0xff, 0x00]));
    api.say(null, { document: { file_id: "bin", file_name: "z.bin" } });
    await until(() => api.shown().some((text) => text.includes("Cannot use z.bin: it contains binary data")));
    api.say("go on");
    await until(() => api.shown().some((text) => text.startsWith("fine")));
  }));

Deno.test("a user who answers another user's photo and names the bot shows it that photo", () =>
  withBot([answer("a cat")], async ({ api, engine, until }) => {
    api.files.set("cat.png", PNG);
    const photo = [{ file_id: "cat.png", width: 9, height: 9, file_size: PNG.length }];
    const from = { id: 9, is_bot: false, first_name: "Bea" };
    const replied = { message_id: 4, date: 1, chat: GROUP, from, photo, caption: "My pet" };
    const entities = [{ type: "mention", offset: 0, length: 11 }];
    api.say("@VisTestBot", { chat: GROUP, entities, reply_to_message: replied }, { user: 8 });
    await until(() => api.shown(-500).some((text) => text.startsWith("a cat")));
    const asked = JSON.stringify(engine.provider.requests[0]?.messages);
    assert.ok(asked.includes("image/png") && asked.includes("what Bea wrote") && asked.includes("> My pet"));
  }, IMAGES));

Deno.test("in a group the bot answers messages that name it or reply to it, with the name of the sender", () =>
  withBot(
    [(request) => answer(/User8: hello/.test(JSON.stringify(request.texts)) ? "hi group" : "?"), answer("again")],
    async (
      { api, engine, until },
    ) => {
      const said = (text: string, more: object = {}) => api.say(text, { chat: GROUP, ...more }, { user: 8 });
      said("nobody meant");
      said("@VisTestBot hello", { entities: [{ type: "mention", offset: 0, length: 11 }] });
      await until(() => api.shown(-500).some((text) => text.startsWith("hi group")));
      assert.equal(engine.provider.requests.length, 1);
      assert.deepEqual(
        Reflect.get(Object(api.messages[0]?.payload["reply_parameters"]), "allow_sending_without_reply"),
        true,
      );
      said("/unknown");
      said("/new@OtherBot");
      said("and you?", {
        reply_to_message: {
          message_id: 1,
          date: 1,
          chat: GROUP,
          from: { id: 123456, is_bot: true, first_name: "Vis" },
        },
      });
      await until(() => api.shown(-500).some((text) => text.startsWith("again")));
      assert.equal(api.messages.length, 2);
    },
  ));

Deno.test("each topic of a forum has a conversation of its own, and is answered there", () =>
  withBot([answer("t1"), answer("t2")], async ({ api, engine, until }) => {
    for (const thread of [11, 12]) {
      api.say("/start@VisTestBot", { chat: GROUP, message_thread_id: thread, is_topic_message: true });
      api.say("@VisTestBot q", {
        chat: GROUP,
        message_thread_id: thread,
        is_topic_message: true,
        entities: [{ type: "mention", offset: 0, length: 11 }],
      });
      await until(() =>
        api.messages.some(({ payload, texts }) =>
          payload["message_thread_id"] === thread && texts.at(-1)?.startsWith("t")
        )
      );
    }
    assert.equal((await engine.conversations.list({ limit: 9, channel: "telegram" })).length, 2);
  }));

Deno.test("a group that became a supergroup keeps its conversation", () =>
  withBot([answer("one"), answer("two")], async ({ api, engine, until }) => {
    const hello = { entities: [{ type: "mention", offset: 0, length: 11 }] };
    api.say("@VisTestBot q", { chat: { id: -400, type: "group", title: "G" }, ...hello });
    api.say("/new", { chat: { id: -400, type: "group", title: "G" } });
    await until(() => api.shown(-400).length === 2 && api.shown(-400).some((text) => text.startsWith("one")));
    api.say(null, { chat: { id: -400, type: "group", title: "G" }, migrate_to_chat_id: -500 });
    api.say("@VisTestBot q", { chat: GROUP, ...hello });
    await until(() => api.shown(-500).some((text) => text.startsWith("two")));
    assert.deepEqual(
      (await engine.conversations.list({ limit: 9, channel: "telegram" })).map(({ queries }) => queries),
      [1, 1],
    );
  }));

Deno.test("a user over the daily quota is informed, and others continue", () =>
  withBot([answer("one"), answer("other user")], async ({ api, until }) => {
    api.say("a");
    await until(() => api.shown().some((text) => text.startsWith("one")));
    api.say("b");
    await until(() => api.shown().some((text) => /^You have reached the limit of 1 request per day/.test(text)));
    api.say("@VisTestBot c", { chat: GROUP, entities: [{ type: "mention", offset: 0, length: 11 }] }, { user: 8 });
    await until(() => api.shown(-500).some((text) => text.startsWith("other user")));
  }, { quota: { queriesPerDay: 1, costUsdPerDay: null } }));

for (const late of [false, true]) {
  const effect = late ? "is refused if that request ends first" : "goes to that request";
  Deno.test(`a text to the running request of a user at the daily quota ${effect}`, async () => {
    const release = Promise.withResolvers<void>();
    await withBot(
      [
        { text: late ? answer("alone") : replyJson("1"), after: release.promise },
        (request) => answer(request.context.includes("in French") ? "steered" : "not told"),
      ],
      async ({ api, engine, until }) => {
        api.say("say it");
        await until(() => engine.provider.requests.length === 1);
        api.say("in French");
        await until(() => api.callsOf("setMessageReaction").length === 1);
        release.resolve();
        const shown = late ? /^You have reached the limit of 1 request per day/ : /^steered/;
        await until(() => api.shown().some((text) => shown.test(text)));
        assert.equal(engine.provider.requests.length, late ? 1 : 2);
      },
      { quota: { queriesPerDay: 1, costUsdPerDay: null } },
    );
  });
}

Deno.test("a long answer comes in parts in order, and a text that Telegram refuses for its styles as plain text", () => {
  const long = Array.from({ length: 300 }, (_, n) => `Line ${n} of **many** words to fill it`).join("\n");
  const final = { answer: `${long}\n\n\`\`\`ts\nconst a = 1;\n\`\`\``, answerType: "markdown" };
  return withBot([replyJson([], { final })], async ({ api, until }) => {
    let times = 0;
    api.rules.push(({ method, payload }) =>
      method === "editMessageText" && payload["entities"] && times++ === 0
        ? refused(400, "Bad Request: can't parse entities: unsupported")
        : null
    );
    api.say("long");
    await until(() => api.shown().some((text) => text.includes(" step ·")));
    assert.equal(api.messages.length, 3);
    const text = api.shown().join("\n");
    assert.ok([...Array(300).keys()].every((n) => text.includes(`Line ${n} of many words`)));
    assert.deepEqual(api.messages[0]?.entities, []);
    assert.ok((api.messages[1]?.entities.length ?? 0) > 10);
  });
});

/** The last words are sent, however long that takes. */
function patientClock(): BotClock {
  const clock = fastClock();
  return { ...clock, sleep: (ms, signal) => clock.sleep(ms === LAST_WORDS_MS ? 6_000_000 : ms, signal) };
}

Deno.test("the end of the program lets a query finish; one that takes too long continues at the next start", () => {
  const api = new FakeBotApi();
  return withBot(
    [
      replyJson("await new Promise((r) => setTimeout(r, 300)); const a = 1"),
      answer("it came to its end"),
      replyJson("await new Promise((r) => setTimeout(r, 60_000))"),
      answer("gone on"),
    ],
    async ({ engine, until, restart }) => {
      api.say("a");
      await until(() => engine.provider.requests.length === 1);
      await restart({ shutdownMs: 1_000 });
      assert.ok(api.shown().some((text) => text.startsWith("it came to its end")));
      api.say("b");
      await until(() => engine.provider.requests.length === 3);
      await restart();
      await until(() => api.shown().some((text) => text.startsWith("gone on")));
      assert.ok(api.messages.some(({ texts }) => texts.some((text) => text.startsWith("⏸ The bot is stopping"))));
      assert.equal(api.messages.length, 2);
    },
    { api, clock: patientClock(), shutdownMs: 6_000_000 },
  );
});

Deno.test("after /new, a text waits for the running request and begins the new conversation", async () => {
  const release = Promise.withResolvers<void>();
  await withBot(
    [
      { text: answer("old"), after: release.promise },
      (request) => answer(JSON.stringify(request.texts).includes("old task") ? "told" : "new"),
    ],
    async ({ api, engine, until }) => {
      api.say("old task");
      await until(() => engine.provider.requests.length === 1);
      api.say("/new");
      await until(() => api.shown().some((text) => text.startsWith("Started a new conversation")));
      api.say("new task");
      await until(() => api.callsOf("setMessageReaction").length === 1);
      release.resolve();
      await until(() => api.shown().some((text) => text.startsWith("new")));
      const reactions = api.callsOf("setMessageReaction").map(({ payload }) => JSON.stringify(payload["reaction"]));
      assert.match(reactions.join(), /👌/);
      const listed = await engine.conversations.list({ limit: 9, channel: "telegram" });
      assert.deepEqual(listed.map(({ queries }) => queries), [1, 1]);
    },
  );
});

Deno.test("a query gets its steering messages again after a restart has cut it, and they begin no query of their own", () =>
  withBot(
    [
      replyJson("await new Promise((r) => setTimeout(r, 150)); const a = 1"),
      replyJson("await new Promise((r) => setTimeout(r, 60_000)); const b = 1"),
      replyJson("await new Promise((r) => setTimeout(r, 400)); const a = 1"),
      answer("oui, en bref"),
    ],
    async ({ api, engine, until, restart }) => {
      api.say("say it");
      await until(() => engine.provider.requests.length === 1);
      api.say("in French");
      await until(() => engine.provider.requests.length === 2);
      assert.ok(engine.provider.requests[1]?.texts.some((text) => text.includes("in French")));
      await restart();
      await until(() => api.shown().some((text) => text.startsWith("oui, en bref")));
      assert.equal(api.messages.length, 1);
      assert.equal(engine.provider.remaining, 0);
      const again = engine.provider.requests.slice(2).flatMap(({ texts }) => texts);
      assert.ok(again.some((text) => text.includes("in French")), "it was not told again");
      await restart();
      assert.deepEqual(api.shown().map((text) => text.slice(0, 3)), ["oui"]);
    },
    { shutdownMs: 1_000 },
  ));

Deno.test("a message that ended the process three times is not begun a fourth time", () =>
  withBot(
    Array.from({ length: 5 }, () => replyJson("await new Promise((r) => setTimeout(r, 60_000))")),
    async ({ api, engine, until, restart }) => {
      api.say("again and again");
      for (let n = 1; n <= 3; n++) {
        await until(() => engine.provider.requests.length === n);
        await restart();
      }
      await until(() => api.shown().includes("⏹ Cancelled"));
      assert.equal(engine.provider.requests.length, 3);
      const told = api.messages.flatMap(({ texts }) => texts).filter((text) =>
        text.startsWith("⏸ The bot is stopping")
      );
      assert.deepEqual(told.map((text) => text.includes("does not run this request again")), [false, false, true]);
    },
    { clock: patientClock(), shutdownMs: 500 },
  ));

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

Deno.test("voice, stickers and edits of answered messages are refused with a message, each kind once", () =>
  withBot([], async ({ api, until }) => {
    for (let n = 0; n < 3; n++) api.say(null, { voice: { file_id: "v", duration: 1 } });
    for (let n = 0; n < 2; n++) api.say(null, { sticker: { file_id: "s", width: 1, height: 1 } });
    for (let n = 0; n < 2; n++) api.push(edit(5, "changed"));
    await until(() => api.messages.length === 3);
    const shown = api.shown().join("\n");
    assert.match(shown, /cannot read voice messages: send text, photos or documents/);
    assert.match(shown, /cannot read stickers: send text/);
    assert.match(shown, /do not read edits of this message: send it as a new message/);
    await until(() => api.unconfirmed === 0);
    assert.equal(api.messages.length, 3);
  }));

Deno.test("strangers cannot prevent the bot from answering users it knows", () =>
  withBot([], async ({ api, until }) => {
    for (let user = 200; user < 230; user++) api.say("let me in", {}, { user });
    api.say(null, { voice: { file_id: "v", duration: 1 } });
    await until(() => api.shown(7).some((text) => text.includes("voice messages")));
  }));

Deno.test("a message that is edited while its query runs reaches the query, only once", () =>
  withBot(
    [
      replyJson("await new Promise((r) => setTimeout(r, 400)); const a = 1"),
      (request) =>
        answer(/changed an earlier message; it now says:\s+say Berlin/.test(request.context) ? "new" : "old"),
    ],
    async ({ api, engine, until }) => {
      api.say("say Paris", { message_id: 55 });
      await until(() => engine.provider.requests.length === 1);
      api.push(edit(55, "say Paris")); // Telegram sends such an update for a preview.
      api.push(edit(55, "say Berlin"));
      await until(() => api.shown().some((text) => /^(?:new|old)/.test(text)));
      assert.match(api.shown()[0] ?? "", /^new/);
      assert.equal(api.callsOf("setMessageReaction").length, 1);
      assert.equal(api.messages.length, 1);
    },
  ));

Deno.test("a message with a file that arrives meanwhile is marked as waiting, and is read in its edited form", () =>
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
