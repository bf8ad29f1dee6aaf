/** Connections to a real server stay open while no answer arrives. */
import assert from "node:assert/strict";
import { withPatience } from "../../../src/domain/kit/concurrency.ts";
import { PostgresListener } from "../../../src/persistence/node_store.ts";
import { openStore } from "../../../src/persistence/open_store.ts";
import { PostgresDatabase } from "../../../src/persistence/postgres/postgres_database.ts";
import { isLost, toPostgresError } from "../../../src/persistence/postgres/postgres_error.ts";
import { readAddress, Server } from "../../../src/persistence/postgres/server.ts";
import { postgresTests } from "../../helpers/postgres.ts";
import { type Relay, relay } from "./_relayed.ts";

const test = await postgresTests();
const SILENT_MS = 200;
const INSERT = "INSERT INTO conversation_soul (id, created_at, activity) VALUES ($1, 1, 1)";

interface Rig {
  readonly relay: Relay;
  readonly db: PostgresDatabase;
  readonly server: Server;
  readonly url: string;
  sql(text: string): Promise<string>;
}

function check(name: string, work: (rig: Rig) => Promise<void>): void {
  test(name, async (postgres) => {
    const url = await postgres.createDatabase();
    await (await openStore({ path: url })).close();
    await using between = await relay(postgres);
    const server = new Server(readAddress(between.url(url)), { patienceMs: 60_000, silentMs: SILENT_MS });
    const db = new PostgresDatabase(server, { tenant: "default" });
    await db.write(async (tx) => await tx.run(INSERT, ["before"]));
    await work({ relay: between, db, server, url, sql: (text) => postgres.sql(text, url) });
    await db.close();
  });
}

const IDS = "SELECT string_agg(id, ' ' ORDER BY id) FROM conversation_soul";

for (const at of [1, 2] as const) {
  check(
    `a transaction goes on over another connection, once, when its answers stop after ${at} statements`,
    async (rig) => {
      const { relay, db, sql } = rig;
      let tries = 0;
      await db.write(async (tx) => {
        tries++;
        if (at === 1 && tries === 1) relay.hush();
        await tx.run(INSERT, [`try ${tries}`]);
        if (at === 2 && tries === 1) relay.hush();
      });
      // No statement was committed without an answer to the first. The end may have been committed.
      assert.equal(await sql(IDS), `before try ${tries}`);
      assert.equal(tries > 1, at === 1);
    },
  );
}

check("connections that were silent when one was found to be are not used again", async ({ relay, db, sql }) => {
  await Promise.all(Array.from({ length: 5 }, () => db.run("SELECT pg_sleep(0.02)", [])));
  relay.hush();
  await db.run("SELECT 1 AS one", []);
  const left =
    "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND application_name LIKE 'vis %'";
  const more = await Promise.all(Array.from({ length: 3 }, () => db.run("SELECT 1 AS one", [])));
  assert.deepEqual(more, Array(3).fill([{ one: 1 }]));
  // The earlier connections are closed.
  while (Number(await sql(left)) > 3);
});

check("a statement on which the server works is waited for", async ({ db, sql }) => {
  const isWaiting =
    "SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'PgSleep' AND datname = current_database()";
  const slow = db.run(`SELECT pg_sleep(${SILENT_MS / 1000 * 10}) IS NULL AS slept`, []);
  while (await sql(isWaiting) !== "1");
  assert.deepEqual(await slow, [{ slept: 0 }]);
});

check("a request with little patience does not wait for the end of a long write", async ({ db }) => {
  const [begun, end] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const long = db.write(async () => {
    begun.resolve();
    await end.promise;
  });
  await begun.promise;
  const write = () => db.write(async (tx) => await tx.run(INSERT, ["short"]));
  const told = (error: unknown) => Object(toPostgresError(error, "x")).code === "busy";
  await withPatience(0, () => assert.rejects(write(), told));
  end.resolve();
  await long;
  await write();
});

check("a process that gives up waits only a moment for answers, and for the end of its connections", async (rig) => {
  const { db, relay, server } = rig;
  relay.mute();
  const lost = assert.rejects(db.run("SELECT 1 AS one", []), isLost);
  const written = assert.rejects(db.write(async (tx) => await tx.run(INSERT, ["late"])), isLost);
  db.giveUp();
  await Promise.all([lost, written]);
  assert.equal(server.fault, "PostgreSQL does not answer");
  await db.close();
});

test("a listener whose connection falls silent makes another one", async (postgres) => {
  const url = await postgres.createDatabase();
  await using between = await relay(postgres);
  const heard: (string | null)[] = [];
  const waiting: PromiseWithResolvers<void>[] = [];
  const next = async (count: number): Promise<void> => {
    while (heard.length < count) {
      const one = Promise.withResolvers<void>();
      waiting.push(one);
      await one.promise;
    }
  };
  const listener = new PostgresListener(readAddress(between.url(url)), {
    channels: ["vis_job", "vis_event"],
    ...{ lookMs: SILENT_MS, answerMs: SILENT_MS },
    heard: (said) => {
      heard.push(said && said.payload);
      for (const one of waiting.splice(0)) one.resolve();
    },
  });
  await listener.start();
  between.hush();
  await next(2);
  assert.deepEqual(heard.slice(0, 2), [null, null]);
  const told = () => heard.includes("news");
  for (let count = 3; !told(); count++) {
    await postgres.sql("SELECT pg_notify('vis_event', 'news')", url);
    await next(count);
  }
  between.hush();
  await listener.close();
});
