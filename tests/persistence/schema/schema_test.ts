import assert from "node:assert/strict";
import { DatabaseSync } from "node:sqlite";
import { migrations } from "../../../migrations/mod.ts";

/** Makes a database with one row of each table. Ids are the first letters of the tables. */
function sample(): DatabaseSync {
  const db = new DatabaseSync(":memory:");
  for (const { sql } of migrations) db.exec(sql);
  db.exec(`
    INSERT INTO conversation_soul (id, metadata, created_at) VALUES ('cs', '{}', 1), ('cs2', '{}', 1);
    INSERT INTO conversation_state (id, conversation_soul_id, parent_state_id, title, version, metadata, created_at) VALUES ('c', 'cs', NULL, 't', 0, '{}', 1), ('c2', 'cs2', NULL, 't', 0, '{}', 1);
    INSERT INTO query_soul (id, conversation_state_id, title, query, metadata, created_at) VALUES ('q', 'c', 't', 'where is the apple', '{}', 1);
    INSERT INTO query_state (id, query_soul_id, forked_from_query_state_id, version, llm_provider, llm_root_model, prompt_enrichment, subtitle, run_label, status, metadata, created_at) VALUES ('qs', 'q', NULL, 0, 'p', 'm', '', NULL, NULL, 'running', '{}', 1);
    INSERT INTO iteration (id, query_state_id, position, status, created_at) VALUES ('i', 'qs', 0, 'done', 1);
    INSERT INTO expression_soul (id, conversation_state_id, kind, state_mode, name, metadata, created_at) VALUES
      ('var', 'c', 'var', 'stateful', 'x', '{}', 1), ('var2', 'c', 'var', 'stateful', 'y', '{}', 1),
      ('call', 'c', 'call', 'stateless', NULL, '{}', 1), ('far', 'c2', 'var', 'stateful', 'x', '{}', 1);
    INSERT INTO expression_state (id, expression_soul_id, iteration_id, version, expr, created_at) VALUES
      ('v0', 'var', 'i', 0, 'peel(apple)', 1), ('call0', 'call', 'i', 0, 'core(apple)', 1);
    INSERT INTO expression_dependency (id, conversation_state_id, downstream_expression_soul_id, upstream_expression_soul_id, metadata, created_at) VALUES ('d', 'c', 'var', 'var2', '{}', 1);
    INSERT INTO log (id, level, event, query_state_id, created_at) VALUES ('l', 'info', 'e', 'qs', 1);
  `);
  return db;
}

const STATE =
  "INSERT INTO expression_state (id, expression_soul_id, iteration_id, version, success, expr, error, created_at)";
const QUERY = "INSERT INTO query_state (id, query_soul_id, version, status, metadata, created_at)";
const ITERATION = "INSERT INTO iteration (id, query_state_id, position, status, created_at)";
const EDGE =
  "INSERT INTO expression_dependency (id, conversation_state_id, downstream_expression_soul_id, upstream_expression_soul_id, metadata, created_at)";
const KEPT =
  "INSERT INTO extension_state (id, namespace, conversation_state_id, query_state_id, position, key, version, value, created_at)";
const REQUEST_KEY = "INSERT INTO request_key (conversation_state_id, key, fingerprint, query_state_id, created_at)";
const LOG = "INSERT INTO log (id, level, event, data, query_soul_id, created_at)";

