import assert from "node:assert/strict";
import { readdir, stat } from "node:fs/promises";
import { DatabaseSync } from "node:sqlite";
import { withDatabasePath } from "../_temp_database.ts";
import { migrations } from "../../../migrations/mod.ts";
import { migrationFiles, migrationsModule, POSTGRES, postgresModule } from "../../../scripts/generate/migrations.ts";
import { StoreError } from "../../../src/domain/errors.ts";
import { openStore } from "../../../src/persistence/open_store.ts";
import { FORMER_FIRST, migrate, type MigrationFile } from "../../../src/persistence/sqlite/migrate.ts";

const N = migrations.length + 1;
const NEXT: MigrationFile = {
  version: N,
  name: `V${N}__more.sql`,
  sql: "CREATE TABLE more (a); INSERT INTO more VALUES (1);",
};
const CONVERSATION = "INSERT INTO conversation_soul (id, metadata, created_at) VALUES ('c', '{}', 1)";

async function run(db: DatabaseSync, files: readonly MigrationFile[], path = ":memory:"): Promise<void> {
  await migrate(db, files, { path, now: () => 77 });
}

function tables(db: DatabaseSync): string[] {
  return db.prepare("SELECT name FROM sqlite_master WHERE type = 'table'").all().map(({ name }) => String(name));
}

Deno.test("migrations/mod.ts is the output of scripts/generate/migrations.ts", async () => {
  const folder = new URL("../../../migrations/", import.meta.url);
  const expected = migrationsModule(await migrationFiles());
  assert.equal(
    await Deno.readTextFile(new URL("mod.ts", folder)),
    expected,
    "run bin/deno run -A scripts/generate/migrations.ts",
  );
  assert.equal(await Deno.readTextFile(new URL("mod.ts", POSTGRES)), postgresModule(await migrationFiles(POSTGRES)));
});

Deno.test("migrationsModule() orders by number and refuses a gap", () => {
  const files = (...names: readonly string[]) => new Map(names.map((name) => [name, "SELECT 1"]));
  const names = Array.from({ length: 10 }, (_, at) => `V${10 - at}__x.sql`);
  assert.match(migrationsModule(files(...names, "mod.ts", "notes.md")), /v9, [^]*v10, /);
  assert.throws(() => migrationsModule(files("V1__a.sql", "V3__b.sql")), /V3__b\.sql is not V2/);
  assert.throws(() => migrationsModule(files("V1__a.sql", "V1__b.sql")), /is not V2/);
});

Deno.test("migrate() makes the schema once and records it", async () => {
  using db = new DatabaseSync(":memory:");
  await run(db, migrations);
  await run(db, migrations);
  const rows = db.prepare("SELECT version, name, length(sha256) AS length, applied_at AS at FROM schema_migration")
    .all();
  const expected = migrations.map(({ version, name }) => ({ version, name, length: 64, at: 77 }));
  assert.deepEqual(rows.map((row) => ({ ...row })), expected);
});

Deno.test("migrate() refuses a file that was changed after it ran", async () => {
  using db = new DatabaseSync(":memory:");
  await run(db, migrations);
  const changed = migrations.map((file) => ({ ...file, sql: `${file.sql}-- changed` }));
  await assert.rejects(run(db, changed), {
    name: "StoreError",
    code: "unavailable",
    message: /V1__schema\.sql of its schema differs/,
  });
});

Deno.test("migrate() refuses a newer database and changes nothing", async () => {
  using db = new DatabaseSync(":memory:");
  await run(db, [...migrations, NEXT]);
  await assert.rejects(run(db, migrations, "/x/vis.db"), {
    name: "StoreError",
    code: "newer",
    message: `Cannot use database /x/vis.db: a newer Vis wrote it (schema V${N}, this Vis knows V${N - 1}); ` +
      "update Vis, or choose another file with --db",
  });
  assert.ok(tables(db).includes("more"));
});

Deno.test("migrate() refuses a database of another program", async () => {
  using db = new DatabaseSync(":memory:");
  db.exec("CREATE TABLE bookmarks (url)");
  await assert.rejects(run(db, migrations), { code: "unavailable", message: /belongs to another program/ });
  assert.deepEqual(tables(db), ["bookmarks"]);
});

