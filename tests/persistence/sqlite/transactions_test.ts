/** A failed transaction on a connection is undone as a whole, and no listener is called before it is stored. */
import assert from "node:assert/strict";
import { DatabaseSync } from "node:sqlite";
import { withDatabasePath } from "../_temp_database.ts";
import type { Database } from "../../../src/persistence/database.ts";
import { openStore } from "../../../src/persistence/open_store.ts";
import { SqliteConnection, Transactions } from "../../../src/persistence/sqlite/connection.ts";
import { SqliteDatabase } from "../../../src/persistence/sqlite/sqlite_database.ts";
import {
  begun,
  block,
  image,
  iterationEnd,
  newIteration,
  newQuery,
  queryEnd,
} from "../../conformance/store/fixtures.ts";

interface Opened {
  readonly db: SqliteDatabase;
  readonly connection: SqliteConnection;
  readonly seen: () => readonly unknown[];
}

async function withDatabase(work: (opened: Opened) => Promise<void>): Promise<void> {
  await withDatabasePath(async (path) => {
    const sqlite = new DatabaseSync(path);
    sqlite.exec("PRAGMA journal_mode = WAL; CREATE TABLE t (n INTEGER PRIMARY KEY CHECK (n < 100))");
    const connection = new SqliteConnection(sqlite);
    const db = new SqliteDatabase(connection, {
      transactions: new Transactions(connection, { busyMs: 50 }),
      tenant: null,
    });
    using other = new DatabaseSync(path);
    const seen = () => other.prepare("SELECT n FROM t ORDER BY n").all().map(({ n }) => n);
    try {
      await work({ db, connection, seen });
    } finally {
      await db.close();
    }
  });
}

async function put(db: Database, ...numbers: number[]): Promise<void> {
  for (const n of numbers) await db.run("insert into t (n) values (?)", [n]);
}

function numbers(db: Database): Promise<unknown[]> {
  return Promise.resolve(db.run("select n from t order by n", [])).then((rows) => rows.map(({ n }) => n));
}

Deno.test("write() notifies each simultaneous writer when its own work is stored", () =>
  withDatabase(async ({ db, seen }) => {
    const told: unknown[] = [];
    const writers = [1, 2, 3].map((n) => db.write((tx) => put(tx, n)).then(() => told.push(seen().includes(n))));
    await Promise.resolve();
    assert.deepEqual([told, seen()], [[], []]);
    await Promise.all(writers);
    assert.deepEqual(told, [true, true, true]);
  }));

Deno.test("write() undoes the failed work, wherever it is among the others", () =>
  withDatabase(async ({ db, seen }) => {
    for (const failing of [0, 1, 2]) {
      const at = failing * 10;
      const results = await Promise.allSettled([0, 1, 2].map((n) =>
        db.write(async (tx) => {
          await put(tx, at + n);
          if (n === failing) await put(tx, at + 5, 500);
        })
      ));
      assert.deepEqual(results.map(({ status }) => status === "rejected"), [0, 1, 2].map((n) => n === failing));
    }
    assert.deepEqual(seen(), [1, 2, 10, 12, 20, 21]);
  }));

Deno.test("write() leaves nothing of a writer whose commit fails", () =>
  withDatabase(async ({ db, connection, seen }) => {
    const command = connection.command.bind(connection);
    connection.command = (sql) => {
      if (sql === "commit") throw new Error("database or disk is full");
      command(sql);
    };
    const results = await Promise.allSettled([1, 2].map((n) => db.write((tx) => put(tx, n))));
    assert.deepEqual(results.map((one) => one.status === "rejected" && one.reason.message), [
      "database or disk is full",
      "database or disk is full",
    ]);
    connection.command = command;
    await db.write((tx) => put(tx, 3));
    assert.deepEqual(seen(), [3]);
  }));

Deno.test("write() fails alone when SQLite has ended its transaction", () =>
  withDatabase(async ({ db, connection, seen }) => {
    const results = await Promise.allSettled([
      db.write((tx) => put(tx, 1)),
      db.write(async (tx) => {
        await put(tx, 2);
        connection.command("rollback");
        throw new Error("database or disk is full");
      }),
      db.write((tx) => put(tx, 3)),
    ]);
    assert.deepEqual(results.map(({ status }) => status), ["fulfilled", "rejected", "fulfilled"]);
    assert.deepEqual(seen(), [1, 3]);
  }));

Deno.test("a statement by itself is stored when it resolves, also between writers", () =>
  withDatabase(async ({ db, seen }) => {
    const first = db.write((tx) => put(tx, 1));
    await put(db, 2);
    assert.deepEqual(seen(), [1, 2]);
    await first;
    const writer = db.write((tx) => put(tx, 3));
    assert.deepEqual(await numbers(db), [1, 2, 3]);
    await writer;
  }));

Deno.test("read() is of one moment, and waits for a writer that has begun", () =>
  withDatabase(async ({ db }) => {
    const writer = db.write(async (tx) => {
      await put(tx, 1);
      await new Promise((resolve) => setTimeout(resolve));
      await put(tx, 2);
    });
    assert.deepEqual(await db.read(numbers), [1, 2]);
    assert.deepEqual(await numbers(db), [1, 2]);
    await writer;
    const error = new Error("No");
    await assert.rejects(db.read(() => Promise.reject(error)), error);
    assert.deepEqual(await db.read(numbers), [1, 2]);
  }));

Deno.test("a transaction has no transaction in it", () =>
  withDatabase(async ({ db }) => {
    await assert.rejects(
      () => db.write((tx) => tx.write(() => Promise.resolve())),
      /another one is open on this connection/,
    );
  }));

Deno.test("close() stores the last writes", () =>
  withDatabasePath(async (path) => {
    const store = await openStore({ path });
    const branch = store.createConversation({ title: "T", channel: "cli", workspace: "/w" });
    await store.close();
    const { conversationId } = await branch;
    const again = await openStore({ path });
    assert.equal((await again.findConversation(conversationId))?.title, "T");
    await again.close();
  }));

Deno.test("conversations of one moment are stored as each would be alone, search included", () =>
  withDatabasePath(async (path) => {
    const store = await openStore({ path });
    const branches = await Promise.all(
      Array.from({ length: 8 }, (_, n) => begun(store, { text: `request apple${n}` })),
    );
    await Promise.all(branches.map(async ({ queryId, branchId }, n) => {
      const id = await store.beginIteration(newIteration(queryId, 0, { blocks: ["x"] }));
      await assert.rejects(
        store.beginQuery(
          newQuery(branchId, "second", { owner: { host: "h", space: "s", pid: 1, started: "", session: 0 } }),
        ),
      );
      await store.endIteration(id, iterationEnd([block(`pear${n}()`, { saved: [image("v")] })]));
      await store.endQuery(queryId, queryEnd({ answer: `plum${n}` }));
    }));
    for (const [n, { branchId, queryId }] of branches.entries()) {
      assert.deepEqual((await store.queries(branchId)).map(({ status, answer }) => [status, answer]), [[
        "done",
        `plum${n}`,
      ]]);
      assert.equal((await store.iterations(queryId))[0]?.blocks[0]?.code, `pear${n}()`);
      for (const word of ["apple", "pear", "plum"]) {
        assert.equal((await store.search(`${word}${n}`, { limit: 9 })).length, 1, word);
      }
    }
    assert.equal((await store.search("second", { limit: 9 })).length, 0);
    assert.deepEqual(await store.check(), []);
    await store.close();
  }));
