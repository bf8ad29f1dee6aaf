import assert from "node:assert/strict";
import { replyJson } from "../../helpers/scripted_provider.ts";
import { refused, TOKEN } from "./_fake_bot_api.ts";
import { withBot } from "./_rig.ts";

const answer = (text: string): string => replyJson([], { final: text });

Deno.test("TelegramBot answers a message in one message, with the usage of the query", () =>
  withBot(
    [replyJson("const n = 41 + 1"), replyJson([], { final: { answer: "It is **42**", answerType: "markdown" } })],
    async ({ api, until }) => {
      api.say("What is it?");
      await until(() => api.shown().some((text) => text.startsWith("It is 42")), "answer");
      assert.equal(api.messages.length, 1);
      const [message] = api.messages;
      assert.match(message?.texts.at(-1) ?? "", /^It is 42\n\n2 steps · \d+\.\d s · script · \d+ → \d+ tokens/);
      assert.equal(message?.texts[0], "⏳");
      assert.deepEqual(message?.entities.map(({ type }) => type), ["bold", "italic"]);
      assert.ok(api.callsOf("sendChatAction").length > 0);
      assert.deepEqual(api.callsOf("setMyCommands").length, 1);
    },
  ));

Deno.test("TelegramBot continues one conversation per chat, and begins another at /new", () =>
  withBot([answer("one"), answer("two"), answer("three")], async ({ api, engine, until }) => {
    for (const [said, told] of [["a", "one"], ["b", "two"]] as const) {
      api.say(said);
      await until(() => api.shown().some((text) => text.startsWith(told)));
    }
    api.say("/new");
    await until(() => api.shown().some((text) => text.startsWith("Started a new conversation")));
    api.say("c");
    await until(() => api.shown().some((text) => text.startsWith("three")));
    const listed = await engine.conversations.list({ limit: 9, channel: "telegram" });
    assert.deepEqual(listed.map(({ queries }) => queries).sort(), [1, 2]);
  }));

Deno.test("TelegramBot refuses unlisted users, explains once how to be listed, and begins no query", () =>
  withBot([], async ({ api, engine, until }) => {
    for (let n = 0; n < 5; n++) api.say("let me in", {}, { user: 99 });
    await until(() => api.messages.length > 0 && api.unconfirmed === 0);
    assert.equal(api.messages.length, 1);
    assert.match(api.shown()[0] ?? "", /Your id is 99.*\nvis telegram allow 99$/s);
    assert.equal(engine.provider.requests.length, 0);
    assert.deepEqual(await engine.conversations.list({ limit: 9, channel: "telegram" }), []);
  }));

Deno.test("TelegramBot: a crowd of strangers cannot make it write without limit", () =>
  withBot([], async ({ api, until }) => {
    for (let user = 200; user < 300; user++) api.say("let me in", {}, { user });
    await until(() => api.unconfirmed === 0);
    assert.ok(api.messages.length <= 12, `${api.messages.length}`);
  }));

Deno.test("TelegramBot passes a message that arrives meanwhile to the running query", () => {
  const gate = Promise.withResolvers<void>();
  return withBot(
    [
      replyJson("await new Promise((r) => setTimeout(r, 400)); const a = 1"),
      (request) => answer(request.context.includes("no, in French") ? "steered" : "not told"),
    ],
    async ({ api, engine, until }) => {
      gate.resolve();
      api.say("say it");
      await until(() => engine.events.length >= 0 && engine.provider.requests.length > 0);
      api.say("no, in French");
      await until(() => api.shown().some((text) => /^(steered|not told)/.test(text)));
      assert.match(api.shown()[0] ?? "", /^steered/);
      await until(() => api.callsOf("setMessageReaction").length === 1);
      assert.equal(engine.provider.requests.length, 2);
    },
  );
});

Deno.test("TelegramBot ends a query at /cancel, and answers the next one", () =>
  withBot(
    [replyJson("await new Promise((r) => setTimeout(r, 20_000))"), answer("next")],
    async ({ api, engine, until }) => {
      api.say("long");
      await until(() => engine.provider.requests.length === 1);
      api.say("/cancel");
      await until(() => api.shown().includes("⏹ Cancelled"));
      assert.ok(api.shown().includes("⏹ Ending it"));
      api.say("and now");
      await until(() => api.shown().some((text) => text.startsWith("next")));
    },
  ));

