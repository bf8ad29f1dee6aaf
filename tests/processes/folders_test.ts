import assert from "node:assert/strict";
import { join } from "node:path";
import { folderEntries, folderNames, folderStamp, removeTree, TooManyNames } from "../../src/processes/folders.ts";
import { missing, place } from "./_place.ts";
import { withFolder } from "../helpers/with_folder.ts";

const ignore = Deno.build.os !== "linux";
const deep = (levels: number): string =>
  `import os\nfor _ in range(${levels}): os.mkdir('a'); os.chdir('a')\nopen('f', 'w')\n`;

async function run(cwd: string, ...argv: readonly string[]): Promise<void> {
  const [program = "", ...args] = argv;
  const { success, stderr } = await new Deno.Command(program, { args, cwd }).output();
  assert.ok(success, new TextDecoder().decode(stderr));
}

Deno.test("removeTree() removes 8000 folders in each other, locked ones, any names, and no target of a link", {
  ignore,
}, async () => {
  await withFolder(async (folder) => {
    const [top, beside] = [join(folder, "top"), join(folder, "beside")];
    for (const path of [top, beside]) await Deno.mkdir(path);
    await Deno.writeTextFile(join(beside, "kept"), "");
    await run(top, "python3", "-c", deep(8_000));
    const odd =
      "mkdir -p b/c d/.moved-0 .moved-1/x; touch \"b/$(printf '\\377')\" b/c/f; ln -s ../beside d/.moved-0/link";
    await run(top, "sh", "-c", `${odd}; mkfifo b/fifo; chmod 0 b/c b`);
    await removeTree(top);
    assert.deepEqual(await folderNames(folder, 10), ["beside"]);
    await removeTree(top);
    await Deno.symlink(beside, top);
    await removeTree(top);
    assert.deepEqual([await folderNames(folder, 10), await folderNames(beside, 10)], [["beside"], ["kept"]]);
  });
});

Deno.test("folderNames() lists no more names than are wanted", { ignore }, async () => {
  await withFolder(async (folder) => {
    await run(folder, "sh", "-c", "seq 3000 | xargs touch");
    assert.equal((await folderNames(folder, 3000)).length, 3000);
    await assert.rejects(folderNames(folder, 2999), TooManyNames);
    await assert.rejects(folderNames(join(folder, "none"), 1), Deno.errors.NotFound);
  });
});

Deno.test("ProcessWall.spawn() goes on after a command left a deep tree", { ignore: missing !== "" }, async () => {
  await place(async ({ wall, workspace, root }) => {
    const command = ["/bin/sh", "-c", `cd $TMPDIR; python3 -c "${deep(2_100)}"`];
    assert.deepEqual((await wall.spawn(workspace, command)).notes, []);
    assert.deepEqual(await folderNames(join(root, "temporary"), 10), []);
  });
});

Deno.test("folderEntries() and folderStamp() find the same on every system", { ignore }, async () => {
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
      const before = folderStamp(folder, { os });
      assert.equal(folderStamp(folder, { os }), before);
      await Deno.writeTextFile(join(folder, `new-${os}`), "");
      assert.notEqual(folderStamp(folder, { os }), before);
      assert.equal(folderStamp(join(folder, "a.env"), { os }), null);
    }
  });
});
