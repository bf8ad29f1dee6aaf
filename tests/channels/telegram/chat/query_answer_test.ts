import assert from "node:assert/strict";
import { FakeBotApi } from "../_fake_bot_api.ts";
import { withBot } from "../_rig.ts";
import { Inbox, type PendingMessage } from "../../../../src/channels/telegram/inbox.ts";
import { replyJson } from "../../../helpers/scripted_provider.ts";

const answer = (text: string): string => replyJson([], { final: text });

function entry(updateId: number, more: Partial<PendingMessage> = {}): PendingMessage {
  const chat = { id: 7, thread: null, group: false };
  const message = { updateId, chat, messageId: 1, from: { id: 7, name: "A" }, text: "ask", command: null };
  return { message: { ...message, files: [], album: null }, ...more };
}

/** The state of a process that was killed: what it left in the inbox, and queries that it began. */
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

Deno.test("queryAnswer() begins what was only about to be begun", async () => {
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

Deno.test("a command whose reply was under way is not repeated", async () => {
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
