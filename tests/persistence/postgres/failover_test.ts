/** A real server refuses statements for a while, as during a failover. */
import assert from "node:assert/strict";
import { StoreError } from "../../../src/domain/errors.ts";
import { withPatience } from "../../../src/domain/kit/concurrency.ts";
import { openStore } from "../../../src/persistence/open_store.ts";
import { PostgresDatabase } from "../../../src/persistence/postgres/postgres_database.ts";
import { readAddress, Server } from "../../../src/persistence/postgres/server.ts";
import { postgresTests } from "../../helpers/postgres.ts";

const test = await postgresTests();
const INSERT = "INSERT INTO conversation_soul (id, created_at, activity) VALUES ($1, 1, 1)";
const IDS = "SELECT string_agg(id, ' ' ORDER BY id) FROM conversation_soul";
interface Refusal {
  readonly name: string;
  readonly begin: string;
  readonly end: string;
  readonly fault: RegExp;
}

const REFUSALS: readonly Refusal[] = [
  {
    name: "is read-only",
    ...{ begin: "SET default_transaction_read_only = on", end: "RESET default_transaction_read_only" },
    fault: /^PostgreSQL or the database is read-only/,
  },
  {
    name: "has no room for connections",
    ...{ begin: "CONNECTION LIMIT 0", end: "CONNECTION LIMIT -1" },
    fault: /^PostgreSQL has too many connections/,
  },
  {
    name: "accepts no connections",
    ...{ begin: "ALLOW_CONNECTIONS false", end: "ALLOW_CONNECTIONS true" },
    fault: /^PostgreSQL refused an operation \(55000\)/,
  },
];

for (const { name, begin, end, fault } of REFUSALS) {
  test(`a write waits while the server ${name}, and is stored once`, async (postgres) => {
    const url = await postgres.createDatabase();
    const database = URL.parse(url.replace("@/", "@h/"))?.pathname.slice(1);
    const store = await openStore({ path: url });
    const server = new Server(readAddress(url), { patienceMs: 60_000 });
    const db = new PostgresDatabase(server, { tenant: "default" });
    await db.write(async (tx) => await tx.run(INSERT, ["before"]));
    assert.equal(await store.writeFault(), "");
    await postgres.sql(`ALTER DATABASE ${database} ${begin}`);
    await postgres.sql(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '${database}'`);
    const writing = db.write(async (tx) => await tx.run(INSERT, ["after"]));
    const waiting = async (): Promise<void> => {
      while (!fault.test(server.fault)) await new Promise((resolve) => setTimeout(resolve, 10));
    };
    await Promise.race([waiting(), writing.then(() => assert.fail("the write did not wait"))]);
    // Other statements do not wait as long.
    await withPatience(0, () => assert.rejects(store.deleteConversation("none"), StoreError));
    await postgres.sql(`ALTER DATABASE ${database} ${end}`);
    await writing;
    assert.equal(await postgres.sql(IDS, url), "after before");
    assert.equal(server.fault, "");
    await db.close();
    await store.close();
  });
}

test("a process that has not written anything does not wait for a server that is read-only", async (postgres) => {
  const url = await postgres.createDatabase();
  await (await openStore({ path: url })).close();
  const database = URL.parse(url.replace("@/", "@h/"))?.pathname.slice(1);
  await postgres.sql(`ALTER DATABASE ${database} SET default_transaction_read_only = on`);
  const store = await openStore({ path: url });
  const made = store.createConversation({ title: "t", channel: "http", workspace: "/w" });
  await assert.rejects(made, (error) => error instanceof StoreError && error.code === "readonly");
  assert.match(await store.writeFault(), /^PostgreSQL or the database is read-only/);
  await store.close();
});