const REFUSED: readonly (readonly [string, string, RegExp])[] = [
  [
    "a conversation state of no soul",
    "INSERT INTO conversation_state (id, conversation_soul_id, parent_state_id, title, version, metadata, created_at) VALUES ('n', 'no', NULL, '', 0, '{}', 1)",
    /FOREIGN/,
  ],
  [
    "a conversation version twice",
    "INSERT INTO conversation_state (id, conversation_soul_id, parent_state_id, title, version, metadata, created_at) VALUES ('n', 'cs', NULL, '', 0, '{}', 1)",
    /UNIQUE/,
  ],
  [
    "a negative conversation version",
    "INSERT INTO conversation_state (id, conversation_soul_id, parent_state_id, title, version, metadata, created_at) VALUES ('n', 'cs', NULL, '', -1, '{}', 1)",
    /CHECK/,
  ],
  [
    "an unknown parent",
    "INSERT INTO conversation_state (id, conversation_soul_id, parent_state_id, title, version, metadata, created_at) VALUES ('n', 'cs', 'no', '', 1, '{}', 1)",
    /FOREIGN/,
  ],
  [
    "metadata that is no JSON",
    "INSERT INTO conversation_soul (id, metadata, created_at) VALUES ('n', '{', 1)",
    /CHECK/,
  ],
  ["an id twice", "INSERT INTO conversation_soul (id, metadata, created_at) VALUES ('cs', '{}', 1)", /UNIQUE/],
  ["no id", "INSERT INTO conversation_soul (id, metadata, created_at) VALUES (NULL, '{}', 1)", /NOT NULL/],
  [
    "a query of no branch",
    "INSERT INTO query_soul (id, conversation_state_id, title, query, metadata, created_at) VALUES ('n', 'no', '', '', '{}', 1)",
    /FOREIGN/,
  ],
  ["an unknown query status", `${QUERY} VALUES ('n', 'q', 1, 'waiting', '{}', 1)`, /CHECK/],
  ["a query version twice", `${QUERY} VALUES ('n', 'q', 0, 'done', '{}', 1)`, /UNIQUE/],
  ["a negative query version", `${QUERY} VALUES ('n', 'q', -1, 'done', '{}', 1)`, /CHECK/],
  ["an unknown iteration status", `${ITERATION} VALUES ('n', 'qs', 1, 'failed', 1)`, /CHECK/],
  ["an iteration position twice", `${ITERATION} VALUES ('n', 'qs', 0, 'done', 1)`, /UNIQUE/],
  ["a negative position", `${ITERATION} VALUES ('n', 'qs', -1, 'done', 1)`, /CHECK/],
  ["a negative duration of a model call", "UPDATE iteration SET llm_full_duration_ms = -1", /CHECK/],
  ["an empty flag other than 0 and 1", "UPDATE iteration SET llm_returned_empty_expressions = 2", /CHECK/],
  [
    "an unknown kind",
    "INSERT INTO expression_soul (id, conversation_state_id, kind, state_mode, name, metadata, created_at) VALUES ('n', 'c', 'fn', 'stateful', NULL, '{}', 1)",
    /CHECK/,
  ],
  [
    "an unknown mode",
    "INSERT INTO expression_soul (id, conversation_state_id, kind, state_mode, name, metadata, created_at) VALUES ('n', 'c', 'var', 'mixed', NULL, '{}', 1)",
    /CHECK/,
  ],
  [
    "a stateful literal",
    "INSERT INTO expression_soul (id, conversation_state_id, kind, state_mode, name, metadata, created_at) VALUES ('n', 'c', 'literal', 'stateful', NULL, '{}', 1)",
    /CHECK/,
  ],
  [
    "a name twice in a branch",
    "INSERT INTO expression_soul (id, conversation_state_id, kind, state_mode, name, metadata, created_at) VALUES ('n', 'c', 'var', 'stateful', 'x', '{}', 1)",
    /UNIQUE/,
  ],
  [
    "an expression that changes its branch",
    "UPDATE expression_soul SET conversation_state_id = 'c2' WHERE id = 'var'",
    /branch/,
  ],
  ["an edge to itself", `${EDGE} VALUES ('n', 'c', 'var', 'var', '{}', 1)`, /CHECK/],
  ["an edge twice", `${EDGE} VALUES ('n', 'c', 'var', 'var2', '{}', 1)`, /UNIQUE/],
  ["an edge into another branch", `${EDGE} VALUES ('n', 'c', 'var', 'far', '{}', 1)`, /both endpoints/],
  ["an edge from another branch", `${EDGE} VALUES ('n', 'c', 'far', 'var', '{}', 1)`, /both endpoints/],
  ["an edge of another branch than its ends", `${EDGE} VALUES ('n', 'c2', 'var2', 'var', '{}', 1)`, /both endpoints/],
  ["an edge to nothing", `${EDGE} VALUES ('n', 'c', 'var', 'no', '{}', 1)`, /both endpoints/],
  [
    "an edge moved to another branch",
    "UPDATE expression_dependency SET upstream_expression_soul_id = 'far'",
    /both endpoints/,
  ],
  ["a first version other than 0", `${STATE} VALUES ('n', 'var2', 'i', 1, 1, 'x', NULL, 1)`, /first version is 0/],
  ["a first version made another", "UPDATE expression_state SET version = 1 WHERE id = 'v0'", /first version is 0/],
  ["a second version of a stateless one", `${STATE} VALUES ('n', 'call', 'i', 1, 1, 'x', NULL, 1)`, /version 0 only/],
  ["a version twice", `${STATE} VALUES ('n', 'var', 'i', 0, 1, 'x', NULL, 1)`, /UNIQUE/],
  ["a negative version", `${STATE} VALUES ('n', 'var', 'i', -1, 1, 'x', NULL, 1)`, /CHECK/],
  ["a success with an error", `${STATE} VALUES ('n', 'var', 'i', 1, 1, 'x', x'00', 1)`, /CHECK/],
  ["a failure without an error", `${STATE} VALUES ('n', 'var', 'i', 1, 0, 'x', NULL, 1)`, /CHECK/],
  ["a success other than 0 and 1", `${STATE} VALUES ('n', 'var', 'i', 1, 2, 'x', x'00', 1)`, /CHECK/],
  ["a blank expression", `${STATE} VALUES ('n', 'var', 'i', 1, 1, ' ' || char(10, 9), NULL, 1)`, /CHECK/],
  ["a negative duration of a block", "UPDATE expression_state SET duration_ms = -1", /CHECK/],
  ["a version of no iteration", `${STATE} VALUES ('n', 'var', 'no', 1, 1, 'x', NULL, 1)`, /FOREIGN/],
  ["an unknown log level", `${LOG} VALUES ('n', 'loud', 'e', '{}', NULL, 1)`, /CHECK/],
  ["a log entry without an event", `${LOG} VALUES ('n', 'info', NULL, '{}', NULL, 1)`, /NOT NULL/],
  ["a log entry of no query", `${LOG} VALUES ('n', 'info', 'e', '{}', 'no', 1)`, /FOREIGN/],
  [
    "content of an unknown encoding",
    `INSERT INTO content (hash, encoding, bytes) VALUES ('${"0".repeat(64)}', 'zip', x'00')`,
    /CHECK/,
  ],
  ["content of a short hash", "INSERT INTO content (hash, encoding, bytes) VALUES ('00', 'raw', x'00')", /CHECK/],
  [
    "a difference without its base",
    `INSERT INTO content (hash, encoding, bytes) VALUES ('${"0".repeat(64)}', 'delta', x'00')`,
    /CHECK/,
  ],
  [
    "two leases of a branch",
    "INSERT INTO lease (conversation_state_id, host, pid, started, acquired_at, heartbeat_at) VALUES ('c', 'h', 1, '', 1, 1), ('c', 'h', 2, '', 1, 1)",
    /UNIQUE/,
  ],
  ["a key of no branch", `${REQUEST_KEY} VALUES ('no', 'k', 'f', 'qs', 1)`, /FOREIGN/],
  ["a key of no query", `${REQUEST_KEY} VALUES ('c', 'k', 'f', 'no', 1)`, /FOREIGN/],
  ["an empty key", `${REQUEST_KEY} VALUES ('c', '', 'f', 'qs', 1)`, /CHECK/],
  ["a key twice", `${REQUEST_KEY} VALUES ('c', 'k', 'f', 'qs', 1), ('c', 'k', 'g', 'qs', 1)`, /UNIQUE/],
  ["a state of no branch", `${KEPT} VALUES ('n', 'a', 'no', NULL, -1, 'k', 1, '1', 1)`, /FOREIGN/],
  ["a state of no run", `${KEPT} VALUES ('n', 'a', 'c', 'no', -1, 'k', 1, '1', 1)`, /FOREIGN/],
  ["a global state of a run", `${KEPT} VALUES ('n', 'a', NULL, 'qs', -1, 'k', 1, '1', 1)`, /CHECK/],
  ["a state that is no JSON", `${KEPT} VALUES ('n', 'a', 'c', NULL, -1, 'k', 1, '{', 1)`, /CHECK/],
  ["a state before the first version", `${KEPT} VALUES ('n', 'a', 'c', NULL, -1, 'k', 0, '1', 1)`, /CHECK/],
  ["a state without a key", `${KEPT} VALUES ('n', 'a', 'c', NULL, -1, '', 1, '1', 1)`, /CHECK/],
  [
    "a state version twice",
    `${KEPT} VALUES ('n', 'a', 'c', NULL, -1, 'k', 1, '1', 1), ('m', 'a', 'c', NULL, -1, 'k', 1, '2', 1)`,
    /UNIQUE/,
  ],
  [
    "a global state version twice",
    `${KEPT.replace(")", ", tenant)")} VALUES ('n', 'a', NULL, NULL, -1, 'k', 1, '1', 1, 'default'),
      ('m', 'a', NULL, NULL, -1, 'k', 1, '2', 1, 'default')`,
    /UNIQUE/,
  ],
];

