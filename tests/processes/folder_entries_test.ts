import assert from "node:assert/strict";
import { join } from "node:path";
import {
  entryFacts,
  folderEntries,
  keptStampOf,
  removeTree,
  stampOf,
  TooMuchToRemove,
} from "../../src/processes/folder_entries.ts";
import { missing, place } from "./_place.ts";
import { runs } from "../helpers/long_part.ts";
import { until } from "../helpers/until.ts";
import { withFolder } from "../helpers/with_folder.ts";

const ignore = Deno.build.os !== "linux";
const deep = (levels: number): string =>
  `import os\nfor _ in range(${levels}): os.mkdir('a'); os.chdir('a')\nopen('f', 'w')\n`;

const namesIn = (folder: string): string[] => [...Deno.readDirSync(folder)].map(({ name }) => name).sort();

async function run(cwd: string, ...argv: readonly string[]): Promise<void> {
  const [program = "", ...args] = argv;
  const { success, stderr } = await new Deno.Command(program, { args, cwd }).output();
  assert.ok(success, new TextDecoder().decode(stderr));
}

Deno.test("removeTree() removes thousands of folders in each other, locked ones, any names, and no target of a link", {
  ignore,
}, async () => {
  await withFolder(async (folder) => {
    const [top, beside] = [join(folder, "top"), join(folder, "beside")];
    for (const path of [top, beside]) await Deno.mkdir(path);
    await Deno.writeTextFile(join(beside, "kept"), "");
    await run(top, "python3", "-c", deep(runs(2_500, 8_000)));
    const odd =
      "mkdir -p b/c d/.moved-0 .moved-1/x; touch \"b/$(printf '\\377')\" b/c/f; ln -s ../beside d/.moved-0/link";
    await run(top, "sh", "-c", `${odd}; mkfifo b/fifo; chmod 0 b/c b`);
    await removeTree(top);
    assert.deepEqual(namesIn(folder), ["beside"]);
    await removeTree(top);
    await Deno.symlink(beside, top);
    await removeTree(top);
    assert.deepEqual([namesIn(folder), namesIn(beside)], [["beside"], ["kept"]]);
  });
});

Deno.test("removeTree() leaves long removals to other runs", { ignore }, async () => {
  await withFolder(async (folder) => {
    await run(folder, "sh", "-c", "mkdir many; cd many; seq 3000 | xargs touch");
    await assert.rejects(removeTree(join(folder, "many"), { most: 2999 }), TooMuchToRemove);
    await removeTree(join(folder, "many"), { most: 3000 });
    await run(folder, "sh", "-c", "mkdir large; truncate -s 2G large/file");
    await assert.rejects(removeTree(join(folder, "large"), { most: 10 }), TooMuchToRemove);
    assert.deepEqual(namesIn(folder), ["large"]);
  });
});

Deno.test("LinuxWall.spawn() works after a command left a deep tree", { ignore: missing !== "" }, async () => {
  await place(async ({ wall, workspace, root }) => {
    const command = ["/bin/sh", "-c", `cd $TMPDIR; python3 -c "${deep(2_100)}"`];
    assert.deepEqual((await wall.spawn(workspace, command)).notes, []);
    assert.deepEqual(namesIn(join(root, "temporary")), []);
  });
});

Deno.test("folderEntries() and entryFacts() find the same on every system", { ignore }, async () => {
  await withFolder(async (folder) => {
    for (const name of ["a.env", "b.txt", "ü.env"]) await Deno.writeTextFile(join(folder, name), "");
    await Deno.mkdir(join(folder, "sub"));
    await Deno.symlink("sub", join(folder, "link.env"));
    const wanted = (_first: number, last: number): boolean => last === "v".charCodeAt(0);
    const found = (os: typeof Deno.build.os, most = 10) =>
      [...folderEntries(folder, { most, wanted, os })].map(({ name, isFolder }) => `${name} ${isFolder}`).sort();
    assert.deepEqual(found("linux"), ["a.env false", "link.env false", "sub true", "ü.env false"]);
    for (const os of ["darwin", "windows"] as const) {
      assert.deepEqual(found(os), found("linux"), os);
      assert.ok(found(os, 2).length <= 2);
      assert.deepEqual([...folderEntries(join(folder, "none"), { most: 1, wanted, os })], []);
      await Deno.utime(folder, 1, 1);
      const stamp = (): string | undefined => entryFacts(folder, { os })?.stamp;
      const before = stamp();
      assert.equal(stamp(), before);
      await Deno.writeTextFile(join(folder, `new-${os}`), "");
      assert.notEqual(stamp(), before);
      assert.equal(entryFacts(join(folder, "a.env"), { os })?.isFolder, false);
    }
  });
});

Deno.test("a stamp is kept only once another change must show in it", { ignore }, async () => {
  await withFolder(async (folder) => {
    const path = join(folder, "a");
    await Deno.writeTextFile(path, "");
    const changed = (await Deno.stat(path)).ctime?.getTime() ?? 0;
    assert.equal(keptStampOf(path, changed), null);
    assert.equal(keptStampOf(path, changed + 10), null);
    assert.equal(keptStampOf(path, changed + 2_000), stampOf(path));
    for (const os of ["linux", "darwin"] as const) {
      const { ctime } = await Deno.stat(folder), since = ctime?.getTime() ?? 0;
      assert.equal(entryFacts(folder, { os, since })?.isFresh, true);
      assert.equal(entryFacts(folder, { os, since: since + 2_000 })?.isFresh, false);
    }
  });
});

Deno.test(
  "LinuxWall.spawn() does not wait until a very large folder is removed",
  { ignore: missing !== "" },
  async () => {
    await place(async ({ wall, workspace, root }) => {
      const command = "cd $TMPDIR; git init -q a; mkdir b; cd b; seq 25000 | xargs touch; chmod 0 ../b";
      assert.equal((await wall.spawn(workspace, ["/bin/sh", "-c", command])).code, 0);
      await until(() => namesIn(join(root, "temporary")).length === 0);
    });
  },
);

Deno.test("folderEntries() gives way after a number of names, wanted or not", { ignore }, async () => {
  await withFolder(async (folder) => {
    await run(folder, "sh", "-c", "mkdir a; seq 1999 | xargs touch");
    for (const os of ["linux", "darwin"] as const) {
      const names = [...folderEntries(folder, { most: 5_000, wanted: () => false, beat: 500, os })].map(({ name }) =>
        name
      );
      assert.deepEqual(names.sort(), ["", "", "", "", "a"]);
    }
  });
});
