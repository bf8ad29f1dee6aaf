/** The connection of a transaction is lost while it is committed, on a real server. */
import assert from "node:assert/strict";
import { openStore } from "../../../src/persistence/open_store.ts";
import { PostgresDatabase } from "../../../src/persistence/postgres/postgres_database.ts";
import { isLost } from "../../../src/persistence/postgres/postgres_error.ts";
import { readAddress, Server } from "../../../src/persistence/postgres/server.ts";
import { runningRun } from "../../../src/persistence/runs.ts";
import { begun } from "../../conformance/store/fixtures.ts";
import { postgresTests } from "../../helpers/postgres.ts";
import { type Relay, relay } from "./_relayed.ts";

const test = await postgresTests();

interface Rig {
  readonly relay: Relay;
  readonly db: PostgresDatabase;
  readonly direct: PostgresDatabase;
  readonly queryId: string;
  /** Stores a row that names the try, in a transaction of the run. Returns the number of tries. */
  write(name: string): Promise<number>;
  stored(): Promise<string>;
  /** Waits until the condition is true on the server. */
  until(condition: string): Promise<void>;
}

function check(name: string, { patienceMs }: { patienceMs: number }, work: (rig: Rig) => Promise<void>): void {
  test(name, async (server) => {
    const url = await server.createDatabase();
    const store = await openStore({ path: url });
    const { queryId } = await begun(store);
    await store.close();
    await using between = await relay(server);
    const open = (to: string) =>
      new PostgresDatabase(new Server(readAddress(to), { patienceMs }), { tenant: "default" });
    const [db, direct] = [open(between.url(url)), open(url)];
    const rig: Rig = {
      ...{ relay: between, db, direct, queryId },
      write: async (row) => {
        let tries = 0;
        await db.writeRun(async (tx) => {
          await runningRun(tx, queryId);
          await tx.insert("conversationSoul", { id: `${row} ${++tries}`, createdAt: 1, activity: 1, metadata: null });
        });
        return tries;
      },
      stored: () =>
        server.sql("SELECT string_agg(id, ', ' ORDER BY id) FROM conversation_soul WHERE id LIKE '% _'", url),
      until: async (condition) => {
        while (await server.sql(`SELECT ${condition}`, url) !== "t");
      },
    };
    await rig.write("before");
    await work(rig);
    await Promise.all([db.close(), direct.close()]);
  });
}

const WAITING = "FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'";

check(
  "a transaction that arrives after its connection was lost stores nothing: another has taken its place",
  { patienceMs: 60_000 },
  async ({ relay, direct, queryId, write, stored, until }) => {
    const open = Promise.withResolvers<void>();
    const entered = Promise.withResolvers<void>();
    const locking = direct.write(async (tx) => {
      await tx.run("SELECT FROM query_state WHERE id = $1 FOR UPDATE", [queryId]);
      entered.resolve();
      await open.promise;
    });
    await entered.promise;
    const writing = write("row");
    await until(`count(*) = 1 ${WAITING}`);
    relay.cut();
    await until(`count(*) = 2 ${WAITING}`);
    open.resolve();
    await locking;
    assert.equal(await writing, 2);
    await until(`count(*) = 0 ${WAITING}`);
    assert.equal(await stored(), "before 1, row 2");
    assert.equal(await write("after"), 1);
  },
);

check(
  "a transaction that was committed is not run again when the answer is lost",
  { patienceMs: 60_000 },
  async ({ relay, db, queryId, write, stored, until }) => {
    let sent = false;
    const writing = db.writeRun(async (tx) => {
      assert.equal(sent, false);
      await runningRun(tx, queryId);
      await tx.insert("conversationSoul", { id: "row 1", createdAt: 1, activity: 1, metadata: null });
      sent = true;
      relay.mute();
    });
    await until("count(*) = 1 FROM conversation_soul WHERE id = 'row 1'");
    relay.cut();
    await writing;
    assert.equal(await write("after"), 1);
    assert.equal(await stored(), "after 1, before 1, row 1");
  },
);

check(
  "a process that could not find out whether a transaction was committed writes on when the server is back",
  { patienceMs: 0 },
  async ({ relay, db, queryId, write, stored, until }) => {
    const writing = db.writeRun(async (tx) => {
      await runningRun(tx, queryId);
      await tx.insert("conversationSoul", { id: "row 1", createdAt: 1, activity: 1, metadata: null });
      relay.mute();
    });
    const lost = assert.rejects(writing, isLost);
    await until("count(*) = 1 FROM conversation_soul WHERE id = 'row 1'");
    relay.cut({ refuse: true });
    await lost;
    relay.open();
    assert.equal(await write("after"), 2);
    assert.equal(await write("last"), 1);
    assert.equal(await stored(), "after 2, before 1, last 1, row 1");
  },
);

check(
  "a transaction of a run stores nothing if the run has changed since it was read, and reads it again",
  { patienceMs: 60_000 },
  async ({ db, direct, queryId, stored }) => {
    const seen: unknown[] = [];
    await db.writeRun(async (tx) => {
      const { metadata } = await runningRun(tx, queryId);
      if (seen.push(metadata) < 3) {
        await direct.run("UPDATE query_state SET metadata = $2 WHERE id = $1", [queryId, `{"n":${seen.length}}`]);
      }
      await tx.insert("conversationSoul", { id: `row ${seen.length}`, createdAt: 1, activity: 1, metadata: null });
    });
    assert.deepEqual(seen.slice(1), ['{"n":1}', '{"n":2}']);
    assert.equal(await stored(), "before 1, row 3");
    const ended = db.writeRun(async (tx) => {
      await runningRun(tx, queryId);
      await direct.run("UPDATE query_state SET status = 'error' WHERE id = $1", [queryId]);
      await tx.insert("conversationSoul", { id: "late 1", createdAt: 1, activity: 1, metadata: null });
    });
    await assert.rejects(ended, /it has ended/);
    assert.equal(await stored(), "before 1, row 3");
    const unread = db.writeRun(async (tx) => {
      await tx.insert("conversationSoul", { id: "late 2", createdAt: 1, activity: 1, metadata: null });
    });
    await assert.rejects(unread, /the run was not read before/);
  },
);

check(
  "a statement that is a transaction by itself stores nothing for another tenant than that of its connection",
  { patienceMs: 60_000 },
  async ({ db, stored }) => {
    const insert = async (id: string) => {
      await db.write(async (tx) => {
        await tx.insert("conversationSoul", { id, createdAt: 1, activity: 1, metadata: null });
      });
    };
    await insert("row 1");
    await db.run("SELECT set_config('vis.tenant', 'other', false)", []);
    await assert.rejects(insert("row 2"), /last_write/);
    assert.equal(await stored(), "before 1, row 1");
  },
);
