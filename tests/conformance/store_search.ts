import assert from "node:assert/strict";
import { begun, block, image, iterate, newQuery, queryEnd } from "./store_fixtures.ts";
import type { StoreCase } from "./store_suite.ts";

const HOSTILE = [
  '"',
  '""',
  "AND",
  "NEAR(a b",
  "text:marmalade*",
  "-marmalade",
  "^",
  "(((",
  "a OR",
  "*",
  "'; DROP TABLE search; --",
  "\0",
  "{a b} : c",
  "\ud800",
  "",
  "   ",
  "x".repeat(100_000),
];

export const storeSearchCases: readonly StoreCase[] = [
  {
    name: "search() finds requests, blocks and answers by their words, in any form",
    async run(store) {
      const { queryId } = await begun(store, { text: "Where is the marmalade kept?" });
      await iterate(store, { queryId, position: 0, blocks: [block("marmalades.find(jar)")] });
      await store.endQuery(queryId, queryEnd({ answer: "The Märmalade is on the shelf" }));
      const hits = await store.search("MARMALADE", { limit: 10 });
      assert.deepEqual(hits.map(({ ownerTable, field }) => `${ownerTable}.${field}`).sort(), [
        "expression_state.expr",
        "query_soul.query",
        "query_state.answer",
      ]);
      assert.equal(hits.find(({ field }) => field === "answer")?.ownerId, queryId);
      assert.ok(hits.every(({ snippet }) => /\[m[aä]rmalades?\]/i.test(snippet)), JSON.stringify(hits));
    },
  },
  {
    name: "search() finds an answer that is too long for its column",
    async run(store) {
      const { queryId } = await begun(store);
      await store.endQuery(queryId, queryEnd({ answer: `${"word ".repeat(2000)} needle` }));
      assert.equal((await store.search("needle", { limit: 3 }))[0]?.ownerId, queryId);
    },
  },
  {
    name: "search() needs all words, ranks, and keeps to the limit",
    async run(store) {
      const { branchId } = await begun(store, { text: "one apple among very many other words in a long request" });
      await store.beginQuery(newQuery(branchId, "apple apple pear"));
      const hits = await store.search("apple", { limit: 10 });
      assert.match(hits[0]?.snippet ?? "", /pear/);
      assert.equal(hits.length, 2);
      assert.equal((await store.search("apple pear", { limit: 10 })).length, 1);
      assert.equal((await store.search("apple", { limit: 1 })).length, 1);
      assert.equal((await store.search("apple", { limit: 0 })).length, 0);
    },
  },
  {
    name: "search() takes hostile text as words",
    async run(store) {
      await begun(store, { text: "marmalade AND NEAR text" });
      for (const text of HOSTILE) await store.search(text, { limit: 5 });
      assert.equal((await store.search('mar"malade', { limit: 5 })).length, 0);
      assert.equal((await store.search("-marmalade AND", { limit: 5 })).length, 1);
      assert.deepEqual(await store.check(), []);
    },
  },
  {
    name: "search() finds the source of a function once in its block and once as itself",
    async run(store) {
      const { queryId } = await begun(store);
      const source = "function frobnicate() { return 1 }";
      const saved = [image("frobnicate", { kind: "function", source }), image("other")];
      await iterate(store, { queryId, position: 0, blocks: [block(`${source}; const other = 2`, { saved })] });
      assert.equal((await store.search("frobnicate", { limit: 10 })).length, 2);
      assert.equal((await store.search("other", { limit: 10 })).length, 1);
    },
  },
  {
    name: "log() never rejects, whatever it is given",
    async run(store) {
      const loop: Record<string, unknown> = { big: 1n, error: new Error("no"), fn: () => 1, text: "\ud800\0" };
      loop.self = loop;
      const { conversationId, queryId } = await begun(store);
      await store.log({ level: "info", event: "a", data: loop, conversationId, queryId, iterationId: "gone" });
      await store.log({ level: "error", event: "b", data: { text: "x".repeat(5000) } });
      await store.log({ level: "error", event: "c", data: { toJSON: () => assert.fail() } });
      await store.close();
      await store.log({ level: "error", event: "d", data: {} });
    },
  },
  {
    name: "close() ends the store: later calls reject with StoreError, closing again is harmless",
    async run(store) {
      await begun(store);
      await store.close();
      await store.close();
      await assert.rejects(store.listConversations({ limit: 1 }), { name: "StoreError", kind: "unavailable" });
    },
  },
];
