/** The program writes every documented column, and the views show the written data. */
import assert from "node:assert/strict";
import { DatabaseSync } from "node:sqlite";
import fs from "../../extensions/fs/mod.ts";
import rlm from "../../extensions/rlm/mod.ts";
import { openStore } from "../../src/persistence/open_store.ts";
import { startEngine } from "../helpers/engine.ts";
import { buildSandbox } from "../helpers/sandbox.ts";
import { replyJson, type ScriptedReply } from "../helpers/scripted_provider.ts";
import { withDatabasePath } from "./_temp_database.ts";

const TABLES = [
  "conversation_soul",
  "conversation_state",
  "query_soul",
  "query_state",
  "iteration",
  "expression_soul",
  "expression_dependency",
  "expression_state",
  "log",
  "search",
];
const LONG = "x".repeat(3000);
const LOGGED = ["conversation_soul_id", "conversation_state_id", "query_soul_id", "query_state_id", "iteration_id"]
  .concat("expression_soul_id", "expression_state_id");

const REPLIES: readonly ScriptedReply[] = [
  // The reply is unusable, so its row has llm_error.
  "I am sure that it is fine.",
  {
    text: replyJson([
      "const rows = [1, 2, 3]\nconsole.log('out'); console.error('err')\nrows.length",
      "const long = '" + LONG + "'",
      "const sum = rows.reduce((a, b) => a + b, 0)",
      "'a literal'",
      "throw new Error('planned')",
    ], { thinking: `look ${LONG}` }),
  },
  replyJson([]),
  replyJson("await forget('rows')"),
  replyJson([], { final: `It is {{sum}} ${LONG}` }),
  // This is the second query, and its retry.
  replyJson([], { final: "Second answer" }),
  replyJson([], { final: "Second answer again" }),
];

async function filled(path: string): Promise<void> {
  await buildSandbox();
  const store = await openStore({ path });
  await using engine = await startEngine(REPLIES, {
    store,
    extensions: [fs, rlm],
    settings: { budget: 9, instructions: "Be short" },
  });
  const options = { signal: new AbortController().signal, emit: () => {}, label: "a label" };
  const { branch, conversations } = engine;
  const pieces = (async function* () {
    yield await Promise.resolve(new TextEncoder().encode("words"));
  })();
  const first = await conversations.ask(branch, `How many? ${LONG}`, {
    ...options,
    context: { label: "words.txt", json: false, pieces },
    responseSchema: { type: "string" },
  });
  assert.equal(first.status, "done", first.answer);
  const second = await conversations.ask(branch, "And now?", options);
  await conversations.retry(second.queryId, options);
  await conversations.fork({ queryId: first.queryId, position: 1, title: "another way" });
  const [, iteration] = await store.iterations(first.queryId);
  const failed = engine.logged.find(({ event }) => event === "block_failed")?.data;
  assert.equal(Object(failed).iterationId, iteration?.iterationId);
  await store.log({ level: "info", event: "block_failed", data: { text: LONG }, ...Object(failed) });
}

Deno.test("every column of the ten tables is written, and the views show every text in place", async () => {
  await withDatabasePath(async (path) => {
    await filled(path);
    using db = new DatabaseSync(path, { readOnly: true });
    const missing: string[] = [];
    for (const table of TABLES) {
      const view = db.prepare(`SELECT * FROM ${table}_full`).all();
      assert.ok(view.length > 0, table);
      for (const { name } of db.prepare(`SELECT * FROM ${table} LIMIT 0`).columns()) {
        const cells = view.map((row) => row[name]).filter((cell) => cell !== null && cell !== "");
        if (cells.length === 0) missing.push(`${table}.${name}`);
        const reference = cells.find((cell) => typeof cell === "string" && cell.startsWith("sha256:"));
        assert.equal(reference, undefined, `${table}_full.${name}`);
      }
      // The view has a row for each row of the table, in the same order and with the same ids.
      if (table !== "search") {
        const ids = (of: string) => db.prepare(`SELECT id FROM ${of} ORDER BY id`).all().map(({ id }) => id);
        assert.deepEqual(ids(`${table}_full`), ids(table));
      }
    }
    assert.deepEqual(missing, []);
    const text = (sql: string) => String(Object.values(db.prepare(sql).get() ?? {})[0]);
    assert.ok(text("SELECT llm_thinking FROM iteration_full WHERE position = 1").endsWith(LONG));
    const answers = "SELECT json_extract(metadata, '$.answer') FROM query_state_full WHERE subtitle LIKE '%It is 6%'";
    assert.ok(text(answers).includes(LONG), text(answers));
    assert.match(text("SELECT prompt_enrichment FROM query_state_full LIMIT 1"), /^Be short/);
    assert.ok(LOGGED.every((name) => text(`SELECT ${name} FROM log WHERE event = 'block_failed'`) !== "null"));
  });
});
