import assert from "node:assert/strict";
import { Inbox, type PendingMessage } from "../../../src/channels/telegram/inbox.ts";
import { replyJson } from "../../helpers/scripted_provider.ts";
import { FakeBotApi, refused } from "./_fake_bot_api.ts";
import { type Rig, withBot } from "./_rig.ts";

const answer = (text: string): string => replyJson([], { final: text });

function entry(updateId: number, more: Partial<PendingMessage> = {}): PendingMessage {
  const chat = { id: 7, thread: null, group: false };
  const message = { updateId, chat, messageId: 1, from: { id: 7, name: "A" }, text: "ask", command: null };
  return { message: { ...message, files: [], album: null }, ...more };
}

/** Returns the state of a killed process: the updates in its inbox, and the queries that it began. */
async function left(
  api: FakeBotApi,
  { replies, leave, then }: {
    readonly replies: readonly string[];
    readonly leave: (ask: (key: string) => Promise<string>) => Promise<(branchId: string) => PendingMessage>;
    readonly then: (rig: Parameters<Parameters<typeof withBot>[1]>[0]) => void | Promise<void>;
  },
): Promise<void> {
  await withBot(replies, async (rig) => {
    const { engine, restart } = rig;
    const { conversations } = engine;
    const facts = { title: "T", channel: "telegram", workspace: "/nowhere", externalId: "123456/7" };
    const branch = await conversations.records.ensure(facts);
    const entryOf = await leave(async (key) => {
      const { queryId } = await conversations.ask(branch, "ask", {
        signal: new AbortController().signal,
        emit: () => {},
        requestKey: { branchId: branch.branchId, key, fingerprint: "telegram" },
      });
      return queryId;
    });
    const inbox = new Inbox(conversations.records.states, { botId: "123456", now: Date.now });
    await inbox.put(entryOf(branch.branchId));
    await restart();
    while ((await inbox.entries()).length > 0) await new Promise((resolve) => setTimeout(resolve, 5));
    await then(rig);
  }, { api });
}

Deno.test("queryAnswer() finds the query of an update by its key, though its number was not noted", async () => {
  const api = new FakeBotApi();
  await left(api, {
    replies: [answer("only once")],
    leave: async (ask) => {
      await ask("telegram/7/50/1");
      return (branchId) => entry(50, { branchId, model: null, attempts: 1 });
    },
    then: async ({ until, engine }) => {
      await until(() => api.shown().some((text) => text.startsWith("only once")));
      assert.equal(engine.provider.requests.length, 1);
      await until(() => api.messages.length === 1);
    },
  });
});

Deno.test("queryAnswer() begins a query that was about to begin", async () => {
  const api = new FakeBotApi();
  await left(api, {
    replies: [answer("begun late")],
    leave: () => Promise.resolve((branchId) => entry(50, { branchId, model: null, attempts: 1 })),
    then: async ({ until }) => {
      await until(() => api.shown().some((text) => text.startsWith("begun late")));
    },
  });
});

Deno.test("a message that became a part of a query which is answered is not answered by itself", async () => {
  const api = new FakeBotApi();
  await left(api, {
    replies: [answer("with both")],
    leave: async (ask) => {
      const steered = await ask("telegram/7/49/1");
      return (branchId) => entry(50, { branchId, model: null, steered });
    },
    then: ({ engine }) => {
      assert.equal(engine.provider.requests.length, 1);
      assert.deepEqual(api.messages, []);
    },
  });
});

Deno.test("a command whose reply was being sent is not repeated", async () => {
  const api = new FakeBotApi();
  await left(api, {
    replies: [],
    leave: () => {
      const { message } = entry(50);
      return Promise.resolve(() => ({ message: { ...message, text: "", command: "help" }, replied: true }));
    },
    then: () => {
      assert.deepEqual(api.messages, []);
    },
  });
});

/** The time is of the bot's clock, which is fifty times faster than the machine's. */
const LATE = 5_000;
/** The first answer ends before the restart, however long its end takes. */
const UNCUT = 3_000_000;
const work = (ms: number): string => replyJson(`await new Promise((r) => setTimeout(r, ${ms})); const a = 1`);

const sent = ({ api }: Rig) =>
  api.callsOf("sendMessage").map(({ payload }) => ({
    text: String(payload["text"]),
    silent: payload["disable_notification"] === true,
  }));

