import assert from "node:assert/strict";
import { migrations } from "../../../migrations/postgres/mod.ts";
import { openStore } from "../../../src/persistence/open_store.ts";
import { readAddress } from "../../../src/persistence/postgres/address.ts";
import { PostgresDatabase } from "../../../src/persistence/postgres/postgres_database.ts";
import { Server } from "../../../src/persistence/postgres/server.ts";
import { postgresTests } from "../../helpers/postgres.ts";

const test = await postgresTests();

const NEXT = {
  version: migrations.length + 1,
  name: "next.sql",
  sql: "ALTER TABLE conversation_soul ADD COLUMN next text; ALTER TABLE log ADD COLUMN next text;",
};

test("a migration that waits for a table keeps no other one from those that work", async (server) => {
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

Deno.test("what the server undid because of others is asked again", async () => {
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
