import assert from "node:assert/strict";
import { DatabaseSync } from "node:sqlite";
import { headerDamage } from "../../../src/persistence/sqlite/open_database.ts";
import { runs } from "../../helpers/long_part.ts";

const ROUNDS = runs(60, 300);

Deno.test("headerDamage() takes a database that is being made for no damaged one", async () => {
  const folder = await Deno.makeTempDir();
  try {
    for (let round = 0; round < ROUNDS; round++) {
      const path = `${folder}/${round}.db`;
      await Deno.writeFile(path, new Uint8Array());
      const db = new DatabaseSync(path);
      db.exec("PRAGMA journal_mode = WAL");
      const looked = Promise.all(Array.from({ length: 4 }, () => headerDamage(path)));
      if (round % 3 > 0) await new Promise((resolve) => setImmediate(resolve));
      db.exec("CREATE TABLE conversation_soul (id TEXT); PRAGMA wal_checkpoint(TRUNCATE)");
      db.close();
      assert.deepEqual(await looked, [null, null, null, null]);
    }
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});

Deno.test("headerDamage() names a header that is another one than SQLite wrote", async () => {
  const folder = await Deno.makeTempDir();
  try {
    const path = `${folder}/vis.db`;
    const db = new DatabaseSync(path);
    db.exec("PRAGMA journal_mode = WAL; CREATE TABLE conversation_soul (id TEXT)");
    db.close();
    assert.equal(await headerDamage(path), null);
    const bytes = await Deno.readFile(path);
    bytes[47] = 6;
    await Deno.writeFile(path, bytes);
    assert.equal(await headerDamage(path), "the schema format in its header is not 4");
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});
