/** Files that earlier versions of the program made: each opens, is brought to the newest schema, and reads the same. */
import assert from "node:assert/strict";
import { readFile, writeFile } from "node:fs/promises";
import { gunzipSync } from "node:zlib";
import { openStore } from "../../src/persistence/open_store.ts";
import { SqliteMaintenance } from "../../src/persistence/maintenance/sqlite_maintenance.ts";
import { archiveTextOf } from "../helpers/archive_of.ts";
import { withDatabasePath } from "./_temp_database.ts";

async function unpacked(name: string): Promise<Uint8Array> {
  return gunzipSync(await readFile(new URL(`fixtures/${name}.gz`, import.meta.url)));
}

// `v<n>.db` is of schema n; `v<n>.json` is what the program that made it exported from it.
for (const version of ["v10", "v11"]) {
  Deno.test(`a database of schema ${version} gives the archive that its own program gave, and is sound`, () =>
    withDatabasePath(async (path) => {
      await writeFile(path, await unpacked(`${version}.db`));
      const store = await openStore({ path });
      const [conversation] = await store.listConversations({ limit: 2 });
      const { conversationId = "", branchId = "" } = conversation ?? {};
      const known = new TextDecoder().decode(await unpacked(`${version}.json`));
      assert.deepEqual(JSON.parse(await archiveTextOf(store, conversationId)), JSON.parse(known));
      assert.equal((await store.queries(branchId)).length, 4);
      assert.deepEqual(
        (await store.liveImages(branchId)).length,
        (await store.variables(branchId)).filter(
          ({ scope }) => scope === "live",
        ).length,
      );
      assert.equal((await store.search("mentioned", { limit: 1 })).length, 1);
      await store.close();
      const { problems, unused } = await new SqliteMaintenance({ path }).check();
      assert.deepEqual([problems, unused], [[], 0]);
    }));
}
