import assert from "node:assert/strict";
import { openStore } from "../../../src/persistence/open_store.ts";
import {
  CONVERSATION_TABLES,
  orderOf,
  OTHER_TABLES,
  snakeCase,
  STAYING_TABLES,
  USER_TABLES,
  WITHIN,
} from "../../../src/persistence/tables.ts";
import { type Postgres, postgresTests } from "../../helpers/postgres.ts";
import { compare, inSqlite, NAMES, type Schema } from "../_tables.ts";

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

const test = await postgresTests();

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

test("the rows of a conversation in a table go with it, or are removed by name", async (server) => {
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