for (
  const [what, sql] of [
    ["fails", "CREATE TABLE more (a); INSERT INTO nowhere VALUES (1)"],
    ["is truncated", "CREATE TABLE more (a); CREATE TRIGGER t AFTER INSERT ON more BEGIN SELECT"],
  ] as const
) {
  Deno.test(`migrate() rolls a file back that ${what}, and the old version continues`, async () => {
    await withDatabasePath(async (path) => {
      using db = new DatabaseSync(path);
      await run(db, migrations, path);
      db.exec(CONVERSATION);
      await assert.rejects(run(db, [...migrations, { ...NEXT, sql }], path), (error: Error) => {
        assert.equal(error.name, "StoreError");
        assert.match(
          error.message,
          new RegExp(
            `^Cannot migrate database .*vis\\.db to schema V${N}: V${N}__more\\.sql failed, and Vis undid its changes`,
          ),
        );
        assert.doesNotMatch(error.message, /nowhere|TRIGGER|near/);
        return true;
      });
      assert.equal(tables(db).includes("more"), false);
      await run(db, migrations, path);
      assert.equal(db.prepare("SELECT id FROM conversation_soul").get()?.id, "c");
      await run(db, [...migrations, NEXT], path);
      assert.ok(tables(db).includes("more"));
    });
  });
}

Deno.test("migrate() keeps a copy of a database with data, including its last writes", async () => {
  await withDatabasePath(async (path, folder) => {
    using db = new DatabaseSync(path);
    db.exec("PRAGMA journal_mode = WAL");
    await run(db, migrations, path);
    db.exec(CONVERSATION);
    await run(db, [...migrations, NEXT], path);
    using copy = new DatabaseSync(`${path}.before-V${N}`);
    assert.equal(copy.prepare("SELECT id FROM conversation_soul").get()?.id, "c");
    assert.equal(tables(copy).includes("more"), false);
    assert.equal((await stat(`${path}.before-V${N}`)).mode & 0o777, 0o600);
    assert.deepEqual((await readdir(folder)).filter((name) => name.includes("partial")), []);
  });
});

Deno.test("migrate() keeps no copy of an empty database", async () => {
  await withDatabasePath(async (path, folder) => {
    using db = new DatabaseSync(path);
    await run(db, migrations, path);
    await run(db, [...migrations, NEXT], path);
    assert.deepEqual(await readdir(folder), ["vis.db"]);
  });
});

Deno.test("an open store writes nothing more once a newer Vis has migrated its database", async () => {
  await withDatabasePath(async (path) => {
    const store = await openStore({ path });
    const facts = { title: "t", channel: "test", workspace: "/w" } as const;
    const { conversationId } = await store.createConversation(facts);
    using newer = new DatabaseSync(path);
    await run(newer, [...migrations, NEXT], path);
    await assert.rejects(store.createConversation(facts), (error: unknown) => {
      assert.ok(error instanceof StoreError, String(error));
      assert.equal(error.code, "newer");
      assert.ok(error.message.endsWith(`(schema V${N}, this Vis knows V${N - 1}); start again with the newer Vis`));
      return true;
    });
    const rows = newer.prepare("SELECT id FROM conversation_soul").all();
    assert.deepEqual(rows.map(({ id }) => id), [conversationId]);
    await store.close();
  });
});

Deno.test("migrate() refuses a database older than V10 and names a remedy", async () => {
  using db = new DatabaseSync(":memory:");
  await run(db, migrations);
  db.exec(`UPDATE schema_migration SET sha256 = '${FORMER_FIRST}';
    INSERT INTO schema_migration VALUES (9, 'V9__steered.sql', '', 1)`);
  await assert.rejects(run(db, migrations, "/x/vis.db"), {
    name: "StoreError",
    code: "unavailable",
    message:
      "Cannot use database /x/vis.db: an early version of Vis created it (schema V9); export its conversations with " +
      "that version (vis conversations export --format json), and import them into another file",
  });
});
