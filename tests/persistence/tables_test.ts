/** The description of the tables is what both schemas have. */
import assert from "node:assert/strict";
import { DatabaseSync } from "node:sqlite";
import { migrations } from "../../migrations/mod.ts";
import { openStore } from "../../src/persistence/open_store.ts";
import {
  columnsOf,
  CONVERSATION_TABLES,
  orderOf,
  OTHER_TABLES,
  snakeCase,
  STAYING_TABLES,
  type TableColumn,
  TABLES,
  USER_TABLES,
  WITHIN,
} from "../../src/persistence/tables.ts";
import { type Postgres, postgresTests } from "../helpers/postgres.ts";

type TableName = keyof typeof TABLES;

/** A column as a database has it. */
interface Found {
  readonly type: string;
  readonly nullable: boolean;
  /** Whether a row may leave it out. */
  readonly filled: boolean;
}

interface FoundTable {
  readonly columns: ReadonlyMap<string, Found>;
  /** The conditions of its rows. */
  readonly checks: string;
}

type Schema = ReadonlyMap<string, FoundTable>;
const NAMES = Object.keys(TABLES) as TableName[];
const RULE = /CHECK \((?:[^()]|\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\))*\)/g;

function inSqlite(): Schema {
  using db = new DatabaseSync(":memory:");
  for (const { sql } of migrations) db.exec(sql);
  const tables = db.prepare(
    `SELECT name, sql FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\'
     AND (name NOT LIKE 'search\\_%' ESCAPE '\\' OR name = 'search_entry')`,
  ).all();
  return new Map(tables.map(({ name, sql }) => {
    const rows = db.prepare("SELECT * FROM pragma_table_info(?)").all(String(name));
    const columns = rows.map(({ name, type, notnull, dflt_value: given, pk }) => {
      const nullable = notnull === 0 && pk === 0;
      return [String(name), {
        type: String(type),
        nullable,
        filled: nullable || given !== null || type === "INTEGER" && pk === 1,
      }] as const;
    });
    return [String(name), { columns: new Map(columns), checks: [...String(sql).matchAll(RULE)].join("\n") }];
  }));
}

async function inPostgres(server: Postgres): Promise<Schema> {
  const url = await server.createDatabase();
  await (await openStore({ path: url })).close();
  const rows = await server.sql(
    `SELECT concat_ws('|', table_name, column_name, data_type, is_nullable, is_identity, column_default IS NOT NULL)
     FROM information_schema.columns WHERE table_schema = 'public' AND table_name <> 'schema_migration'`,
    url,
  );
  const checks = await server.sql(
    `SELECT conrelid::regclass || '|' || pg_get_constraintdef(oid) FROM pg_constraint
     WHERE connamespace = 'public'::regnamespace AND contype = 'c'`,
    url,
  );
  const byTable = Map.groupBy(rows.split("\n").map((line) => line.split("|")), ([table]) => table ?? "");
  return new Map([...byTable].map(([table, of]) => {
    const columns = of.map(([, name = "", type = "", nullable, identity, given]) => {
      const found = {
        type,
        nullable: nullable === "YES",
        filled: nullable === "YES" || identity === "YES" || given === "t",
      };
      return [name, found] as const;
    });
    const own = checks.split("\n").filter((line) => line.startsWith(`${table}|`));
    return [table, { columns: new Map(columns), checks: own.join("\n") }];
  }));
}

const SQLITE_TYPES: Readonly<Record<string, string>> = {
  ...{ time: "INTEGER", place: "INTEGER", integer: "INTEGER", real: "REAL", bytes: "BLOB", jsonBytes: "BLOB" },
};
const POSTGRES_TYPES: Readonly<Record<string, string>> = {
  ...{
    time: "bigint",
    place: "bigint",
    integer: "bigint",
    real: "double precision",
    bytes: "bytea",
    jsonBytes: "bytea",
  },
};

/** What the conditions say of a column: the values that it may have, and the smallest number. */
function ruleOf(checks: string, column: string): Pick<TableColumn, "oneOf" | "atLeast"> {
  const [, list] = new RegExp(`\\b${column}"? (?:IN \\(|= ANY \\(ARRAY\\[)([^\\])]*'[^\\])]*)[\\])]`).exec(checks) ??
    [];
  const [, least] = new RegExp(`\\b${column}"? >= \\(?'?(-?\\d+)`).exec(checks) ?? [];
  return {
    ...(list === undefined ? {} : { oneOf: [...list.matchAll(/'([^']*)'/g)].map(([, value = ""]) => value) }),
    ...(least === undefined ? {} : { atLeast: Number(least) }),
  };
}

function compare(schema: Schema, types: Readonly<Record<string, string>>): void {
  for (const table of NAMES) {
    const found = schema.get(snakeCase(table));
    assert.ok(found, table);
    for (const [name, { kind, nullable = false, filled = false, oneOf, atLeast }] of Object.entries(columnsOf(table))) {
      const column = snakeCase(name);
      const what = `${table}.${name}`;
      const has = found.columns.get(column);
      assert.equal(has?.type.replace("smallint", "bigint"), types[kind] ?? types["text"], what);
      // PostgreSQL has the tenant in each row.
      if (name !== "tenant") assert.equal(has?.nullable, nullable, what);
      if (filled) assert.ok(has?.filled, `${what} is filled`);
      const rule = { ...(oneOf ? { oneOf } : {}), ...(atLeast === undefined ? {} : { atLeast }) };
      assert.deepEqual(ruleOf(found.checks, column), rule, what);
    }
  }
}

const test = await postgresTests();

Deno.test("SQLite has the tables as they are described, and no other column", () => {
  const schema = inSqlite();
  compare(schema, { ...SQLITE_TYPES, text: "TEXT" });
  for (const table of NAMES) {
    const described = Object.keys(columnsOf(table)).map(snakeCase);
    assert.deepEqual([...schema.get(snakeCase(table))?.columns.keys() ?? []].toSorted(), described.toSorted(), table);
  }
});

test("PostgreSQL has the tables as they are described", async (server) => {
  const schema = await inPostgres(server);
  compare(schema, { ...POSTGRES_TYPES, text: "text" });
  for (const table of USER_TABLES) {
    const hasRowid = schema.get(snakeCase(table))?.columns.has("rowid");
    assert.equal(orderOf(table)[0] === "rowid", hasRowid, `${table} is copied in the order of its rows`);
  }
});

test("every table is described, or belongs to a conversation by its rows, or is known not to", async (server) => {
  const known = [...new Set([...NAMES, ...CONVERSATION_TABLES, ...OTHER_TABLES])].map(snakeCase).toSorted();
  const all = new Set([...inSqlite().keys(), ...(await inPostgres(server)).keys()]);
  assert.deepEqual([...all].toSorted(), known, "describe it in src/persistence/tables.ts");
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
  const staying = CONVERSATION_TABLES.filter((table) => roots.includes(snakeCase(table)));
  assert.deepEqual(staying, ["conversationSoul", ...STAYING_TABLES]);
});

test("the policies of tenants know the table that each row is part of", async (server) => {
  const url = await server.createDatabase();
  await (await openStore({ path: url })).close();
  const policies = await server.sql(
    `SELECT tablename || ' ' || substring(with_check FROM 'FROM (\\w+) belongs') FROM pg_policies
     WHERE policyname = 'within' AND tablename NOT IN ('job', 'warm')`,
    url,
  );
  assert.deepEqual(policies.split("\n").toSorted(), [...WITHIN].map((pair) => pair.join(" ")).toSorted());
});
