import assert from "node:assert/strict";
import type { Store } from "../../../src/persistence/store.ts";
import { cpuMs } from "../../helpers/cpu_ms.ts";
import { begun, block, image, iterate, newQuery, queryEnd } from "./fixtures.ts";
import type { StoreCase } from "./suite.ts";

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
  "marmalade ".repeat(100_000),
  Array.from({ length: 100_000 }, (_, at) => `w${at}`).join(" "),
  '("NEAR*'.repeat(150_000),
  `${"\ud800".repeat(300)}a\udfff`,
  "search MATCH",
  "rank:bm25(1)",
];

async function iterated(store: Store, queryId: string, blocks: Parameters<typeof iterate>[1]["blocks"]) {
  await iterate(store, { queryId, position: 0, blocks });
  const [row] = await store.iterations(queryId);
  return { iterationId: row?.iterationId ?? "" };
}

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
    name: "search() finds inside texts of scripts without spaces: Chinese, Japanese, Korean and Thai",
    async run(store) {
      const texts = [
        "数据库迁移失败了，请检查日志",
        "Dockerの設定ファイルを日本語で説明してください",
        "학교에서 데이터베이스를 배웠다",
        "ภาษาไทยเขียนติดกันโดยไม่เว้นวรรค",
        "plain English about a database",
      ];
      const { branchId, queryId: first } = await begun(store, { text: texts[0] ?? "" });
      await store.endQuery(first, queryEnd({ answer: "已经修好了" }));
      for (const text of texts.slice(1)) {
        const queryId = await store.beginQuery(newQuery(branchId, text));
        await iterate(store, { queryId, position: 0, blocks: [block(`// ${text}`)] });
        await store.endQuery(queryId, queryEnd({ answer: "ok" }));
      }
      const cases: readonly (readonly [query: string, field: string, snippet: RegExp, hits: number])[] = [
        ["迁移", "query", /据库\[迁移\]失败/, 1],
        ["库", "query", /数据\[库\]迁移/, 1],
        ["修好", "answer", /已经\[修好\]了/, 1],
        ["設定 日本語", "query", /の\[設定\]ファイルを\[日本語\]で/, 2],
        ["dockerの", "query", /\[Dockerの\]設定/, 2],
        ["데이터베이스", "query", /\[데이터베이스\]를/, 2],
        ["ไทย", "query", /\[ไทย\]/, 2],
        ["日本人", "query", /./, 0],
        ["迁移 database", "query", /./, 0],
      ];
      for (const [query, field, snippet, count] of cases) {
        const hits = await store.search(query, { limit: 10 });
        assert.equal(hits.length, count, query);
        if (count > 0) assert.match(hits.find((one) => one.field === field)?.snippet ?? "", snippet, query);
        assert.deepEqual(await store.search(query, { limit: 10, branchId }), hits);
      }
      assert.equal((await store.search("迁移", { limit: 10, kind: "code" })).length, 0);
    },
  },
  {
    name: "search() finds words of another script that are next to Chinese, Japanese, Korean or Thai without a space",
    async run(store) {
      const { branchId, queryId } = await begun(store, { text: "SQLiteを使う" });
      assert.equal((await store.search("sqlite", { limit: 10 })).length, 1);
      await store.endQuery(queryId, queryEnd({ answer: "v2使用Café数据, 3个databases失败" }));
      for (
        const text of [
          "Dockerの設定",
          "用node.js开发",
          "请使用SQLite数据库",
          "plain SQLite",
          "SQLiteX数据",
          "SQL ไทยSQLite",
        ]
      ) {
        await store.endQuery(await store.beginQuery(newQuery(branchId, text)), queryEnd({ answer: "ok" }));
      }
      const cases: readonly (readonly [query: string, hits: number, snippet: RegExp])[] = [
        ["SQLite", 4, /\[SQLite\]/],
        ["sqlite 数据库", 1, /使用\[SQLite\]\[数据库\]/],
        ["sqlite plain", 1, /plain/],
        ["docker", 1, /\[Docker\]の/],
        ["node.js", 1, /用\[node\.js\]开发/],
        ["cafe", 1, /Café/],
        ["database", 1, /\[database\]s失败/],
        ["lite", 0, /./],
        ["js.node", 0, /./],
      ];
      for (const [query, count, snippet] of cases) {
        const hits = await store.search(query, { limit: 10 });
        assert.equal(hits.length, count, query);
        if (count > 0) assert.match(hits[0]?.snippet ?? "", snippet, query);
        assert.deepEqual(await store.search(query, { limit: 10, branchId }), hits);
      }
      assert.deepEqual(await store.check(), []);
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
    name: "search() names the place of each hit",
    async run(store) {
      const { conversationId, branchId, queryId } = await begun(store, { text: "Where is the marmalade?" });
      const source = "function marmaladeOf() { return 1 }";
      const saved = [image("marmaladeOf", { kind: "function", source })];
      const { iterationId } = await iterated(store, queryId, [block("marmalade.find()", { saved })]);
      await store.endQuery(queryId, queryEnd({ answer: "marmalade" }));
      const hits = await store.search("marmalade", { limit: 9 });
      const where = { conversationId, branchId, queryId, title: "A title" };
      const shown = hits.map(({ kind, iterationId: at, position, variable, ...hit }) => {
        assert.deepEqual({ ...hit, ...where }, hit);
        assert.ok(hit.at > 0);
        return [kind, at, position, variable].map(String).join();
      });
      assert.deepEqual(shown.sort(), ["answer,null,null,null", `code,${iterationId},0,null`, "request,null,null,null"]);
      const [made] = await store.search("marmaladeOf", { limit: 9 });
      assert.deepEqual([made?.kind, made?.variable, made?.position], ["code", "marmaladeOf", 0]);
    },
  },
  {
    name: "search() keeps to conversation, kind and time",
    async run(store) {
      const one = await begun(store, { text: "apple one" });
      await iterate(store, { queryId: one.queryId, position: 0, blocks: [block("apple(1)")] });
      await store.endQuery(one.queryId, queryEnd({ answer: "an apple" }));
      const two = await begun(store, { text: "apple two" });
      const count = async (filter: object) => (await store.search("apple", { limit: 9, ...filter })).length;
      const { conversationId } = two;
      assert.deepEqual(await Promise.all([{}, { conversationId }, { conversationId: "" }].map(count)), [4, 1, 0]);
      const kinds = (["request", "code", "answer"] as const).map((kind) => ({ kind }));
      assert.deepEqual(await Promise.all(kinds.map(count)), [2, 1, 1]);
      const at = (await store.search("two", { limit: 1 }))[0]?.at ?? 0;
      assert.equal(await count({ since: at + 1 }), 0);
      assert.equal(await count({ until: at, conversationId }), 0);
      assert.equal(await count({ since: at, until: at + 1, conversationId }), 1);
      assert.equal(await count({ kind: "code", conversationId }), 0);
    },
  },
  {
    name: "search() cuts a text of a megabyte and stays quick",
    async run(store) {
      await begun(store, { text: Array.from({ length: 50 }, (_, at) => `w${at}`).join(" ") });
      const start = cpuMs();
      const hits = await store.search(Array.from({ length: 200_000 }, (_, at) => `w${at}`).join(" "), { limit: 5 });
      assert.equal(hits.length, 1);
      assert.ok(cpuMs() - start < 1000);
    },
  },
  {
    name: "log() writes many at once, logs() reads them by level, scope, time and number",
    async run(store) {
      const { conversationId, queryId } = await begun(store);
      const { iterationId } = await iterated(store, queryId, []);
      await store.log(
        { level: "debug", event: "a", data: { n: 1 }, at: 100 },
        { level: "warn", event: "b", data: {}, iterationId, at: 200 },
        { level: "info", event: "c", data: {}, conversationId, at: 300 },
        { level: "fatal", event: "d", data: {}, queryId: "gone", at: 400 },
      );
      const events = async (filter: object) =>
        (await store.of(null).logs({ limit: 9, ...filter })).map(({ event }) => event).join("");
      assert.equal(await events({}), "abcd");
      assert.equal(await events({ limit: 2 }), "cd");
      assert.equal(await events({ level: "info" }), "bcd");
      assert.equal(await events({ level: "error" }), "d");
      assert.equal(await events({ conversationId }), "bc");
      assert.equal(await events({ queryId }), "b");
      assert.equal(await events({ since: 300 }), "cd");
      const [a, b, , d] = await store.of(null).logs({ limit: 9 });
      assert.equal(await events({ after: b?.seq }), "cd");
      assert.equal(await events({ after: a?.seq, limit: 1 }), "b");
      const { seq: _seq, ...row } = b ?? {};
      assert.deepEqual(row, { at: 200, level: "warn", event: "b", data: {}, conversationId, queryId, iterationId });
      assert.deepEqual([a?.data, d?.data, d?.queryId], [{ n: 1 }, { queryId: "gone" }, undefined]);
    },
  },
  {
    name:
      "search() of a branch finds what it shows: of its own queries, and up to the iteration at which it was forked",
    async run(store) {
      const { branchId, queryId } = await begun(store, { text: "plum asked" });
      for (const position of [0, 1]) {
        await iterate(store, { queryId, position, blocks: [block(`plum(${position})`)] });
      }
      await store.endQuery(queryId, queryEnd({ answer: "plum answered" }));
      const fork = async (position: number | null) => (await store.fork({ queryId, position })).branchId;
      const branches = [await fork(null), await fork(1), await fork(0)];
      const later = await store.beginQuery(newQuery(branchId, "plum later"));
      await store.endQuery(later, queryEnd({ answer: "no more" }));
      const found = async (id: string): Promise<string> =>
        (await store.search("plum", { limit: 9, branchId: id }))
          .map(({ kind, position, queryId: of }) => of === later ? "later" : `${kind}${position ?? ""}`).sort().join(
            " ",
          );
      assert.equal(await found(branchId), "answer code0 code1 later request");
      assert.deepEqual(await Promise.all(branches.map(found)), [
        "answer code0 code1 request",
        "answer code0 code1 request",
        "code0 request",
      ]);
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
      await assert.rejects(store.listConversations({ limit: 1 }), { name: "StoreError", code: "unavailable" });
    },
  },
];
