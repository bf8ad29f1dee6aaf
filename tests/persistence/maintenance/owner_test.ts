/** If root runs Vis, the files in the home of a service still belong to that service. */
import assert from "node:assert/strict";
import { chmod, chown, readdir, rm, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import { filled, opened } from "../_filled.ts";
import { withDatabasePath } from "../_temp_database.ts";
import { writeConfigFile } from "../../../src/app/settings/settings_files.ts";
import { ensureFolder, replaceFile } from "../../../src/domain/kit/files.ts";
import { openStore } from "../../../src/persistence/open_store.ts";
import { SqliteMaintenance } from "../../../src/persistence/sqlite/maintenance.ts";
import { Credentials } from "../../../src/providers/credentials.ts";

const SERVICE = { uid: 12_345, gid: 12_346 };
const asRoot = { ignore: Deno.build.os === "windows" || Deno.uid() !== 0 };

async function foreign(folder: string): Promise<readonly string[]> {
  const names = await readdir(folder, { recursive: true });
  const owners = await Promise.all(names.map(async (name) => ({ name, ...await stat(join(folder, name)) })));
  return owners.filter(({ uid, gid }) => uid !== SERVICE.uid || gid !== SERVICE.gid).map(({ name }) => name);
}

async function give(...paths: readonly string[]): Promise<void> {
  for (const path of paths) await chown(path, SERVICE.uid, SERVICE.gid);
}

Deno.test({
  name: "restore(), vacuum(), backup() and a new database keep the owner, the group and the mode",
  ...asRoot,
  fn: () =>
    withDatabasePath(async (path, folder) => {
      await give(folder);
      const { store, care } = await opened(path);
      assert.deepEqual(await foreign(folder), []);
      await filled(store, "alpha");
      const { path: copy } = await care.backup(join(folder, "copy.db"));
      await store.close();
      await chmod(path, 0o640);
      await care.restore(copy);
      assert.equal((await stat(path)).mode & 0o777, 0o640);
      await care.vacuum();
      assert.equal((await stat(path)).mode & 0o777, 0o640);
      await care.prune({ before: 0, dryRun: false });
      await care.check();
      await rm(path);
      await care.restore(copy);
      assert.equal((await stat(path)).mode & 0o777, 0o600);
      await (await openStore({ path })).close();
      assert.deepEqual(await foreign(folder), []);
    }),
});

Deno.test({
  name: "a backup belongs to the owner of the database, wherever it is",
  ...asRoot,
  fn: () =>
    withDatabasePath(async (path, folder) => {
      const { store, care } = await opened(path);
      await filled(store, "alpha");
      await store.close();
      await give(path);
      const { path: copy } = await care.backup(join(folder, "copy.db"));
      const { uid, gid, mode } = await stat(copy);
      assert.deepEqual({ uid, gid, mode: mode & 0o777 }, { ...SERVICE, mode: 0o600 });
      await give(folder);
      const other = new SqliteMaintenance({ path: join(folder, "new", "vis.db") });
      await other.restore(copy);
      assert.deepEqual(await foreign(folder), []);
    }),
});

Deno.test({
  name: "settings, keys and folders that root makes in a home belong to its owner, and a replaced file keeps its owner",
  ...asRoot,
  fn: () =>
    withDatabasePath(async (_path, folder) => {
      await give(folder);
      await writeConfigFile(join(folder, "deep", "config.jsonc"), { text: "{}", follow: true });
      await new Credentials(join(folder, "keys", "auth.json")).set("local", { type: "key", key: "k" });
      await ensureFolder(join(folder, "a", "b", "c"));
      assert.deepEqual(await foreign(folder), []);
      const kept = join(folder, "a", "kept");
      await replaceFile(kept, "one");
      await chown(kept, 7, 8);
      await replaceFile(kept, "two");
      const { uid, gid } = await stat(kept);
      assert.deepEqual({ uid, gid }, { uid: 7, gid: 8 });
      await chown(dirname(kept), 0, 0);
      await replaceFile(join(folder, "a", "own"), "three");
      assert.equal((await stat(join(folder, "a", "own"))).uid, 0);
    }),
});
