/** After a fault of the disk, a lock or a foreign change, an open store reports a clear error and loses no data. */
import assert from "node:assert/strict";
import { chmod, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { gunzipSync } from "node:zlib";
import { fileURLToPath } from "node:url";
import { PERMISSIONS } from "../../scripts/flags.ts";
import { openStore, sqliteStore } from "../../src/persistence/open_store.ts";
import { SqliteMaintenance } from "../../src/persistence/sqlite/maintenance.ts";
import {
  begun,
  block,
  image,
  iterate,
  iterationEnd,
  newIteration,
  newQuery,
  queryEnd,
} from "../conformance/store/fixtures.ts";
import { boundByModes } from "./_bound_by_modes.ts";
import { withDatabasePath } from "./_temp_database.ts";

const BACKUP = fileURLToPath(new URL("../../bench/support/backup_main.ts", import.meta.url));

function large(seed: number) {
  const bytes = new Uint8Array(300_000).map((_, at) => (at * seed) % 251 ^ at >> 8);
  return block("const big = read()", { saved: [image("big", { bytes })] });
}

/** Opens a store on a database that can grow by this number of pages only, as on a full disk. */
async function limited(path: string, pages: number) {
  await (await openStore({ path })).close();
  const db = new DatabaseSync(path, { timeout: 50, enableForeignKeyConstraints: true });
  const { page_count: count } = db.prepare("PRAGMA page_count").get() ?? {};
  db.exec(`PRAGMA max_page_count = ${Number(count) + pages}`);
  const grow = (): void => db.exec("PRAGMA max_page_count = 1000000");
  return { grow, store: sqliteStore(db, { location: path, now: Date.now, busyMs: 100, isAlive: () => true }) };
}

Deno.test("a full disk fails one step, which can be repeated when there is room", async () => {
  await withDatabasePath(async (path) => {
    const { store, grow } = await limited(path, 60);
    const { branchId, queryId } = await begun(store);
    await iterate(store, { queryId, position: 0, blocks: [block("const a = 1", { saved: [image("a")] })] });
    const id = await store.beginIteration(newIteration(queryId, 1, { blocks: ["const big = read()"] }));
    await assert.rejects(store.endIteration(id, iterationEnd([large(7)])), {
      name: "StoreError",
      code: "full",
      message: `Cannot use database ${path}: the disk is full or has no inodes left (df -h and df -i show which); ` +
        "free space and try again",
    });
    assert.deepEqual((await store.liveImages(branchId)).map(({ name }) => name), ["a"]);
    assert.equal((await store.iterations(queryId)).at(-1)?.status, "running");
    grow();
    await store.endIteration(id, iterationEnd([large(7)]));
    assert.deepEqual((await store.liveImages(branchId)).map(({ name }) => name).sort(), ["a", "big"]);
    await store.close();
    assert.deepEqual((await new SqliteMaintenance({ path }).check()).problems, []);
  });
});

Deno.test("a query whose end found a full disk is ended for the next reader, the next request and a view of all tenants", async () => {
  await withDatabasePath(async (path) => {
    const { store, grow } = await limited(path, 60);
    const { branchId, queryId } = await begun(store);
    const noise = Array.from({ length: 20_000 }, () => crypto.randomUUID()).join("");
    await assert.rejects(store.endQuery(queryId, queryEnd({ answer: noise })), { code: "full" });
    const end = queryEnd({ status: "error", reason: "unstored", answer: noise });
    await assert.rejects(store.endQuery(queryId, end), { code: "full" });
    assert.equal(await store.sweepLost(), 0);
    assert.equal((await store.query(queryId))?.running, true);
    grow();
    assert.equal(await store.of(null).sweepLost(), 1);
    const ended = await store.query(queryId);
    assert.deepEqual([ended?.running, ended?.reason, ended?.answer], [false, "unstored", noise]);
    assert.equal(await store.sweepLost(), 0);
    await store.beginQuery(newQuery(branchId, "next"));
    assert.equal((await store.query(queryId))?.reason, "unstored", "the next request takes no ended query over");
    await store.close();
  });
});

Deno.test("a full disk drops log entries without a word, and search still works", async () => {
  await withDatabasePath(async (path) => {
    const { store } = await limited(path, 4);
    const { queryId } = await begun(store, { text: "marmalade" });
    await store.log({ level: "info", event: "x", data: { text: "y".repeat(500_000) }, queryId });
    assert.deepEqual(await store.of(null).logs({ limit: 5 }), []);
    assert.equal((await store.search("marmalade", { limit: 1 })).length, 1);
    await store.close();
  });
});

// The limit on the size of a file stops the copy as a full disk does.
const LIMITED = `ulimit -f 200; trap '' XFSZ; exec "$0" run -A --no-lock --no-check "$1" "$2" "$3"`;

Deno.test("a full disk fails a backup and leaves no half of one", { ignore: Deno.build.os !== "linux" }, async () => {
  await withDatabasePath(async (path, folder) => {
    const store = await openStore({ path });
    const { queryId } = await begun(store);
    for (let position = 0; position < 8; position++) {
      await iterate(store, { queryId, position, blocks: [large(position + 3)] });
    }
    await store.close();
    const args = ["-c", LIMITED, Deno.execPath(), BACKUP, path, join(folder, "copy.db")];
    const { success, stderr } = await new Deno.Command("sh", { args }).output();
    assert.equal(success, false);
    assert.match(
      new TextDecoder().decode(stderr),
      /StoreError: Cannot back up to .*copy\.db: a file would exceed the limit on its size/,
    );
    assert.deepEqual((await readdir(folder)).filter((name) => name.startsWith("copy")), []);
    assert.deepEqual((await new SqliteMaintenance({ path }).check()).problems, []);
  });
});

const DENIED = fileURLToPath(new URL("_denied_main.ts", import.meta.url));
const bound = await boundByModes();

/** Returns the results of opening and of a backup under file modes, and whether the database is unchanged. */
async function denied(path: string, copy: string): Promise<{ readonly opened: string; readonly backed: string }> {
  const before = await readFile(path).catch(() => null);
  const [program = "", ...args] = [...bound ?? [], Deno.execPath(), "run", "-A", "--no-lock", "--no-check", DENIED];
  const { stdout, stderr } = await new Deno.Command(program, { args: [...args, path, copy] }).output();
  if (before) assert.deepEqual(await readFile(path), before);
  return JSON.parse(new TextDecoder().decode(stdout) || new TextDecoder().decode(stderr));
}

const unbound = bound === null ? " (skipped: no command here gives up the rights of root)" : "";
Deno.test({
  name: `folders and files that cannot be written or read are reported with a remedy${unbound}`,
  ignore: bound === null,
  fn: async () => {
    await withDatabasePath(async (path, folder) => {
      const store = await openStore({ path });
      await begun(store);
      await store.close();
      const copy = join(folder, "copy.db");
      const modes = async (ofFolder: number, ofFile: number) => {
        await chmod(path, ofFile);
        await chmod(folder, ofFolder);
        const found = await denied(path, copy);
        await chmod(folder, 0o700);
        await chmod(path, 0o600);
        return found;
      };
      const folderOnly = await modes(0o500, 0o600);
      assert.match(folderOnly.opened, /^readonly: .*read-only; make the file and its folder writable/);
      assert.match(folderOnly.backed, /^(readonly|unavailable): Cannot use database .*(writable|access is denied)/);
      const fileOnly = await modes(0o700, 0o400);
      assert.match(fileOnly.opened, /^readonly: .*read-only; make the file writable/);
      assert.equal(fileOnly.backed, "done");
      await rm(copy);
      const unreadable = await modes(0o700, 0o200);
      assert.match(unreadable.opened, /^unavailable: .*(access is denied|the file does not open)/);
      assert.match(unreadable.backed, /^unavailable: .*(access is denied|the file does not open)/);
      const closed = await modes(0o000, 0o600);
      assert.match(closed.opened, /^unavailable: .*access is denied/);
      assert.deepEqual((await readdir(folder)).filter((name) => !name.startsWith("vis.db")), []);
      const again = await openStore({ path });
      assert.equal((await again.listConversations({ limit: 9 })).length, 1);
      await again.close();
      assert.deepEqual((await new SqliteMaintenance({ path }).check()).problems, []);
    });
  },
});

Deno.test("while another process holds the lock, a step fails as busy; reading works, and the step can be repeated", async () => {
  await withDatabasePath(async (path) => {
    const store = await openStore({ path, busyMs: 30 });
    const { branchId, queryId } = await begun(store);
    const id = await store.beginIteration(newIteration(queryId, 0));
    using other = new DatabaseSync(path);
    other.exec("BEGIN IMMEDIATE");
    const end = iterationEnd([block("const a = 1", { saved: [image("a")] })]);
    await assert.rejects(store.endIteration(id, end), { name: "StoreError", code: "busy" });
    assert.equal((await store.queries(branchId)).length, 1);
    assert.deepEqual(await store.search("nothing", { limit: 1 }), []);
    await store.log({ level: "info", event: "dropped", data: {} });
    other.exec("ROLLBACK");
    await store.endIteration(id, end);
    assert.equal((await store.liveImages(branchId)).length, 1);
    assert.deepEqual(await store.of(null).logs({ limit: 5 }), []);
    await store.close();
  });
});

Deno.test("turns continue while another connection makes backups, and each backup is whole", async () => {
  await withDatabasePath(async (path, folder) => {
    const store = await openStore({ path });
    const { queryId } = await begun(store);
    await iterate(store, { queryId, position: 0, blocks: [large(5)] });
    const copies = [0, 1].map((at) => join(folder, `copy${at}.db`));
    let running = copies.length;
    const backups = copies.map(async (copy) => {
      const args = ["run", "-A", "--no-lock", "--no-check", BACKUP, path, copy];
      const { success, stderr } = await new Deno.Command(Deno.execPath(), { args }).output();
      running--;
      assert.ok(success, new TextDecoder().decode(stderr));
    });
    let position = 1;
    for (; running > 0 && position < 5000; position++) {
      const blocks = [block(`const v${position} = 1`, { saved: [image(`v${position % 9}`)] })];
      await iterate(store, { queryId, position, blocks });
      await new Promise((resolve) => setTimeout(resolve, 1));
    }
    await Promise.all(backups);
    assert.equal((await store.iterations(queryId)).length, position);
    await store.close();
    for (const copy of copies) {
      assert.deepEqual((await new SqliteMaintenance({ path: copy }).check()).problems, []);
      const opened = await openStore({ path: copy });
      const stored = await opened.iterations(queryId);
      assert.ok(stored.length > 0 && stored.length <= position);
      assert.deepEqual(stored.map((one) => one.position), stored.map((_, at) => at));
      await opened.close();
    }
  });
});

Deno.test("a migration that keeps a copy, and all care, need no more than the permissions of the program", async () => {
  await withDatabasePath(async (path, folder) => {
    await writeFile(path, gunzipSync(await readFile(new URL("fixtures/v12.db.gz", import.meta.url))));
    const main = fileURLToPath(new URL("maintenance/_care_main.ts", import.meta.url));
    const args = ["run", "--no-prompt", "--no-lock", "--no-check", ...PERMISSIONS, main, path, join(folder, "copy.db")];
    const { stdout, stderr } = await new Deno.Command(Deno.execPath(), { args }).output();
    assert.equal(new TextDecoder().decode(stdout), "migrated\n[]\n", new TextDecoder().decode(stderr));
    assert.ok((await readdir(folder)).includes("vis.db.before-V1"));
  });
});

Deno.test("a backup of a newer Vis, of another program and an empty one are distinguished", async () => {
  await withDatabasePath(async (path, folder) => {
    const care = new SqliteMaintenance({ path });
    const file = join(folder, "other.db");
    await writeFile(file, "");
    await assert.rejects(care.restore(file), { name: "UsageError", message: /it is not a database of Vis/ });
    new DatabaseSync(file).exec("CREATE TABLE bookmarks (url)");
    await assert.rejects(care.restore(file), { name: "StoreError", message: /belongs to another program/ });
    assert.equal((await readFile(file)).length > 0, true);
    await assert.rejects(stat(path), { code: "ENOENT" });
  });
});
