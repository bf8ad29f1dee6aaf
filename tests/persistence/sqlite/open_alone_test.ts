import assert from "node:assert/strict";
import { DatabaseSync } from "node:sqlite";
import { openAlone } from "../../../src/persistence/sqlite/open_database.ts";
import { openStore } from "../../../src/persistence/open_store.ts";
import { withDatabasePath } from "../_temp_database.ts";

Deno.test("openAlone() lets no other connection begin, also in a database without a log", async () => {
  await withDatabasePath(async (path) => {
    await (await openStore({ path })).close();
    for (const mode of ["WAL", "DELETE"]) {
      const before = new DatabaseSync(path);
      before.exec(`PRAGMA journal_mode = ${mode}`);
      before.close();
      const alone = openAlone(path);
      assert.ok(alone);
      const other = new DatabaseSync(path, { timeout: 0 });
      assert.throws(() => other.exec("PRAGMA journal_mode = WAL; SELECT * FROM content"), /locked/);
      assert.equal(openAlone(path), null);
      alone.exec("BEGIN IMMEDIATE; DELETE FROM claim; COMMIT");
      alone.close();
      other.exec("BEGIN; SELECT * FROM content");
      assert.equal(openAlone(path), null);
      other.close();
    }
  });
});
