import assert from "node:assert/strict";
import { mkdir, readdir, readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { encodings, filled, opened } from "../_filled.ts";
import { withDatabasePath } from "../_temp_database.ts";
import { openStore } from "../../../src/persistence/open_store.ts";
import { SqliteMaintenance } from "../../../src/persistence/sqlite/maintenance.ts";
import type { Store } from "../../../src/persistence/store.ts";
import { begun, newQuery, queryEnd } from "../../conformance/store/fixtures.ts";

Deno.test("backup() copies an open database, for the user alone", async () => {
  await withDatabasePath(async (path, folder) => {
    const { store, care } = await opened(path);
    const { branchId } = await filled(store, "alpha");
    await mkdir(join(folder, "deep"));
    const report = await care.backup(join(folder, "deep", "copy.db"));
    assert.equal(report.bytes, (await stat(report.path)).size);
    assert.equal(report.schemaVersion, 1);
    if (Deno.build.os !== "windows") assert.equal((await stat(report.path)).mode & 0o777, 0o600);
    assert.deepEqual(await readdir(join(folder, "deep")), ["copy.db"]);
    const copy = await openStore({ path: report.path });
    assert.deepEqual(await copy.liveImages(branchId), await store.liveImages(branchId));
    await Promise.all([copy.close(), store.close()]);
  });
});

Deno.test("backup() refuses a target that exists and a database that does not, and leaves both alone", async () => {
  await withDatabasePath(async (path, folder) => {
    const target = join(folder, "there.db");
    await writeFile(target, "mine");
    await assert.rejects(new SqliteMaintenance({ path }).backup(join(folder, "x.db")), {
      name: "UsageError",
      message: `Cannot back up ${path}: the file does not exist; name another file`,
    });
    await (await openStore({ path })).close();
    await assert.rejects(new SqliteMaintenance({ path }).backup(target), {
      name: "UsageError",
      message: `Cannot back up to ${target}: it already exists; choose another path`,
    });
    assert.equal(await readFile(target, "utf8"), "mine");
    await assert.rejects(new SqliteMaintenance({ path }).backup(join(folder, "missing", "x.db")), {
      name: "UsageError",
      message: `Cannot back up to ${
        join(folder, "missing", "x.db")
      }: its folder does not exist; create the folder first`,
    });
    assert.ok(!(await readdir(folder)).includes("missing"));
    await assert.rejects(new SqliteMaintenance({ path: ":memory:" }).backup(join(folder, "x.db")), {
      name: "UsageError",
    });
    await assert.rejects(new SqliteMaintenance({ path: target }).backup(join(folder, "x.db")), {
      name: "StoreError",
      code: "corrupt",
    });
    assert.deepEqual((await readdir(folder)).sort(), ["there.db", "vis.db"]);
  });
});

Deno.test("restore() replaces the database by a backup and keeps the old file with the content of its log", async () => {
  await withDatabasePath(async (path, folder) => {
    const { store, care } = await opened(path);
    const { branchId } = await filled(store, "alpha");
    const { path: copy } = await care.backup(join(folder, "copy.db"));
    const later = await filled(store, "later");
    await store.close();
    const report = await care.restore(copy);
    assert.ok(report.keptAs !== null && report.keptAs.startsWith(`${path}.before-restore-2027`));
    const restored = await openStore({ path });
    assert.equal((await restored.liveImages(branchId)).length, 2);
    assert.equal(await restored.query(later.queryId), null);
    await restored.close();
    const old = await openStore({ path: report.keptAs });
    assert.ok(await old.query(later.queryId));
    await old.close();
  });
});

Deno.test("restore() keeps the old files of two restores in the same second", async () => {
  await withDatabasePath(async (path, folder) => {
    const { store, care } = await opened(path);
    await filled(store, "alpha");
    const { path: copy } = await care.backup(join(folder, "copy.db"));
    const later = await filled(store, "later");
    await store.close();
    const [first, second] = [await care.restore(copy), await care.restore(copy)];
    assert.equal(second.keptAs, `${first.keptAs}-2`);
    const old = await openStore({ path: first.keptAs ?? "" });
    assert.ok(await old.query(later.queryId));
    await old.close();
  });
});

Deno.test("restore() is refused while another process has the database open, and changes no file", async () => {
  await withDatabasePath(async (path, folder) => {
    const { store, care } = await opened(path);
    const { queryId } = await filled(store, "alpha");
    const { path: copy } = await care.backup(join(folder, "copy.db"));
    await assert.rejects(care.restore(copy), {
      name: "StoreError",
      code: "busy",
      message: `Cannot replace database ${path}: another process is using it; end that process and try again`,
    });
    assert.ok(await store.query(queryId));
    await begun(store);
    await store.close();
    assert.deepEqual((await readdir(folder)).sort(), ["copy.db", "vis.db"]);
  });
});

Deno.test("restore() takes the place of a file that is damaged beyond opening, and of none", async () => {
  await withDatabasePath(async (path, folder) => {
    const { store, care } = await opened(path);
    await filled(store, "alpha");
    const { path: copy } = await care.backup(join(folder, "copy.db"));
    await store.close();
    await writeFile(path, "no database at all, ".repeat(500));
    const { keptAs } = await care.restore(copy);
    assert.match(await readFile(keptAs ?? "", "utf8"), /^no database at all/);
    assert.deepEqual((await care.check()).problems, []);
    const elsewhere = new SqliteMaintenance({ path: join(folder, "new", "vis.db") });
    assert.equal((await elsewhere.restore(copy)).keptAs, null);
    assert.deepEqual((await elsewhere.check()).problems, []);
  });
});

Deno.test("restore() refuses a damaged, foreign or newer file and the database itself, and changes no file", async () => {
  await withDatabasePath(async (path, folder) => {
    const { store, care } = await opened(path);
    await filled(store, "alpha");
    const { path: copy } = await care.backup(join(folder, "copy.db"));
    await store.close();
    const before = await readFile(path);
    const bytes = await readFile(copy);
    await writeFile(join(folder, "damaged.db"), bytes.fill(0xa5, bytes.length - 40_000, bytes.length - 20_000));
    const named = (name: string) => ({
      name,
      message: new RegExp(`(restore|database) ${folder}/(damaged|text)\\.db: `),
    });
    await assert.rejects(care.restore(join(folder, "damaged.db")), { ...named("StoreError"), code: "corrupt" });
    await writeFile(join(folder, "text.db"), "dear diary");
    await assert.rejects(care.restore(join(folder, "text.db")), named("UsageError"));
    await assert.rejects(care.restore(join(folder, "gone.db")), { name: "UsageError" });
    await assert.rejects(care.restore(path), { name: "UsageError", message: /it is the database itself/ });
    using db = new DatabaseSync(copy);
    db.exec("INSERT INTO schema_migration VALUES (99, 'V99__x.sql', '', 1)");
    await assert.rejects(care.restore(copy), { name: "StoreError", code: "newer" });
    assert.deepEqual(await readFile(path), before);
    assert.ok((await readdir(folder)).every((name) => !/restor|partial/.test(name)));
  });
});

Deno.test("check() finds nothing in a sound database with every encoding", async () => {
  await withDatabasePath(async (path) => {
    const { store, care } = await opened(path);
    await filled(store, "alpha");
    const kinds = encodings(path);
    assert.ok((kinds.raw ?? 0) > 5 && (kinds.chunks ?? 0) > 0 && (kinds.delta ?? 0) > 0, JSON.stringify(kinds));
    const report = await care.check();
    assert.deepEqual([report.problems, report.unused], [[], 0]);
    assert.equal(report.contents, Object.values(kinds).reduce((sum, n) => sum + n, 0));
    await store.close();
  });
});

for (
  const [what, sql, message] of [
    [
      "a raw content was changed",
      "UPDATE content SET bytes = zeroblob(9) WHERE rowid = 1",
      /content .* has changed since Vis stored it/,
    ],
    [
      "the base of a difference was changed",
      "UPDATE content SET bytes = zeroblob(length(bytes)) WHERE hash = (SELECT base FROM content WHERE base IS NOT NULL)",
      /has changed since Vis stored it/,
    ],
    [
      "a piece is missing",
      "DELETE FROM content WHERE hash = (SELECT json_extract(CAST(bytes AS TEXT), '$[0]') FROM content WHERE encoding = 'chunks')",
      /has changed since Vis stored it[^]*In .*, content is missing for \d+ reference/,
    ],
    [
      "a text is missing",
      "DELETE FROM content WHERE encoding = 'chunks'",
      /In expression_state\.result, content is missing for/,
    ],
    [
      "a row misses its parent",
      "DELETE FROM iteration",
      /In expression_state, the row of iteration is missing for \d+ row/,
    ],
    ["a trigger is gone", "DROP TRIGGER search_expr_insert", /The trigger search_expr_insert is missing/],
    [
      "an index is another one",
      "DROP INDEX idx_log_level; CREATE INDEX idx_log_level ON log (level)",
      /index idx_log_level differs/,
    ],
    ["the search index lost a row", "DELETE FROM search", /search index/],
  ] as const
) {
  Deno.test(`check() reports when ${what}`, async () => {
    await withDatabasePath(async (path) => {
      const { store, care } = await opened(path);
      await filled(store, "alpha");
      await store.close();
      const db = new DatabaseSync(path, { enableForeignKeyConstraints: false });
      db.exec(sql);
      db.close();
      assert.match((await care.check()).problems.join("\n"), message);
    });
  });
}

Deno.test("check() reports damaged pages instead of failing", async () => {
  await withDatabasePath(async (path) => {
    const { store, care } = await opened(path);
    await filled(store, "alpha");
    await store.close();
    const bytes = await readFile(path);
    await writeFile(path, bytes.fill(0xa5, bytes.length - 200_000, bytes.length - 100_000));
    assert.notDeepEqual((await care.check()).problems, []);
  });
});

Deno.test("stats() counts rows and bytes, and names the conversations with the most steps first", async () => {
  await withDatabasePath(async (path) => {
    const { store, care } = await opened(path);
    const { conversationId, branchId, queryId } = await filled(store, "alpha");
    await begun(store);
    await store.setTitle(branchId, "Older branch");
    await store.fork({ queryId, position: 0, title: "Newest branch" });
    const stats = await care.stats();
    assert.equal(stats.tables.find(({ table }) => table === "iteration")?.rows, 3);
    assert.ok(stats.tables.every(({ bytes }) => bytes > 0));
    assert.ok(!stats.tables.some(({ table }) => table.startsWith("search_") && table !== "search_entry"));
    assert.deepEqual(Object.fromEntries(stats.content.map(({ encoding, rows }) => [encoding, rows])), encodings(path));
    const [first, second] = stats.conversations;
    assert.deepEqual([first?.conversationId, first?.queries, first?.iterations], [conversationId, 1, 3]);
    const listed = await store.listConversations({ limit: 9 });
    assert.equal(first?.title, "Newest branch");
    assert.equal(listed.find((one) => one.conversationId === conversationId)?.title, first?.title);
    assert.ok((first?.bytes ?? 0) > 3 * 200_000 && (second?.bytes ?? -1) >= 0);
    assert.ok(stats.walBytes > 0 && stats.fileBytes > 0);
    await store.close();
  });
});

Deno.test("stats() and prune() count no child query as a request", async () => {
  await withDatabasePath(async (path) => {
    let time = Date.now();
    const { store, care } = await opened(path, () => time);
    const { branchId, conversationId, queryId } = await filled(store, "alpha");
    const [{ iterationId } = assert.fail()] = await store.iterations(queryId);
    const part = { branchId, iterationId, depth: 1, title: "part", images: [], copies: [] };
    const child = await store.createChildBranch(part);
    await store.endQuery(await store.beginQuery(newQuery(child.branchId, "child")), queryEnd({ answer: "one" }));
    await store.close();
    time += 1e9;
    const { conversations: [first] } = await care.stats();
    const { conversations: [idle] } = await care.prune({ before: time - 1, dryRun: true });
    for (const one of [first, idle]) {
      assert.deepEqual([one?.conversationId, one?.queries], [conversationId, 1]);
    }
  });
});

Deno.test("vacuum() keeps every row, value and hit, in a file of the same rights", async () => {
  await withDatabasePath(async (path, folder) => {
    const { store, care } = await opened(path);
    const { branchId, queryId } = await filled(store, "alpha");
    const gone = await filled(store, "gone");
    await store.log({ level: "info", event: "kept", data: { text: "x".repeat(3000) }, queryId });
    const read = async (from: Store) => [
      await from.iterations(queryId),
      await from.liveImages(branchId),
      await from.search("alpha", { limit: 50 }),
      await from.logs({ limit: 50 }),
    ];
    await store.deleteConversation(gone.conversationId);
    const before = await read(store);
    await store.close();
    await care.vacuum();
    assert.deepEqual(await readdir(folder), ["vis.db"]);
    if (Deno.build.os !== "windows") assert.equal((await stat(path)).mode & 0o777, 0o600);
    assert.deepEqual((await care.check()).problems, []);
    const again = await openStore({ path });
    assert.deepEqual(await read(again), before);
    await begun(again, { text: "alpha again" });
    assert.equal((await again.search("alpha again", { limit: 1 })).length, 1);
    await again.close();
  });
});

Deno.test("vacuum() is refused while another process has the database open", async () => {
  await withDatabasePath(async (path) => {
    const { store, care } = await opened(path);
    await assert.rejects(care.vacuum(), {
      name: "StoreError",
      code: "busy",
      message: /^Cannot vacuum .*another process/,
    });
    await begun(store);
    await store.close();
    await care.vacuum();
    await (await openStore({ path })).close();
  });
});

Deno.test("care of a folder names it", async () => {
  await withDatabasePath(async (_path, folder) => {
    await mkdir(join(folder, "db"));
    await assert.rejects(new SqliteMaintenance({ path: join(folder, "db") }).stats(), {
      name: "UsageError",
      message: /not a regular file/,
    });
  });
});
