import assert from "node:assert/strict";
import { countStatements } from "../../../bench/support/counted_statements.ts";
import { openStore } from "../../../src/persistence/open_store.ts";
import { PostgresDatabase } from "../../../src/persistence/postgres/postgres_database.ts";
import { readAddress, Server } from "../../../src/persistence/postgres/server.ts";
import { startEngine } from "../../helpers/engine.ts";
import { postgresTests } from "../../helpers/postgres.ts";
import { buildSandbox } from "../../helpers/sandbox.ts";
import { replyJson } from "../../helpers/scripted_provider.ts";

/** The limits of a query with two model calls in a conversation that has others. */
const MOST = { roundTrips: 14, statements: 17 };

const test = await postgresTests();

test(`a query with two model calls sends PostgreSQL at most ${MOST.statements} statements`, async (postgres) => {
  await buildSandbox();
  const store = await openStore({ path: await postgres.createDatabase() });
  const replies = [1, 2, 3, 4, 5].flatMap((n) => [
    replyJson([`const list${n} = [1, 2, ${n}]\nlist${n}.length`]),
    replyJson([], { final: `It is {{list${n}}}` }),
  ]);
  await using engine = await startEngine(replies, { store });
  await engine.ask("first");
  await engine.ask("second");
  using counted = countStatements();
  const taken = [];
  for (const request of ["third", "fourth", "fifth"]) {
    counted.take();
    const { answer } = await engine.ask(request);
    assert.match(answer, /It is/);
    taken.push(counted.take());
  }
  // While a query runs, the process also looks for messages of other processes and renews its lease now and then.
  const isFew = taken.some((one) => one.roundTrips <= MOST.roundTrips && one.statements <= MOST.statements);
  assert.ok(isFew, JSON.stringify(taken));
});

test("changes without a waiting caller are one statement, unless one of them needs another", async (postgres) => {
  const url = await postgres.createDatabase();
  await (await openStore({ path: url })).close();
  const db = new PostgresDatabase(new Server(readAddress(url), { patienceMs: 1000 }), { tenant: "default" });
  const conversation = { createdAt: 1, activity: 1, metadata: null };
  const branch = { conversationSoulId: "a", createdAt: 1, queries: 0, version: 0, title: "\0 \ud800 \\x41 'é'" };
  const entry = (bytes: number) => ({ hash: "h".repeat(64), encoding: "raw", bytes: new Uint8Array(bytes).fill(7) });
  using counted = countStatements();
  await db.write(async (tx) => {
    for (const id of ["a", "b"]) await tx.insert("conversationSoul", { ...conversation, id });
    await tx.insert("content", { ...entry(70_000), hash: "1".repeat(64) });
    for (const at of [0, 1]) await tx.insert("conversationState", { ...branch, id: `${at}`, version: at });
    await tx.insert("content", { ...entry(3), hash: "2".repeat(64) });
    await tx.update("conversationSoul", { id: "a", changes: { activity: 2 } });
  });
  // The statements are: the begin, the conversations with the first content, branches with the second one and the
  // update, the end.
  assert.equal(counted.take().statements, 4);
  const read = async (text: string) => (await db.run(text, [])).map((row) => Object.values(row).join(" "));
  assert.deepEqual(await read("SELECT id, activity FROM conversation_soul ORDER BY id"), ["a 2", "b 1"]);
  const title = "\ufffd \ufffd \\x41 'é'";
  assert.deepEqual(await read("SELECT id, title FROM conversation_state ORDER BY id"), [`0 ${title}`, `1 ${title}`]);
  assert.deepEqual(await read("SELECT length(bytes) FROM content ORDER BY hash"), ["70000", "3"]);
  const [small] = await db.run("SELECT bytes FROM content WHERE length(bytes) = 3", []);
  assert.deepEqual(small?.["bytes"], new Uint8Array([7, 7, 7]));
  await db.close();
});

test("a statement without a waiting caller fails its transaction, with its own error", async (postgres) => {
  const url = await postgres.createDatabase();
  await (await openStore({ path: url })).close();
  const db = new PostgresDatabase(new Server(readAddress(url), { patienceMs: 1000 }), { tenant: "default" });
  const insert = "INSERT INTO conversation_soul (id, created_at, activity) VALUES ($1, 1, 1)";
  const bad = "INSERT INTO conversation_state (id) VALUES ($1)";
  const violates = (error: unknown) => db.dialect.breaksRule(error);
  const last = db.write(async (tx) => {
    await tx.store(insert, ["a"]);
    await tx.store(bad, ["b"]);
  });
  await assert.rejects(last, violates);
  const inBetween = db.write(async (tx) => {
    await tx.store(bad, ["b"]);
    await tx.store(insert, ["a"]);
    await tx.run("SELECT 1 AS one", []);
  });
  await assert.rejects(inBetween, violates);
  // A failed read, or work that throws, leaves no statement either.
  await assert.rejects(
    db.write(async (tx) => {
      await tx.store(insert, ["a"]);
      throw new Error("thrown");
    }),
    /thrown/,
  );
  assert.deepEqual(await db.run("SELECT id FROM conversation_soul", []), []);
  await db.write(async (tx) => await tx.store(insert, ["a"]));
  assert.deepEqual(await db.run("SELECT id FROM conversation_soul", []), [{ id: "a" }]);
  await db.close();
});
