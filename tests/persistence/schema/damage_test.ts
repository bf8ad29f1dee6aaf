/** What was stored is read back or refused: docs/decisions/0023-verified-reads.md. */
import assert from "node:assert/strict";
import { DatabaseSync } from "node:sqlite";
import { readArchive } from "../../../src/conversation/archive/read_archive.ts";
import { StoreError, UsageError } from "../../../src/domain/errors.ts";
import { openStore } from "../../../src/persistence/open_store.ts";
import { SqliteMaintenance } from "../../../src/persistence/maintenance/sqlite_maintenance.ts";
import type { Store } from "../../../src/persistence/store/store.ts";
import { encode } from "../../../src/sandbox/codec/codec.ts";
import { begun, block, image, iterate, queryEnd } from "../../conformance/store/fixtures.ts";
import { withDatabasePath } from "../_temp_database.ts";
import { archiveOf, archiveTextOf } from "../../helpers/archive_of.ts";

async function filled(path: string): Promise<string> {
  const store = await openStore({ path });
  const { branchId, queryId } = await begun(store);
  for (const position of [0, 1]) {
    const saved = [image("n", { bytes: encode({ position }) })];
    await iterate(store, { queryId, position, blocks: [block(`var n = ${position}`, { saved })] });
  }
  await store.endQuery(queryId, queryEnd());
  await store.close();
  return branchId;
}

/** Each changes what one statement of the program would never change. */
const DAMAGE: readonly [what: string, sql: string, read: (store: Store, branchId: string) => Promise<unknown>][] = [
  [
    "a value",
    "UPDATE expression_state SET result = zeroblob(3) WHERE version = 1",
    (store, id) => store.liveImages(id),
  ],
  ["a title", "UPDATE conversation_state SET title = 'other'", (store) => store.listConversations({ limit: 1 })],
  ["a status", "UPDATE query_state SET status = 'error'", (store, id) => store.queries(id)],
  ["an order", "UPDATE conversation_soul SET activity = 99", (store) => store.listConversations({ limit: 1 })],
  ["a missing version", "DELETE FROM expression_state WHERE version = 1", (store, id) => store.variables(id)],
  ["a missing query", "DELETE FROM query_soul", (store, id) => store.queries(id)],
  ["a missing iteration", "DELETE FROM iteration WHERE position = 1", (store, id) => store.turns(id)],
];

for (const [what, sql, read] of DAMAGE) {
  Deno.test(`${what}: the read, an export, a backup and vacuum refuse it, and check() names it`, () =>
    withDatabasePath(async (path) => {
      const branchId = await filled(path);
      const db = new DatabaseSync(path, { enableForeignKeyConstraints: false });
      db.exec(sql);
      const conversation = String(db.prepare("SELECT id FROM conversation_soul").get()?.id);
      db.close();
      const refused = (error: unknown): boolean => {
        assert.ok(error instanceof StoreError && error.code === "corrupt", String(error));
        assert.match(error.message, /damaged .*vis db check/);
        return true;
      };
      const store = await openStore({ path });
      await assert.rejects(read(store, branchId), refused);
      await assert.rejects(archiveOf(store, conversation), refused);
      await store.close();
      const care = new SqliteMaintenance({ path });
      await assert.rejects(care.backup(`${path}.copy`), refused);
      await assert.rejects(care.vacuum(), refused);
      assert.notDeepEqual((await care.check()).problems, []);
    }));
}

Deno.test("places of iterations that were changed neither change the order of variables nor their scope", () =>
  withDatabasePath(async (path) => {
    const store = await openStore({ path });
    const { branchId, queryId } = await begun(store);
    for (const [position, name] of ["a", "b", "c"].entries()) {
      await iterate(store, { queryId, position, blocks: [block(`var ${name}`, { saved: [image(name)] })] });
    }
    await store.setScope(branchId, { names: ["a"], scope: "forgotten" });
    const reads = [
      () => store.liveImages(branchId),
      () => store.variables(branchId),
      () => store.variables(branchId, { queryId, position: 2 }),
    ];
    const known = await Promise.all(reads.map((read) => read()));
    for (const change of ["5 WHERE position = 1", "7 WHERE position = 0"]) {
      const db = new DatabaseSync(path);
      db.exec(`UPDATE iteration SET position = ${change}`);
      db.close();
      for (const [at, read] of reads.entries()) {
        await read().then(
          (found) => assert.deepEqual(found, known[at], change),
          (error: unknown) => assert.ok(error instanceof StoreError && error.code === "corrupt", String(error)),
        );
      }
    }
    await store.close();
  }));

Deno.test("an archive with another bit is the same conversation or is refused", () =>
  withDatabasePath(async (path) => {
    await filled(path);
    const store = await openStore({ path });
    const { conversationId = "" } = await store.latestConversation("/w") ?? {};
    const text = await archiveTextOf(store, conversationId);
    const known = JSON.stringify(JSON.parse(text));
    const bytes = new TextEncoder().encode(text);
    let refused = 0;
    for (let at = 0; at < bytes.length; at++) {
      const other = bytes.slice();
      other[at] = (other[at] ?? 0) ^ 1 << at % 7;
      const changed = new TextDecoder().decode(other);
      try {
        const archive = readArchive(changed);
        if (JSON.stringify(JSON.parse(changed)) === known) continue;
        await store.importConversation(archive, { workspace: "/w" });
        assert.fail(`byte ${at} of ${text.length}: ${changed.slice(Math.max(0, at - 40), at + 20)}`);
      } catch (error) {
        if (!(error instanceof UsageError)) throw error;
        refused++;
      }
    }
    assert.ok(refused > bytes.length / 2, `${refused} of ${bytes.length}`);
    await store.close();
  }));
