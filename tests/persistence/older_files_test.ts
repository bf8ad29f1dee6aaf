/** Opens databases of earlier versions of the program. Each gets the schema of a new one, and reads the same. */
import assert from "node:assert/strict";
import { writeFile } from "node:fs/promises";
import { DatabaseSync } from "node:sqlite";
import { migrations } from "../../migrations/mod.ts";
import { openStore } from "../../src/persistence/open_store.ts";
import { SqliteMaintenance } from "../../src/persistence/sqlite/maintenance.ts";
import { migrate, schemaObjects } from "../../src/persistence/sqlite/migrate.ts";
import { runs } from "../helpers/long_part.ts";
import { readsAs, unpacked } from "./_former.ts";
import { withDatabasePath } from "./_temp_database.ts";

function schemaIn(db: DatabaseSync) {
  const versions = db.prepare("SELECT version, name, sha256 FROM schema_migration").all().map((row) => ({ ...row }));
  return { objects: schemaObjects(db), versions };
}

for (const version of [12, 11, 10].slice(0, runs(1, 3))) {
  Deno.test(`a file of the former schema V${version} becomes one of V1, and its copy can be restored`, () =>
    withDatabasePath(async (path) => {
      await writeFile(path, await unpacked(`v${version}.db`));
      const store = await openStore({ path });
      await readsAs(store, `v${version}`);
      await store.close();
      using upgraded = new DatabaseSync(path), made = new DatabaseSync(":memory:");
      await migrate(made, migrations, { path: ":memory:", now: () => 1 });
      assert.deepEqual(schemaIn(upgraded), schemaIn(made));
      upgraded.close();
      const care = new SqliteMaintenance({ path });
      const { problems, unused } = await care.check();
      assert.deepEqual([problems, unused], [[], 0]);
      assert.equal((await care.restore(`${path}.before-V1`)).schemaVersion, version);
      assert.deepEqual((await care.check()).problems, []);
      const again = await openStore({ path });
      await readsAs(again, `v${version}`);
      await again.close();
    }));
}

Deno.test("a damaged file of a former schema is refused with a remedy, and stays unchanged", () =>
  withDatabasePath(async (path) => {
    const bytes = await unpacked("v12.db");
    // This byte of a page in the middle determines its kind.
    const page = new DataView(bytes.buffer, bytes.byteOffset).getUint16(16);
    bytes.fill(0xff, page * 20, page * 20 + 8);
    await writeFile(path, bytes);
    await assert.rejects(openStore({ path }), /is damaged, and Vis upgrades only an undamaged database/);
    assert.deepEqual(await Deno.readFile(path), new Uint8Array(bytes));
  }));
