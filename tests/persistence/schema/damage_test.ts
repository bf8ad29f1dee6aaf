/** Tests which damage of a database is noticed: docs/decisions/04-store.md. */
import assert from "node:assert/strict";
import { copyFile, readFile, rm, writeFile } from "node:fs/promises";
import { DatabaseSync } from "node:sqlite";
import { withDatabasePath } from "../_temp_database.ts";
import { readArchive } from "../../../src/conversation/export/read_archive.ts";
import { StoreError, UsageError } from "../../../src/domain/errors.ts";
import { openStore } from "../../../src/persistence/open_store.ts";
import { SqliteMaintenance } from "../../../src/persistence/sqlite/maintenance.ts";
import { encode } from "../../../src/sandbox/codec/codec.ts";
import { begun, block, image, iterate, queryEnd } from "../../conformance/store/fixtures.ts";
import { archiveTextOf } from "../../helpers/archive_of.ts";

async function filled(path: string): Promise<string> {
  const store = await openStore({ path });
  const { branchId, queryId } = await begun(store);
  for (const position of [0, 1]) {
    const saved = [
      image("n", { bytes: encode({ position }) }),
      image("long", { bytes: encode("long ".repeat(900 + position)) }),
    ];
    await iterate(store, { queryId, position, blocks: [block(`var n = ${position}`, { saved })] });
  }
  await store.endQuery(queryId, queryEnd());
  await store.close();
  return branchId;
}

const refused = (error: unknown): boolean => {
  assert.ok(error instanceof StoreError && error.code === "corrupt", String(error));
  assert.match(error.message, /damaged .*vis db check/);
  return true;
};

function change(path: string, sql: string): void {
  using db = new DatabaseSync(path, { enableForeignKeyConstraints: false });
  db.exec(sql);
}

async function changePage(path: string, index: string): Promise<void> {
  const db = new DatabaseSync(path, { readOnly: true });
  const page = Number(db.prepare("SELECT rootpage FROM sqlite_schema WHERE name = ?").get(index)?.rootpage);
  db.close();
  const bytes = await readFile(path);
  bytes.fill(0xff, (page - 1) * 4096, (page - 1) * 4096 + 8);
  await writeFile(path, bytes);
}

interface Damaged {
  readonly what: string;
  readonly harm: (path: string) => void | Promise<void>;
  /** Whether a read of the variables refuses it. */
  readonly isRead: boolean;
}

const DAMAGE: readonly Damaged[] = [
  {
    what: "a short value",
    harm: (path) => change(path, "UPDATE expression_state SET result = zeroblob(3) WHERE version = 1"),
    isRead: true,
  },
  { what: "a long value", harm: (path) => change(path, "UPDATE content SET bytes = zeroblob(9)"), isRead: true },
  { what: "a reference", harm: (path) => change(path, "DELETE FROM query_soul"), isRead: false },
  { what: "a page", harm: (path) => changePage(path, "idx_log_created"), isRead: false },
];

for (const { what, harm, isRead } of DAMAGE) {
  Deno.test(`damage to ${what}: check() names it, a backup and vacuum refuse it${isRead ? ", a read too" : ""}`, () =>
    withDatabasePath(async (path) => {
      const branchId = await filled(path);
      await harm(path);
      if (isRead) {
        const store = await openStore({ path });
        await assert.rejects(store.liveImages(branchId), refused);
        await store.close();
      }
      const care = new SqliteMaintenance({ path });
      for (const action of [() => care.backup(`${path}.copy`), () => care.vacuum()]) {
        await assert.rejects(action, { name: "StoreError", code: "corrupt" });
      }
      assert.notDeepEqual((await care.check()).problems, []);
    }));
}

Deno.test("a damaged page is noticed when a database is opened that was not closed", () =>
  withDatabasePath(async (path) => {
    await filled(path);
    const store = await openStore({ path });
    await begun(store);
    const left = `${path}.left`;
    // A killed process leaves such files.
    for (const end of ["", "-wal"]) await copyFile(`${path}${end}`, `${left}${end}`);
    const log = await readFile(`${left}-wal`);
    await store.close();
    await rm(`${left}-wal`);
    await changePage(left, "idx_log_created");
    await rm(`${left}-wal`, { force: true });
    await rm(`${left}-shm`, { force: true });
    await writeFile(`${left}-wal`, log);
    await assert.rejects(openStore({ path: left }), refused);
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
