import assert from "node:assert/strict";
import { join } from "node:path";
import { firstEntries } from "../../../src/domain/kit/first_entries.ts";
import { withFolder } from "../../helpers/with_folder.ts";

for (const os of [Deno.build.os, "freebsd"] as const) {
  Deno.test(`firstEntries() lists a folder with the kinds of its entries, and no more than it is asked for (${os})`, () =>
    withFolder(async (folder) => {
      await Deno.mkdir(join(folder, "sub"));
      await Deno.writeTextFile(join(folder, "ä.txt"), "");
      if (Deno.build.os !== "windows") await Deno.symlink("nowhere", join(folder, "link"));
      const { entries, hasMore } = await firstEntries(folder, { most: 10, os });
      const kinds = entries.map((one) => `${one.name} ${one.isDirectory ? "d" : one.isFile ? "f" : "l"}`).sort();
      assert.deepEqual(kinds.filter((one) => one !== "link l"), ["sub d", "ä.txt f"]);
      assert.equal(hasMore, false);
      assert.deepEqual((await firstEntries(folder, { most: entries.length, os })).hasMore, false);
      for (let at = 0; at < 3_000; at++) await Deno.writeTextFile(join(folder, `${"long ".repeat(20)}${at}`), "");
      const first = await firstEntries(folder, { most: 2_000, os });
      assert.deepEqual([first.entries.length, first.hasMore], [2_000, true]);
      const all = await firstEntries(folder, { most: 10_000, os });
      assert.equal(new Set(all.entries.map(({ name }) => name)).size, 3_000 + entries.length);
      assert.equal(all.hasMore, false);
    }));

  Deno.test(`firstEntries() says why a folder cannot be listed (${os})`, () =>
    withFolder(async (folder) => {
      await assert.rejects(firstEntries(join(folder, "none"), { most: 1, os }), Deno.errors.NotFound);
      await Deno.writeTextFile(join(folder, "a"), "");
      await assert.rejects(firstEntries(join(folder, "a"), { most: 1, os }), Deno.errors.NotADirectory);
    }));
}