for (const [what, sql, reason] of REFUSED) {
  Deno.test(`V1__schema.sql refuses ${what}`, () => {
    using db = sample();
    assert.throws(() => db.exec(sql), reason);
  });
}

Deno.test("V1__schema.sql refuses a stateful expression with versions that turns stateless", () => {
  using db = sample();
  db.exec(`${STATE} VALUES ('v1', 'var', 'i', 1, 1, 'x', NULL, 1)`);
  assert.throws(
    () => db.exec("UPDATE expression_soul SET state_mode = 'stateless' WHERE id = 'var'"),
    /version 0 only/,
  );
});

Deno.test("V1__schema.sql takes a text that starts with NUL as an expression", () => {
  using db = sample();
  db.exec(`${STATE} VALUES ('v1', 'var', 'i', 1, 1, char(0) || 'x', NULL, 1)`);
});

function found(db: DatabaseSync, word: string): string[] {
  return db.prepare("SELECT owner_table || '.' || owner_id || '.' || field AS hit FROM search WHERE search MATCH ?")
    .all(word).map((row) => String(row.hit)).sort();
}

Deno.test("search follows insertion, change and deletion of requests, expressions and answers", () => {
  using db = sample();
  assert.deepEqual(found(db, "apples"), [
    "expression_state.call0.expr",
    "expression_state.v0.expr",
    "query_soul.q.query",
  ]);
  db.exec(`UPDATE query_soul SET query = 'where is the pear';
    UPDATE expression_state SET expr = NULL WHERE id = 'v0';
    UPDATE query_state SET metadata = '{"answer":"an apple"}'`);
  assert.deepEqual(found(db, "apple"), ["expression_state.call0.expr", "query_state.qs.answer"]);
  assert.deepEqual(found(db, "pear"), ["query_soul.q.query"]);
  db.exec(`UPDATE expression_state SET expr = 'apple()' WHERE id = 'v0'; UPDATE query_state SET metadata = '{}';
    ${QUERY} VALUES ('qs2', 'q', 1, 'done', '{"answer":"apple two"}', 1)`);
  assert.deepEqual(found(db, "apple"), [
    "expression_state.call0.expr",
    "expression_state.v0.expr",
    "query_state.qs2.answer",
  ]);
  db.exec("DELETE FROM conversation_soul WHERE id = 'cs'");
  assert.deepEqual([...found(db, "apple"), ...found(db, "pear")], []);
  assert.deepEqual(
    db.prepare("SELECT (SELECT count(*) FROM search) + (SELECT count(*) FROM search_entry) AS n").get()?.n,
    0,
  );
});

