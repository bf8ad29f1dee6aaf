/** Every table of both schemas is copied or named as one that is not, and all columns of a copied table are copied. */
import assert from "node:assert/strict";
import { DatabaseSync } from "node:sqlite";
import { migrations } from "../../../migrations/mod.ts";
import { COPIED_TABLES, type CopiedTableName, UNCOPIED_TABLES } from "../../../src/persistence/copied_rows.ts";
import { openStore } from "../../../src/persistence/open_store.ts";
import {
  COLUMNS,
  CONVERSATION_TABLE_NAMES,
  CONVERSATION_TABLES,
  SHARED_TABLES,
  snakeCase,
} from "../../../src/persistence/tables.ts";
import { type Postgres, postgresTests } from "../../helpers/postgres.ts";

const test = await postgresTests();
/** The order of rows, which SQLite has in every table without naming it. */
const ROWID = "rowid";
type Columns = Readonly<Record<string, readonly string[]>>;

function inSqlite(): Columns {
  using db = new DatabaseSync(":memory:");
  for (const { sql } of migrations) db.exec(sql);
  const rows = db.prepare(
    `SELECT t.name AS "table", c.name AS "column" FROM pragma_table_list t, pragma_table_info(t.name) c
     WHERE t.schema = 'main' AND t.type = 'table' AND t.name NOT LIKE 'sqlite\\_%' ESCAPE '\\'`,
  ).all();
  return byTable(rows.map(({ table, column }) => [String(table), String(column)]));
}

async function inPostgres(postgres: Postgres): Promise<Columns> {
  const url = await postgres.createDatabase();
  await (await openStore({ path: url })).close();
  const lines = await postgres.sql(
    `SELECT table_name || ' ' || column_name FROM information_schema.columns
     WHERE table_schema = 'public' AND table_name <> 'schema_migration'`,
    url,
  );
  return byTable(lines.split("\n").map((line) => line.split(" ")));
}

function byTable(pairs: readonly (readonly string[])[]): Columns {
  const groups = Map.groupBy(pairs, ([table]) => table ?? "");
  return Object.fromEntries([...groups].map(([table, of]) => [table, of.map(([, column]) => column ?? "").sort()]));
}

test("every table is copied, or is known not to be", async (server) => {
  const known = [...Object.keys(COPIED_TABLES), ...UNCOPIED_TABLES].map(snakeCase);
  for (const found of [inSqlite(), await inPostgres(server)]) {
    const unknown = Object.keys(found).filter((table) => !known.includes(table));
    assert.deepEqual(unknown, [], "decide in src/persistence/copied_rows.ts whether they are copied");
  }
});

test("every table belongs to a conversation by its rows, or is known not to", async (server) => {
  const known = [...CONVERSATION_TABLE_NAMES, ...SHARED_TABLES].map(snakeCase);
  const schemas = [inSqlite(), await inPostgres(server)];
  for (const found of schemas) {
    const unknown = Object.keys(found).filter((table) => !known.includes(table));
    assert.deepEqual(unknown, [], "say in src/persistence/tables.ts which rows a conversation has");
  }
  const all = schemas.flatMap((found) => Object.keys(found));
  assert.deepEqual(known.filter((table) => !all.includes(table)), []);
});

test("what a conversation has in a table goes with it, or is removed by name", async (server) => {
  const url = await server.createDatabase();
  await (await openStore({ path: url })).close();
  const kept = await server.sql(
    `SELECT t.relname FROM pg_class t WHERE t.relnamespace = 'public'::regnamespace AND t.relkind = 'r'
     AND NOT EXISTS (SELECT FROM pg_constraint c WHERE c.conrelid = t.oid AND c.contype = 'f' AND c.confdeltype = 'c')`,
    url,
  );
  const roots = kept.split("\n");
  const staying = CONVERSATION_TABLE_NAMES.filter((table) => roots.includes(snakeCase(table)));
  const named = CONVERSATION_TABLE_NAMES.filter((table) => CONVERSATION_TABLES[table].stays);
  assert.deepEqual(staying, ["conversationSoul", ...named]);
});

test("all columns of a copied table are copied", async (server) => {
  const [sqlite, postgres] = [inSqlite(), await inPostgres(server)];
  for (const [table, { order, ...kinds }] of Object.entries(COPIED_TABLES)) {
    const name = snakeCase(table);
    const columns = [...new Set([...order, ...COLUMNS[table as CopiedTableName]])].map(snakeCase);
    const copied = columns.filter((column) => column !== ROWID);
    assert.deepEqual(sqlite[name], copied.toSorted(), table);
    const found = postgres[name] ?? [];
    assert.deepEqual(columns.filter((column) => !found.includes(column) && column !== ROWID), [], table);
    assert.equal(order[0] === ROWID, found.includes(ROWID), `${table} is copied in the order of its rows`);
    const named = Object.values(kinds).flat().map(snakeCase);
    assert.deepEqual(named.filter((column) => !columns.includes(column)), [], table);
  }
});
