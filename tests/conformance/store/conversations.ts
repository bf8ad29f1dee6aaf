import assert from "node:assert/strict";
import { begun, newQuery, queryEnd } from "./fixtures.ts";
import type { StoreCase } from "./suite.ts";

export const storeConversationCases: readonly StoreCase[] = [
  {
    name: "createConversation() gives the branch that findConversation() finds by id and by prefix",
    async run(store, clock) {
      const branch = await store.createConversation({ title: "T", channel: "cli", workspace: "/w", externalId: "e" });
      assert.equal(branch.createdAt, clock.now);
      for (const key of [branch.conversationId, branch.conversationId.slice(0, 30)]) {
        assert.deepEqual(await store.findConversation(key), branch);
      }
    },
  },
  {
    name: "findConversation() finds nothing for a short, an unknown, an ambiguous or a hostile text",
    async run(store) {
      const first = await store.createConversation({ title: "1", channel: "cli", workspace: "/w" });
      const second = await store.createConversation({ title: "2", channel: "cli", workspace: "/w" });
      const [a, b] = [first.conversationId, second.conversationId];
      const common = [...a].findIndex((char, at) => char !== b[at]);
      for (const key of ["", a.slice(0, 7), a.slice(0, common), "00000000", "%%%%%%%%", "________", "'; drop --"]) {
        assert.equal(await store.findConversation(key), null, key);
      }
      assert.equal((await store.findConversation(a.slice(0, common + 1)))?.conversationId, a);
    },
  },
  {
    name: "ensureConversation() makes the conversation of a chat once, also for simultaneous callers",
    async run(store, clock) {
      const chat = { channel: "telegram", externalId: "chat 7" };
      const facts = { ...chat, title: "T", workspace: "/w" };
      assert.equal(await store.findExternal(chat), null);
      const made = await Promise.all([1, 2, 3].map(() => store.ensureConversation(facts)));
      assert.equal(new Set(made.map(({ conversationId }) => conversationId)).size, 1);
      assert.deepEqual(await store.findExternal(chat), made[0]);
      clock.now += 1;
      const others = [{ ...facts, channel: "matrix" }, { ...facts, externalId: "chat 8" }];
      for (const other of others) await store.ensureConversation(other);
      await store.createConversation({ title: "no chat", channel: "telegram", workspace: "/w" });
      assert.equal((await store.listConversations({ limit: 9 })).length, 4);
      const listed = await store.listConversations({ limit: 9, channel: "telegram" });
      assert.deepEqual(listed.map(({ title }) => title).sort(), ["T", "T", "no chat"]);
      assert.deepEqual(await store.listConversations({ limit: 9, channel: "' OR 1 --" }), []);
      const long = await store.ensureConversation({ ...facts, externalId: "x".repeat(5000) });
      assert.equal((await store.findExternal({ ...chat, externalId: "x".repeat(5000) }))?.branchId, long.branchId);
      const queryId = await store.beginQuery(newQuery(long.branchId, "a"));
      const fork = await store.fork({ queryId, position: -1 });
      assert.equal(
        (await store.ensureConversation({ ...facts, externalId: "x".repeat(5000) })).branchId,
        fork.branchId,
      );
    },
  },
  {
    name: "a conversation without a title gets the start of its first request; another one keeps its own",
    async run(store) {
      const title = async (branchId: string) => (await store.findConversation(branchId))?.title;
      const facts = { channel: "http", workspace: "/w" };
      const none = await store.createConversation({ ...facts, title: "New conversation", untitled: true });
      const own = await store.createConversation({ ...facts, title: "New conversation" });
      const renamed = await store.createConversation({ ...facts, title: "New conversation", untitled: true });
      assert.equal(await title(none.branchId), "New conversation");
      await store.setTitle(renamed.branchId, "Mine");
      for (const { branchId } of [none, own, renamed]) {
        await store.endQuery(await store.beginQuery(newQuery(branchId, `how\n many ${"x".repeat(200)}`)), queryEnd());
        await store.beginQuery(newQuery(branchId, "and now?"));
      }
      assert.match(await title(none.branchId) ?? "", /^how many x+…$/);
      assert.deepEqual([await title(own.branchId), await title(renamed.branchId)], ["New conversation", "Mine"]);
    },
  },
  {
    name: "setTitle() also names branches with the same title, except branches that the user has named",
    async run(store) {
      const { queryId, branchId, conversationId } = await begun(store);
      const fork = await store.fork({ queryId, position: null });
      const titles = async () => (await store.branches(conversationId)).map(({ title }) => title);
      await store.setTitle(fork.branchId, "Slug work");
      assert.deepEqual(await titles(), ["Slug work", "Slug work"]);
      await store.setTitle(branchId, "Main");
      assert.deepEqual(await titles(), ["Main", "Slug work"]);
    },
  },
  {
    name: "setWorkspace() moves all branches of a conversation, and no other conversation",
    run: async (store) => {
      const [moved, other] = [await begun(store, { workspace: "/old" }), await begun(store, { workspace: "/old" })];
      const fork = await store.fork({ queryId: moved.queryId, position: null });
      await store.setWorkspace(moved.conversationId, "/new");
      const folder = async (id: string) => (await store.findConversation(id))?.workspace;
      assert.deepEqual(
        [await folder(moved.branchId), await folder(fork.branchId), await folder(other.branchId)],
        ["/new", "/new", "/old"],
      );
      assert.equal((await store.latestConversation("/new"))?.conversationId, moved.conversationId);
      assert.equal((await store.latestConversation("/old"))?.conversationId, other.conversationId);
    },
  },
  {
    name: "latestConversation() is decided by the newest query and by the workspace",
    async run(store, clock) {
      const old = await begun(store);
      clock.now += 1000;
      const young = await begun(store);
      await begun(store, { workspace: "/elsewhere" });
      await store.createConversation({ title: "no query yet", channel: "cli", workspace: "/work" });
      assert.equal((await store.latestConversation("/work"))?.conversationId, young.conversationId);
      clock.now += 1000;
      await store.beginQuery(newQuery(old.branchId, "again"));
      assert.equal((await store.latestConversation("/work"))?.conversationId, old.conversationId);
      assert.equal(await store.latestConversation("/nowhere"), null);
    },
  },
  {
    name: "latestConversation() knows the later of two queries of one millisecond",
    async run(store) {
      await begun(store);
      const second = await begun(store);
      assert.equal((await store.latestConversation("/work"))?.conversationId, second.conversationId);
    },
  },
  {
    name: "listConversations() counts queries, newest first, up to the limit",
    async run(store, clock) {
      const first = await begun(store);
      clock.now += 10;
      await begun(store);
      clock.now += 10;
      await store.beginQuery(newQuery(first.branchId, "another"));
      clock.now += 10;
      await store.createConversation({ title: "empty", channel: "cli", workspace: "/work" });
      const all = await store.listConversations({ limit: 10 });
      assert.deepEqual(all.map(({ title, queries }) => [title, queries]), [["empty", 0], ["A title", 2], [
        "A title",
        1,
      ]]);
      assert.equal((await store.listConversations({ limit: 2 })).length, 2);
      assert.equal((await store.listConversations({ limit: 0 })).length, 0);
    },
  },
  {
    name: "the list has the time of the newest run or fork in any branch, and is in its order",
    async run(store, clock) {
      const old = await begun(store);
      await store.endQuery(old.queryId, queryEnd());
      clock.now += 10;
      const young = await begun(store);
      await store.endQuery(young.queryId, queryEnd());
      const first = async (expected: string): Promise<void> => {
        const [{ conversationId = "", activeAt = 0 } = {}] = await store.listConversations({ limit: 1 });
        assert.deepEqual([conversationId, activeAt], [expected, clock.now]);
      };
      await first(young.conversationId);
      clock.now += 10;
      const again = await store.beginQuery({ ...newQuery(old.branchId, "again"), retryOf: old.queryId });
      await first(old.conversationId);
      await store.endQuery(again, queryEnd());
      clock.now += 10;
      const fork = await store.fork({ queryId: young.queryId, position: null });
      await first(young.conversationId);
      clock.now += 10;
      await store.beginQuery(newQuery(old.branchId, "next"));
      await first(old.conversationId);
      clock.now += 10;
      await store.beginQuery(newQuery(fork.branchId, "in the fork"));
      await first(young.conversationId);
      const times = (await store.listConversations({ limit: 9 })).map(({ activeAt }) => activeAt);
      assert.deepEqual(times, times.toSorted((a, b) => b - a));
    },
  },
  {
    name: "createConversation() takes a title and a workspace of any length",
    async run(store) {
      const [title, workspace] = ["t".repeat(5000), `/${"deep/".repeat(800)}`];
      const { branchId, conversationId } = await store.createConversation({ title, channel: "cli", workspace });
      await store.beginQuery(newQuery(branchId, "q"));
      const found = await store.latestConversation(workspace);
      assert.deepEqual([found?.conversationId, found?.title, found?.workspace], [conversationId, title, workspace]);
    },
  },
];