Deno.test("deleting a conversation deletes exactly its rows", () => {
  using db = sample();
  db.exec(`${REQUEST_KEY} VALUES ('c', 'k', 'f', 'qs', 1)`);
  db.exec(
    "INSERT INTO lease (conversation_state_id, host, pid, started, acquired_at, heartbeat_at) VALUES ('c', 'h', 1, '', 1, 1); DELETE FROM conversation_soul WHERE id = 'cs'",
  );
  const left = (table: string): unknown => db.prepare(`SELECT count(*) AS n FROM ${table}`).get()?.n;
  const tables = [
    "query_soul",
    "query_state",
    "request_key",
    "iteration",
    "expression_state",
    "expression_dependency",
    "log",
    "lease",
  ];
  assert.deepEqual(tables.map(left), [0, 0, 0, 0, 0, 0, 0, 0]);
  assert.deepEqual(["conversation_soul", "conversation_state", "expression_soul"].map(left), [1, 1, 1]);
});

Deno.test("a query state outlives the state that it was forked from", () => {
  using db = sample();
  db.exec(`${QUERY} VALUES ('qs2', 'q', 1, 'done', '{}', 1);
    UPDATE query_state SET forked_from_query_state_id = 'qs' WHERE id = 'qs2'; DELETE FROM query_state WHERE id = 'qs'`);
  assert.equal(db.prepare("SELECT forked_from_query_state_id AS f FROM query_state WHERE id = 'qs2'").get()?.f, null);
});

Deno.test("V1__schema.sql has the tables and the view of each table", () => {
  using db = sample();
  const named = (type: string): string[] =>
    db.prepare("SELECT name FROM sqlite_master WHERE type = ? ORDER BY name").all(type).map((row) => String(row.name));
  const tables = named("table").filter((name) =>
    !/^(search_(config|content|data|docsize|idx|entry)|sqlite_.*|lease|content|child_branch|sub_call|scope_change|request_key|erasure|claim)$/
      .test(name)
  );
  assert.deepEqual(tables, [
    "conversation_soul",
    "conversation_state",
    "expression_dependency",
    "expression_soul",
    "expression_state",
    "extension_state",
    "iteration",
    "log",
    "query_soul",
    "query_state",
    "search",
  ]);
  assert.deepEqual(named("view"), ["content_full", "content_whole", ...tables.map((name) => `${name}_full`)].sort());
  for (const table of tables) {
    const columns = (of: string): unknown[] =>
      db.prepare(`SELECT * FROM ${of} LIMIT 0`).columns().map(({ name }) => name)
        .filter((name) => name !== "tenant"); // A migration added it behind the others.
    // Only the program reads the counts.
    const shown = columns(`${table}_full`);
    assert.deepEqual(shown, columns(table).slice(0, shown.length), table);
  }
});
