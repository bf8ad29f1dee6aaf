import assert from "node:assert/strict";
import { join } from "node:path";
import { writeConfigFile } from "../../../src/app/settings/settings_files.ts";
import { ConfigError } from "../../../src/domain/errors.ts";
import { withFolder } from "../../helpers/with_folder.ts";

Deno.test("writeConfigFile() keeps the permissions of a file, and makes a new one private to its owner", () =>
  withFolder(async (folder) => {
    const path = join(folder, "new/config.jsonc");
    await writeConfigFile(path, { text: "{}", follow: true });
    assert.equal(((await Deno.stat(path)).mode ?? 0) & 0o777, 0o600);
    await Deno.chmod(path, 0o640);
    await writeConfigFile(path, { text: "{ }", follow: true });
    assert.equal(((await Deno.stat(path)).mode ?? 0) & 0o777, 0o640);
    assert.equal(await Deno.readTextFile(path), "{ }");
  }));

Deno.test("writeConfigFile() follows a link only if that was requested", () =>
  withFolder(async (folder) => {
    const target = join(folder, "target"), link = join(folder, "link");
    await Deno.writeTextFile(target, "old");
    await Deno.symlink(target, link);
    await writeConfigFile(link, { text: "one", follow: true });
    assert.deepEqual([await Deno.readTextFile(target), (await Deno.lstat(link)).isSymlink], ["one", true]);
    await writeConfigFile(link, { text: "two", follow: false });
    assert.deepEqual([await Deno.readTextFile(target), (await Deno.lstat(link)).isSymlink], ["one", false]);
  }));

Deno.test("writeConfigFile() leaves the old file and no draft if it fails", () =>
  withFolder(async (folder) => {
    await Deno.mkdir(join(folder, "taken/config.jsonc"), { recursive: true });
    await Deno.writeTextFile(join(folder, "taken/config.jsonc/inside"), "");
    const failed = writeConfigFile(join(folder, "taken/config.jsonc"), { text: "x", follow: true });
    await assert.rejects(failed, ConfigError);
    assert.deepEqual((await Array.fromAsync(Deno.readDir(join(folder, "taken")))).map(({ name }) => name), [
      "config.jsonc",
    ]);
  }));
