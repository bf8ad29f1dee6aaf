import assert from "node:assert/strict";
import { open, stat } from "node:fs/promises";
import { DatabaseSync } from "node:sqlite";
import { filled, opened } from "../_filled.ts";
import { withDatabasePath } from "../_temp_database.ts";
import { SqliteMaintenance } from "../../../src/persistence/sqlite/maintenance.ts";
import { tableRows } from "../../../src/persistence/sqlite/connection.ts";

const PAGE = 4096;

/** Overwrites the page in the middle of a table with bytes that are not a valid page of SQLite. */
async function damageMiddle(path: string, table: string): Promise<void> {
  const db = new DatabaseSync(path);
  const pages = db.prepare("SELECT pageno FROM dbstat WHERE name = ? AND pagetype = 'leaf' ORDER BY pageno").all(table);
  db.close();
  const file = await open(path, "r+");
  const page = Number(pages[Math.floor(pages.length / 2)]?.pageno);
  await file.write(new Uint8Array(PAGE).fill(0xa5), 0, PAGE, (page - 1) * PAGE);
  await file.close();
}

Deno.test("tableRows() gives every row once, in order, with integers that no number can hold", () => {
  using db = new DatabaseSync(":memory:");
  db.exec("CREATE TABLE t (a, b)");
  const insert = db.prepare("INSERT INTO t (rowid, a, b) VALUES (?, ?, ?)");
  const places = [-5n, 0n, 1n, 7n, 2n ** 62n];
  for (const place of places) insert.run(place, place, place % 2n === 0n ? "even" : null);
  const rows = [...tableRows(db, { table: "t", columns: "a, b" })];
  assert.deepEqual(rows.map(({ place, a }) => [place, a]), places.map((place) => [place, place]));
  assert.deepEqual([...tableRows(db, { table: "t", columns: "a", where: "b = 'even'" })].map(({ a }) => a), [
    0n,
    2n ** 62n,
  ]);
});

Deno.test("tableRows() throws at a damaged page and where a function throws, and never ends early", async () => {
  await withDatabasePath(async (path) => {
    const db = new DatabaseSync(path);
    db.exec("CREATE TABLE t (a INTEGER PRIMARY KEY, b)");
    const insert = db.prepare("INSERT INTO t (b) VALUES (?)");
    for (let at = 0; at < 500; at++) insert.run(new Uint8Array(1000).fill(at));
    db.close();
    await damageMiddle(path, "t");
    using damaged = new DatabaseSync(path);
    assert.throws(() => [...tableRows(damaged, { table: "t", columns: "b" })], /malformed/);
  });
  using db = new DatabaseSync(":memory:");
  db.exec("CREATE TABLE t (a); INSERT INTO t VALUES (1), (2), (3)");
  db.function("picky", (a) => {
    if (a === 2) throw new Error("not this one");
    return a;
  });
  assert.throws(() => [...tableRows(db, { table: "t", columns: "picky(a)" })], /not this one/);
});

for (const table of ["content", "log", "iteration"]) {
  Deno.test(`check() names a damaged page of ${table}, and vacuum() makes no database without its rows`, async () => {
    await withDatabasePath(async (path) => {
      const { store } = await opened(path);
      for (let at = 0; at < 4; at++) await filled(store, `name${at}`);
      await store.log(
        ...Array.from({ length: 300 }, (_, at) => ({ level: "info", event: "e", data: { at } }) as const),
      );
      await store.close();
      await damageMiddle(path, table);
      const { size } = await stat(path);
      const care = new SqliteMaintenance({ path });
      assert.notDeepEqual((await care.check()).problems, []);
      await assert.rejects(care.vacuum(), { name: "StoreError", code: "corrupt" });
      assert.equal((await stat(path)).size, size);
    });
  });
}

Deno.test("check() names a table that was dropped, whichever it is", async () => {
  await withDatabasePath(async (path) => {
    const { store, care } = await opened(path);
    await filled(store, "alpha");
    await store.close();
    const tables = (): readonly string[] => {
      using db = new DatabaseSync(path);
      return db.prepare(
        `SELECT name FROM pragma_table_list WHERE schema = 'main' AND type IN ('table', 'virtual')
         AND name NOT LIKE 'sqlite%' AND name <> 'schema_migration'`,
      ).all().map(({ name }) => String(name));
    };
    const all = tables();
    assert.ok(all.length > 15, String(all));
    const whole = await Deno.readFile(path);
    for (const table of all) {
      await Deno.writeFile(path, whole);
      const db = new DatabaseSync(path, { enableForeignKeyConstraints: false });
      db.exec(`DROP TABLE ${table}`);
      db.close();
      const { problems } = await care.check();
      assert.ok(problems.includes(`The table ${table} is missing`), `${table}: ${problems.join("\n")}`);
    }
  });
});
