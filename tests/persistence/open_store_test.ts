import assert from "node:assert/strict";
import { chmod, open, readFile, stat, symlink, truncate, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { openStore } from "../../src/persistence/open_store.ts";
import { begun, block, image, iterate, newQuery } from "../conformance/store/fixtures.ts";
import { withDatabasePath } from "./_temp_database.ts";

const posix = Deno.build.os !== "windows";

/** Returns mode and content; "" if the path is no file. */
async function contentOf(path: string): Promise<string> {
  const { mode } = await stat(path).catch(() => ({ mode: 0 }));
  return `${mode} ${await readFile(path, "latin1").catch(() => "")}`;
}

/** Asserts that opening fails with a `StoreError` of this code, whose message has the path and no internal details, and
 * leaves the file unchanged. */
async function refused(path: string, code: string, message: RegExp): Promise<void> {
  const before = await contentOf(path);
  await assert.rejects(openStore({ path, busyMs: 50 }), (error: Error & { code?: string }) => {
    assert.deepEqual([error.name, error.code], ["StoreError", code], error.message);
    assert.ok(error.message.startsWith(`Cannot use database ${path}: `), error.message);
    assert.match(error.message, message);
    assert.doesNotMatch(error.message, /PRAGMA|SELECT|SQLITE|ERR_|\n|\.$/);
    return true;
  });
  assert.equal(await contentOf(path), before);
}

Deno.test("openStore() makes folder and file for the user alone", { ignore: !posix }, async () => {
  await withDatabasePath(async (_path, folder) => {
    const path = join(folder, "deep", "er", "vis.db");
    const store = await openStore({ path });
    await begun(store);
    const modes = [dirname(path), path, `${path}-wal`, `${path}-shm`];
    assert.deepEqual(await Promise.all(modes.map(async (one) => (await stat(one)).mode & 0o777)), [
      0o700,
      0o600,
      0o600,
      0o600,
    ]);
    await store.close();
    await chmod(path, 0o644);
    await (await openStore({ path })).close();
    assert.equal((await stat(path)).mode & 0o777, 0o600);
  });
});

Deno.test("openStore() opens its own file again", async () => {
  await withDatabasePath(async (path) => {
    const first = await openStore({ path });
    const { branchId, queryId } = await begun(first);
    await iterate(first, { queryId, position: 0, blocks: [block("const a = 1", { saved: [image("a")] })] });
    await first.close();
    const second = await openStore({ path });
    assert.equal(second.location, path);
    assert.deepEqual((await second.liveImages(branchId)).map(({ name }) => name), ["a"]);
    await second.close();
  });
});

Deno.test("openStore() uses WAL, synchronous NORMAL and foreign keys", async () => {
  await withDatabasePath(async (path) => {
    const store = await openStore({ path });
    const { branchId } = await store.createConversation({ title: "t", channel: "c", workspace: "/w" });
    const requestKey = { branchId: "no such branch", key: "k", fingerprint: "f" };
    await assert.rejects(store.beginQuery(newQuery(branchId, "q", { requestKey })), {
      name: "StoreError",
      code: "unavailable",
    });
    await store.close();
    using db = new DatabaseSync(path);
    assert.equal(db.prepare("PRAGMA journal_mode").get()?.journal_mode, "wal");
  });
});

Deno.test("openStore() refuses a folder, a file that is no database, and a foreign one", async () => {
  await withDatabasePath(async (_path, folder) => {
    await refused(folder, "unavailable", /it is a folder; choose a file with --db/);
    const text = join(folder, "notes.txt");
    await writeFile(text, "dear diary, ".repeat(100));
    await refused(text, "corrupt", /the file is not a database; choose another file with --db/);
    const foreign = join(folder, "bookmarks.db");
    new DatabaseSync(foreign).exec("CREATE TABLE bookmarks (url)");
    await refused(foreign, "unavailable", /belongs to another program/);
  });
});

Deno.test("openStore() refuses a path below a file", async () => {
  await withDatabasePath(async (_path, folder) => {
    const file = join(folder, "file");
    await writeFile(file, "");
    await refused(join(file, "vis.db"), "unavailable", /a part of its path is not a folder/);
  });
});

Deno.test("openStore() refuses a device", { ignore: !posix }, async () => {
  await refused("/dev/null", "unavailable", /not a regular file/);
});

Deno.test("openStore() refuses a dangling link to a folder that cannot be made", { ignore: !posix }, async () => {
  await withDatabasePath(async (path, folder) => {
    await symlink(join(folder, "gone", "vis.db"), path);
    await refused(path, "unavailable", /--db/);
  });
});

Deno.test("openStore() refuses a read-only file", { ignore: !posix }, async () => {
  await withDatabasePath(async (path) => {
    await (await openStore({ path })).close();
    await chmod(path, 0o400);
    await refused(path, "readonly", /it is read-only; make the file writable, or choose another file with --db/);
  });
});

Deno.test("openStore() refuses a newer database", async () => {
  await withDatabasePath(async (path) => {
    await (await openStore({ path })).close();
    const db = new DatabaseSync(path);
    db.exec("INSERT INTO schema_migration VALUES (99, 'V99__x.sql', '', 1)");
    db.close();
    await refused(path, "newer", /a newer Vis wrote it \(schema V99, this Vis knows V\d+\); update Vis/);
  });
});

Deno.test("openStore() waits for a lock, then names the process that holds it", async () => {
  await withDatabasePath(async (path) => {
    using other = new DatabaseSync(path);
    await chmod(path, 0o600);
    other.exec("BEGIN IMMEDIATE; CREATE TABLE x (a)");
    await refused(path, "busy", /another process has locked it/);
    const opening = openStore({ path, busyMs: 60_000 });
    setTimeout(() => other.exec("ROLLBACK"), 20);
    await (await opening).close();
  });
});

Deno.test("openStore() stops waiting when its signal is aborted", async () => {
  await withDatabasePath(async (path) => {
    using other = new DatabaseSync(path);
    other.exec("BEGIN IMMEDIATE; CREATE TABLE x (a)");
    const abort = new AbortController();
    const opening = openStore({ path, busyMs: 60_000, signal: abort.signal });
    setTimeout(() => abort.abort(new Error("Enough")), 20);
    await assert.rejects(opening, { message: "Enough" });
  });
});

Deno.test("a damaged file is an error of code corrupt, and check() reports it without rejecting", async () => {
  await withDatabasePath(async (path) => {
    const store = await openStore({ path });
    const { branchId, queryId } = await begun(store);
    for (let position = 0; position < 20; position++) {
      await iterate(store, { queryId, position, blocks: [block("x".repeat(3000), { saved: [image("a")] })] });
    }
    await store.close();
    const file = await open(path, "r+");
    const { size } = await file.stat();
    await file.write(new Uint8Array(size - 8192).fill(0xa5), 0, size - 8192, 8192);
    await file.close();
    const damaged = await openStore({ path }).catch((error: Error & { code?: string }) => error);
    if (damaged instanceof Error) return assert.equal(damaged.code, "corrupt");
    await assert.rejects(damaged.iterations(queryId).then(() => damaged.variables(branchId)), {
      name: "StoreError",
      code: "corrupt",
      message:
        /^Cannot use database .* it is damaged \(.*; vis db check may list more damage, and vis db restore COPY restores a backup/,
    });
    assert.ok((await damaged.check()).length > 0);
    await damaged.close();
  });
});

Deno.test("a truncated file is refused or reported, never read as empty", async () => {
  await withDatabasePath(async (path) => {
    const store = await openStore({ path });
    await begun(store);
    await store.close();
    await truncate(path, 4096 * 3);
    const outcome = await openStore({ path }).then(async (opened) => {
      const problems = await opened.check();
      await opened.close();
      return problems;
    }, (error: Error & { code?: string }) => [String(error.code)]);
    assert.notDeepEqual(outcome, []);
  });
});

Deno.test("openStore() of the same path twice gives two stores that see each other", async () => {
  await withDatabasePath(async (path) => {
    const [one, two] = await Promise.all([openStore({ path }), openStore({ path })]);
    const branch = await one.createConversation({ title: "t", channel: "cli", workspace: "/w" });
    assert.equal((await two.findConversation(branch.conversationId))?.branchId, branch.branchId);
    await Promise.all([one.close(), two.close()]);
  });
});

Deno.test("openStore() of :memory: touches no file and is new each time", async () => {
  const one = await openStore({ path: ":memory:" });
  await begun(one);
  const two = await openStore({ path: ":memory:" });
  assert.deepEqual(await two.listConversations({ limit: 5 }), []);
  await Promise.all([one.close(), two.close()]);
  await assert.rejects(stat(":memory:"), { code: "ENOENT" });
});