Deno.test("an answer after long work is a new message that devices notify of, and the progress is removed", () =>
  withBot([work(150), answer("It is 42")], async (rig) => {
    const { api, until } = rig;
    api.say("What is it?");
    await until(() => api.callsOf("deleteMessage").length === 1 && api.messages.length === 1);
    const [message] = api.messages;
    assert.match(message?.texts.at(-1) ?? "", /^It is 42\n\n2 steps · /);
    assert.notEqual(message?.id, api.callsOf("deleteMessage")[0]?.payload["message_id"]);
    const [progress, made] = sent(rig);
    assert.equal(progress?.text, "⏳");
    assert.match(made?.text ?? "", /^It is 42 2 steps · .* …$/);
    assert.equal(made?.silent, false);
  }, { lateMs: LATE }));

Deno.test("a long answer after long work sounds once, and answers who asked in the group", () => {
  const long = Array.from({ length: 300 }, (_, n) => `Line ${n} of many words to fill it`).join("\n");
  return withBot([work(150), answer(long)], async (rig) => {
    const { api, until } = rig;
    const entities = [{ type: "mention", offset: 0, length: 11 }];
    const chat = { id: -500, type: "supergroup", title: "G" };
    api.say("@VisTestBot q", { chat, entities, message_id: 77 }, { user: 8 });
    await until(() => api.callsOf("deleteMessage").length === 1 && api.messages.length === 3);
    assert.deepEqual(sent(rig).map(({ silent }) => silent), [false, false, true, true]);
    const repliesTo = api.callsOf("sendMessage").map(({ payload }) =>
      Reflect.get(Object(payload["reply_parameters"]), "message_id")
    );
    assert.deepEqual(repliesTo, [77, 77, undefined, undefined]);
    assert.ok([...Array(300).keys()].every((n) => api.shown().join("\n").includes(`Line ${n} of many`)));
  }, { lateMs: LATE });
});

Deno.test("an answer after short work replaces the progress, and so does a cancelled one", () =>
  withBot([answer("quick"), work(20_000)], async (rig) => {
    const { api, engine, until, restart } = rig;
    api.say("a");
    await until(() => api.shown().some((text) => text.startsWith("quick")));
    await restart({ lateMs: LATE });
    api.say("b");
    await until(() => engine.provider.requests.length === 2 && sent(rig).length === 2);
    await new Promise((resolve) => setTimeout(resolve, LATE / 50));
    api.say("/cancel");
    await until(() => api.shown().includes("⏹ Cancelled"));
    assert.equal(api.callsOf("deleteMessage").length, 0);
    assert.deepEqual(sent(rig).map(({ text }) => text), ["⏳", "⏳", "⏹ Ending it"]);
  }, { shutdownMs: UNCUT }));

Deno.test("the time before a restart counts, and the progress from before it is removed", () =>
  withBot([work(9_000), answer("gone on")], async (rig) => {
    const { api, engine, until, restart } = rig;
    api.say("a");
    await until(() => engine.provider.requests.length === 1 && api.messages.length === 1);
    await new Promise((resolve) => setTimeout(resolve, 20));
    await restart({ lateMs: 1_000 });
    await until(() => api.shown().some((text) => text.startsWith("gone on")) && api.messages.length === 1);
    assert.equal(api.callsOf("deleteMessage").length, 1);
    assert.deepEqual(sent(rig).map(({ silent }) => silent), [false, false]);
  }, { shutdownMs: 0 }));

Deno.test("progress that Telegram does not let the bot remove names the place of the answer, and no message is repeated", () =>
  withBot([work(150), answer("It is 42"), answer("next")], async ({ api, until }) => {
    api.fail("deleteMessage", refused(429, "Too Many Requests: retry after 1", { retry_after: 1 }), { cut: "before" });
    let times = 0;
    api.rules.push(({ method }) =>
      method === "deleteMessage" && times++ >= 0 ? refused(400, "Bad Request: message can't be deleted") : null
    );
    api.say("a");
    await until(() => api.shown().includes("✅ Answered below"));
    assert.equal(api.shown().filter((text) => text.startsWith("It is 42")).length, 1);
    api.say("b");
    await until(() => api.shown().some((text) => text.startsWith("next")));
  }, { lateMs: LATE }));
