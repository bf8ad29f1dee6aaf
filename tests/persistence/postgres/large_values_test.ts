import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { fileURLToPath } from "node:url";
import { noise } from "../_filled.ts";
import { withDatabasePath } from "../_temp_database.ts";
import { COMPILED_HEAP_MIB } from "../../../scripts/flags.ts";
import { Content } from "../../../src/persistence/long_values.ts";
import { openStore } from "../../../src/persistence/open_store.ts";
import { PostgresDatabase } from "../../../src/persistence/postgres/postgres_database.ts";
import { readAddress, Server } from "../../../src/persistence/postgres/server.ts";
import { begun, block, image, iterate, queryEnd } from "../../conformance/store/fixtures.ts";
import { archiveOf } from "../../helpers/archive_of.ts";
import { postgresTests } from "../../helpers/postgres.ts";

const MAIN = fileURLToPath(new URL("_large_main.ts", import.meta.url));
const MIB = 1 << 20;

const test = await postgresTests();

test("values of 60 MB are stored, read and copied with the heap of the executable, in pieces", async (postgres) => {
  await withDatabasePath(async (file) => {
    const [url, other] = [await postgres.createDatabase(), await postgres.createDatabase()];
    const { code, stdout, stderr } = await new Deno.Command(Deno.execPath(), {
      args: ["run", "-A", `--v8-flags=--max-old-space-size=${COMPILED_HEAP_MIB}`, MAIN, url, other, file],
      stdin: "null",
    }).output();
    assert.equal(code, 0, new TextDecoder().decode(stderr).slice(0, 2000));
    assert.match(new TextDecoder().decode(stdout), /^(\d+)\n\1\n\1\n$/);
    for (const one of [url, other]) {
      const most = async (sql: string) => Number(await postgres.sql(`SELECT max(octet_length(${sql}`, one));
      assert.ok(await most("bytes)) FROM long_value_piece") < MIB);
      assert.ok(await most("result)) FROM expression_state") < MIB);
    }
  });
});

test("a fork, an export and an import have a value that is in pieces", async (postgres) => {
  const store = await openStore({ path: await postgres.createDatabase() });
  const { conversationId, queryId } = await begun(store);
  const [long, short] = [noise("long", 2 * MIB), noise("short", 2 * MIB).subarray(0, 72)];
  // A value that looks like a reference as much as possible.
  short.set([1, ...new TextEncoder().encode(`sha256:${"0".repeat(64)}`)]);
  const saved = [image("long", { bytes: long }), image("short", { bytes: short })];
  await iterate(store, { queryId, position: 0, blocks: [block("x", { value: long.subarray(0, MIB - 1), saved })] });
  const fork = await store.fork({ queryId, position: 0 });
  await store.setScope(fork.branchId, { names: ["short"], scope: "forgotten" });
  await store.setScope(fork.branchId, { names: ["short"], scope: "live" });
  const imported = await store.importConversation(await archiveOf(store, conversationId), { workspace: "/w" });
  const [copy] = await store.branches(imported.conversationId);
  for (const branchId of [fork.branchId, copy?.branchId ?? ""]) {
    const found = new Map((await store.liveImages(branchId)).map((one) => [one.name, one.bytes]));
    same(found.get("long"), long);
    same(found.get("short"), short);
  }
  await store.close();
});

test("a value in pieces goes with its last row, of any tenant, and stays for a new row", async (postgres) => {
  const url = await postgres.createDatabase();
  const store = await openStore({ path: url });
  const value = noise("long", 2 * MIB);
  const stores = [store, store.of("ana")];
  const conversations = await Promise.all(stores.map(async (one) => {
    const { conversationId, queryId } = await begun(one);
    await iterate(one, { queryId, position: 0, blocks: [block("x", { saved: [image("x", { bytes: value })] })] });
    await one.endQuery(queryId, queryEnd());
    return conversationId;
  }));
  const pieces = async () => Number(await postgres.sql("SELECT count(*) FROM long_value_piece", url));
  assert.equal(await pieces(), 8);
  await store.deleteConversation(conversations[0] ?? "");
  assert.equal(await pieces(), 8);

  const db = new PostgresDatabase(new Server(readAddress(url), { patienceMs: 0 }), { tenant: "default" });
  const { conversationId, queryId } = await begun(store);
  await iterate(store, { queryId, position: 0, blocks: [block("y", { saved: [image("y")] })] });
  const held = Promise.withResolvers<void>();
  const deleted = { waits: false };
  const storing = db.write(async (tx) => {
    const result = await new Content(tx).putBytes(value);
    const [y] = await tx.run(
      `SELECT e.expression_soul_id AS soul, e.iteration_id AS iteration FROM expression_state e
      JOIN expression_soul s ON s.id = e.expression_soul_id WHERE s.name = 'y'`,
      [],
    );
    const cells = {
      id: "next",
      expressionSoulId: y?.["soul"],
      iterationId: y?.["iteration"],
      version: 1,
      createdAt: 1,
    };
    await tx.insert("expressionState", { ...cells, result, metadata: "{}" });
    held.resolve();
    // The server would end a transaction that is idle for some seconds.
    while (!deleted.waits) await tx.run("SELECT 1", []);
  });
  await held.promise;
  const deleting = store.of("ana").deleteConversation(conversations[1] ?? "");
  const waits = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'";
  while (await postgres.sql(waits, url) !== "1");
  deleted.waits = true;
  await storing;
  await deleting;
  assert.equal(await pieces(), 8);
  await store.endQuery(queryId, queryEnd());
  await store.deleteConversation(conversationId);
  assert.equal(await pieces(), 0);
  await db.close();
  await store.close();
});

/** Compares without printing a difference, which would take minutes to compute. */
function same(found: Uint8Array | undefined, expected: Uint8Array): void {
  assert.ok(found !== undefined && Buffer.from(found).equals(expected), `${found?.length} bytes are others`);
}
