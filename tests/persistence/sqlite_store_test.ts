import assert from "node:assert/strict";
import { DatabaseSync } from "node:sqlite";
import { migrations } from "../../migrations/mod.ts";
import { sqliteStore } from "../../src/persistence/open_store.ts";
import { migrate } from "../../src/persistence/sqlite/migrate.ts";
import type { Store } from "../../src/persistence/store.ts";
import { begun, block, image, iterate, iterationEnd, newIteration, utf8 } from "../conformance/store/fixtures.ts";
import { withDatabasePath } from "./_temp_database.ts";

async function opened(path = ":memory:", busyMs = 50): Promise<{ db: DatabaseSync; store: Store }> {
  const db = new DatabaseSync(path);
  if (path !== ":memory:") db.exec("PRAGMA journal_mode = WAL");
  await migrate(db, migrations, { path, now: () => 1 });
  return { db, store: sqliteStore(db, { location: path, now: () => 5000, busyMs, isAlive: () => null }) };
}

function row(db: DatabaseSync, sql: string): Record<string, unknown> {
  return { ...db.prepare(sql).get() };
}

Deno.test("a full disk is an error of kind full, and nothing is half written", async () => {
  await withDatabasePath(async (path) => {
    const { db, store } = await opened(path);
    const { branchId, queryId } = await begun(store);
    const id = await store.beginIteration(newIteration(queryId, 0));
    const pages = Number(db.prepare("PRAGMA page_count").get()?.page_count);
    db.exec(`PRAGMA max_page_count = ${pages + 20}`);
    const bytes = crypto.getRandomValues(new Uint8Array(65_000));
    const saved = Array.from({ length: 20 }, (_, at) => image(`v${at}`, { bytes: bytes.subarray(at) }));
    const end = iterationEnd([block("much()", { saved })]);
    await assert.rejects(store.endIteration(id, end), {
      name: "StoreError",
      code: "full",
      message: `Cannot use database ${path}: the disk is full or has no inodes left (df -h and df -i show which); ` +
        "free space and try again",
    });
    assert.deepEqual(await store.variables(branchId), []);
    assert.equal((await store.iterations(queryId))[0]?.status, "running");
    db.exec("PRAGMA max_page_count = 1000000");
    await store.endIteration(id, end);
    assert.equal((await store.variables(branchId)).length, 20);
    await store.close();
  });
});

Deno.test("a database that turns read-only is an error of kind readonly", async () => {
  const { db, store } = await opened();
  await begun(store);
  db.exec("PRAGMA query_only = 1");
  await assert.rejects(begun(store), { name: "StoreError", code: "readonly" });
  assert.equal((await store.listConversations({ limit: 5 })).length, 1);
  await store.close();
});

Deno.test("a writer waits for another one without blocking, then gives up with kind busy", async () => {
  await withDatabasePath(async (path) => {
    const { store } = await opened(path, 40);
    using other = new DatabaseSync(path);
    other.exec("BEGIN IMMEDIATE");
    let ticks = 0;
    const timer = setInterval(() => ticks++, 1);
    await assert.rejects(begun(store), { name: "StoreError", code: "busy" });
    clearInterval(timer);
    assert.ok(ticks >= 1, `${ticks} ticks`);
    assert.deepEqual(await store.listConversations({ limit: 1 }), [], "readers do not wait");
    other.exec("ROLLBACK");
    await begun(store);
    await store.close();
  });
});

Deno.test("calls at the same time do not mix their transactions", async () => {
  const { store } = await opened();
  const { branchId, queryId } = await begun(store);
  const work = Array.from({ length: 20 }, async (_, position) => {
    if (position % 5 === 0) {
      const id = await store.beginIteration(newIteration(queryId, position));
      const bad = iterationEnd([block("bad", { saved: [image(`v${position}`)] })], { metadata: { bad: 1n } });
      return await assert.rejects(store.endIteration(id, bad));
    }
    await iterate(store, { queryId, position, blocks: [block(`${position}`, { saved: [image(`v${position}`)] })] });
    assert.ok((await store.variables(branchId)).some(({ name }) => name === `v${position}`));
  });
  await Promise.all(work);
  assert.equal((await store.variables(branchId)).length, 16);
  const all = await store.iterations(queryId);
  assert.ok(all.every(({ status, blocks }) => blocks.length === (status === "running" ? 0 : 1)));
  assert.equal(all.length, 20);
  await store.close();
});

