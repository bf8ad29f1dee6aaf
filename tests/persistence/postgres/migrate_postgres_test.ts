import assert from "node:assert/strict";
import { readsAs, unpacked } from "../_former.ts";
import { migrations } from "../../../migrations/postgres/mod.ts";
import { openStore } from "../../../src/persistence/open_store.ts";
import { FORMER_POSTGRES_FIRST } from "../../../src/persistence/postgres/open_postgres.ts";
import { PostgresDatabase } from "../../../src/persistence/postgres/postgres_database.ts";
import { readAddress, Server } from "../../../src/persistence/postgres/server.ts";
import { type Postgres, postgresTests } from "../../helpers/postgres.ts";

const test = await postgresTests();

const NEXT = {
  version: migrations.length + 1,
  name: "next.sql",
  sql: "ALTER TABLE conversation_soul ADD COLUMN next text; ALTER TABLE log ADD COLUMN next text;",
};

test("a migration that waits for a table keeps no other table from working nodes", async (server) => {
  const url = await server.createDatabase();
  const store = await openStore({ path: url });
  const reader = new Server(readAddress(url), { patienceMs: 0 });
  const connection = await reader.take();
  await connection.query("BEGIN; LOCK TABLE log IN ACCESS SHARE MODE");
  const known = migrations as unknown as (typeof NEXT)[];
  known.push(NEXT);
  const opening = openStore({ path: url });
  try {
    const waits = "SELECT count(*) FROM pg_locks WHERE relation = 'log'::regclass AND NOT granted";
    while (await server.sql(waits, url) === "0");
    await store.createConversation({ title: "t", channel: "http", workspace: "/w" });
    await connection.query("COMMIT");
    await (await opening).close();
  } finally {
    known.pop();
  }
  assert.equal(await server.sql("SELECT max(version) FROM schema_migration", url), String(NEXT.version));
  connection.release();
  await reader.close();
  await store.close();
});

Deno.test("a transaction that the server undid because of others is repeated", async () => {
  const failures = ["40P01", "55P03"];
  const fake: Partial<Server> = {
    take: () =>
      Promise.resolve({
        query: (sql) => {
          const code = /^BEGIN|^COMMIT|^ROLLBACK/.test(sql) ? undefined : failures.shift();
          if (code !== undefined) return Promise.reject(Object.assign(new Error("deadlock detected"), { code }));
          return Promise.resolve({ rows: [{ one: 1 }] });
        },
        see: () => Promise.resolve(),
        release: () => {},
      }),
  };
  const db = new PostgresDatabase(fake as Server, { tenant: "default" });
  assert.deepEqual(await db.run("SELECT 1 AS one", []), [{ one: 1 }]);
  failures.push("40001");
  assert.deepEqual(await db.read(async (tx) => await tx.run("SELECT 1 AS one", [])), [{ one: 1 }]);
  assert.deepEqual(failures, []);
});

/** Returns columns, constraints, indexes, policies, triggers and functions, without an order. */
const CATALOG = `
SELECT concat_ws(' ', 'column', table_name, column_name, data_type, collation_name, is_nullable, column_default,
  is_identity, identity_generation, generation_expression) FROM information_schema.columns WHERE table_schema = 'public'
UNION ALL SELECT concat_ws(' ', 'constraint', conrelid::regclass, conname, pg_get_constraintdef(oid))
  FROM pg_constraint WHERE connamespace = 'public'::regnamespace
UNION ALL SELECT indexdef FROM pg_indexes WHERE schemaname = 'public'
UNION ALL SELECT concat_ws(' ', 'policy', tablename, policyname, permissive, cmd, qual, with_check) FROM pg_policies
UNION ALL SELECT concat_ws(' ', 'table', relname, relpersistence, relrowsecurity, relforcerowsecurity) FROM pg_class
  WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'S')
UNION ALL SELECT pg_get_triggerdef(oid) FROM pg_trigger WHERE NOT tgisinternal
UNION ALL SELECT pg_get_functiondef(oid) FROM pg_proc WHERE pronamespace = 'public'::regnamespace
ORDER BY 1`;

async function catalogOf(server: Postgres, url: string): Promise<readonly string[]> {
  return (await server.sql(CATALOG, url)).replace(/ +--.*/g, "").split("\n");
}

test("a PostgreSQL database of the former schema V8 becomes one of V1", async (server) => {
  const [made, upgraded] = [await server.createDatabase(), await server.createDatabase()];
  const admin = new Server(readAddress(upgraded.replace("://vis@", "://admin@")), { patienceMs: 0 });
  const connection = await admin.take();
  await connection.query(new TextDecoder().decode(await unpacked("postgres_v8.sql")));
  connection.release();
  await admin.close();
  await (await openStore({ path: made })).close();
  const store = await openStore({ path: upgraded });
  await readsAs(store, "postgres_v8");
  await store.close();
  assert.deepEqual(await catalogOf(server, upgraded), await catalogOf(server, made));
  const versions = "SELECT version, name, sha256 FROM schema_migration";
  assert.equal(await server.sql(versions, upgraded), await server.sql(versions, made));
});

test("a PostgreSQL database older than V8 is refused with a remedy", async (server) => {
  const url = await server.createDatabase();
  await server.sql(
    `CREATE TABLE schema_migration (version bigint, name text, sha256 text, applied_at bigint);
     INSERT INTO schema_migration VALUES (1, 'V1__schema.sql', '${FORMER_POSTGRES_FIRST}', 1), (7, 'V7__search.sql', '', 1);
     ALTER TABLE schema_migration OWNER TO vis`,
    url,
  );
  await assert.rejects(openStore({ path: url }), {
    name: "StoreError",
    message: /an early version of Vis created it \(schema V7\); export its conversations .* into an empty database$/,
  });
});