Deno.test("TelegramBot obeys a flood limit, survives lost connections and answers once", () =>
  withBot([answer("survived")], async ({ api, until, notes }) => {
    api.fail("getUpdates", { status: 502, body: "<html>Bad Gateway</html>" }, { cut: "before" }, { cut: "after" });
    api.fail("sendMessage", refused(429, "Too Many Requests: retry after 3", { retry_after: 3 }));
    api.fail("editMessageText", { cut: "after" }, { status: 200, body: "no json" }, { status: 500, body: "{}" });
    api.say("hello");
    await until(() => api.shown().some((text) => text.startsWith("survived")) && api.unconfirmed === 0);
    assert.equal(api.messages.filter(({ texts }) => texts.at(-1)?.startsWith("survived")).length, 1);
    const sends = api.callsOf("sendMessage");
    assert.ok((sends[1]?.at ?? 0) - (sends[0]?.at ?? 0) >= 3_000 / 50, "retry_after");
    assert.ok(notes.some((note) => note.includes("Vis tries again")) && notes.includes("Telegram is reachable again"));
    assert.ok(!JSON.stringify(notes).includes(TOKEN));
  }));

Deno.test("openTelegram() waits for a network at its start, and reports once that Telegram is reachable again", () =>
  withBot([], async ({ api, notes, restart }) => {
    api.fail("getMe", { cut: "before" }, { status: 502, body: "<html>Bad Gateway</html>" });
    await restart();
    const [first = "", ...others] = notes;
    // The runtime may repeat the first call itself.
    assert.match(first, /^Cannot (?:reach|read the response of) Telegram at .*\. Vis tries again$/);
    assert.deepEqual(others, ["Telegram is reachable again"]);
  }));

Deno.test("TelegramBot ends with a sentence where another program polls, and where the token is refused", async () => {
  await withBot([], async ({ api, bot }) => {
    api.fail("getUpdates", refused(409, "Conflict: terminated by other getUpdates request"));
    api.say("x");
    await assert.rejects(bot.ended, (error: Error) => {
      assert.equal(error.name, "ConfigError");
      assert.match(error.message, /another program reads the updates of this bot; stop that program/);
      return true;
    });
  });
  await withBot([], async ({ api, bot }) => {
    api.fail("getUpdates", refused(401, "Unauthorized"));
    api.say("x");
    await assert.rejects(bot.ended, (error: Error) => error.name === "ConfigError" && !error.message.includes(TOKEN));
  });
});

Deno.test("TelegramBot skips an invalid update, and answers the next one", () =>
  withBot([answer("still there")], async ({ api, engine, until }) => {
    const chat = { id: 7, type: "private" };
    const from = { id: 7, is_bot: false };
    for (
      const message of [
        null,
        5,
        { from, chat, photo: 7 },
        { from, chat, text: 7 },
        { from, chat, entities: 7, text: "x", reply_to_message: 3 },
        { from: null, chat },
        { from, chat: null, text: "x" },
      ]
    ) api.push({ message: message as never });
    api.say("hello");
    await until(() => api.shown().some((text) => text.startsWith("still there")));
    assert.ok(engine.logged.some(({ event }) => event === "telegram_update_not_read"));
  }, { engine: { scripted: { otherwise: answer("x") } } }));

Deno.test("TelegramBot: a defect at one message does not end the bot, and does not recur at the next start", () =>
  withBot([answer("still there")], async ({ api, engine, until, restart }) => {
    const { records } = engine.conversations;
    const own = records.ensure.bind(records);
    let times = 0;
    records.ensure = (facts) => times++ === 0 ? Promise.reject(new TypeError("planned")) : own(facts);
    api.say("poison");
    await until(() => engine.logged.some(({ event }) => event === "telegram_defect"));
    await restart();
    api.say("hello");
    await until(() => api.shown().some((text) => text.startsWith("still there")));
    assert.equal(engine.provider.requests.length, 1);
  }));