Deno.test("edges lead from the variables that a block made to the ones that it read, within the branch", async () => {
  const { db, store } = await opened();
  const { queryId } = await begun(store);
  const blocks = [
    block("a", { saved: [image("a")] }),
    block("b = a + Math", { reads: ["a", "Math", "b"], saved: [image("b")] }),
    block("c = b; a.push(c)", { reads: ["b", "a"], saved: [image("c"), image("a")], result: { defined: ["c"] } }),
    block("f", { saved: [image("f", { kind: "function", source: "function f() { return c }", requires: ["c"] })] }),
    block("print(a)", { reads: ["a"] }),
    {
      ...block("const d = a, e = d.length", { reads: ["a"], saved: [image("d"), image("e")] }),
      madeFrom: new Map([["d", ["a"]], ["e", ["d"]]]),
    },
  ];
  await iterate(store, { queryId, position: 0, blocks });
  await iterate(store, { queryId, position: 1, blocks });
  const edges = db.prepare(
    `SELECT down.name || '>' || up.name AS edge FROM expression_dependency d
     JOIN expression_soul down ON down.id = downstream_expression_soul_id
     JOIN expression_soul up ON up.id = upstream_expression_soul_id ORDER BY edge`,
  ).all().map(({ edge }) => edge);
  assert.deepEqual(edges, ["a>b", "b>a", "c>a", "c>b", "d>a", "e>d", "f>c"]);
  await store.close();
});

Deno.test("views read as if long texts and values stood in their columns", async () => {
  const { db, store } = await opened();
  const { queryId } = await begun(store);
  const [text, bytes] = ["long ".repeat(1000), utf8("value ".repeat(50_000))];
  const id = await store.beginIteration(
    newIteration(queryId, 0, { systemPrompt: text, thinking: `sha256:${text}`, response: "sha256:" }),
  );
  const made = block("v", { saved: [image("v", { bytes })], result: { stdout: text, preview: text } });
  await store.endIteration(id, iterationEnd([made]));
  const full = row(db, "SELECT * FROM iteration_full");
  assert.deepEqual([full.llm_system_prompt, full.llm_thinking, full.llm_response], [text, `sha256:${text}`, "sha256:"]);
  const raw = row(db, "SELECT * FROM iteration");
  for (const key of ["llm_system_prompt", "llm_thinking", "llm_response"]) {
    assert.match(String(raw[key]), /^sha256:[0-9a-f]{64}$/);
  }
  const value = row(db, "SELECT result FROM expression_state_full WHERE length(result) > 1000").result;
  assert.ok(value instanceof Uint8Array && Buffer.compare(value, bytes) === 0);
  assert.equal(row(db, "SELECT stdout FROM expression_state_full WHERE stdout <> ''").stdout, text);
  assert.equal(
    row(db, "SELECT json_extract(metadata, '$.preview') AS p FROM expression_state_full WHERE stdout <> ''").p,
    text,
  );
  await store.close();
});

Deno.test("a reference without its content is an error of kind corrupt, not an empty text", async () => {
  const { db, store } = await opened();
  const { queryId } = await begun(store);
  await store.beginIteration(newIteration(queryId, 0, { thinking: "t".repeat(3000) }));
  db.exec("DELETE FROM content");
  const corrupt = {
    name: "StoreError",
    code: "corrupt",
    message: /^Cannot use database :memory:: it is damaged \(/,
  };
  await assert.rejects(store.iterations(queryId), corrupt);
  db.exec(
    "DROP TRIGGER search_answer_update; DROP TRIGGER search_steered_update; PRAGMA ignore_check_constraints = 1; UPDATE query_state SET metadata = '{'",
  );
  await assert.rejects(store.query(queryId), corrupt);
  await store.close();
});

Deno.test("search() ranks the newest 5000 texts that have a word, and all of them under a filter", async () => {
  const { db, store } = await opened();
  const { branchId, queryId, conversationId } = await begun(store, { text: "marmalade" });
  db.exec("BEGIN");
  const insert = db.prepare(
    `INSERT INTO query_soul (id, conversation_state_id, title, query, metadata, created_at, number)
     VALUES (:id, :branch, 't', 'a long request about marmalade', '{}', 6000, :number)`,
  );
  const run = db.prepare(
    `INSERT INTO query_state (id, query_soul_id, version, status, created_at) VALUES
     (:id, :soul, 0, 'done', 1)`,
  );
  for (let number = 1; number <= 5000; number++) {
    insert.run({ id: `more${number}`, branch: branchId, number });
    run.run({ id: `run${number}`, soul: `more${number}` });
  }
  db.exec("COMMIT");
  const [best] = await store.search("marmalade", { limit: 1 });
  assert.ok(best?.ownerId.startsWith("more"));
  const filters = [{ conversationId }, { kind: "request" }, { since: 0 }, { until: 5001 }] as const;
  for (const filter of filters) {
    assert.equal((await store.search("marmalade", { limit: 1, ...filter }))[0]?.queryId, queryId);
  }
  assert.equal((await store.search("marmalade", { limit: 6000 })).length, 5000);
  await store.close();
});
