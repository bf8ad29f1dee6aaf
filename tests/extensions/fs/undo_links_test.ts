import assert from "node:assert/strict";
import { join } from "node:path";
import { FsPlaces } from "../../../extensions/fs/fs_places.ts";
import { Kernel } from "../../../extensions/fs/tree/kernel.ts";
import { undoCli } from "../../../extensions/fs/undo_cli.ts";
import { Workspace } from "./_workspace.ts";

const ignore = Kernel.shared() === null;

/** Makes files `a` and `b`, which are hard links to one file. */
async function linked(): Promise<Workspace> {
  const workspace = await Workspace.with({ a: "old\n" });
  await Deno.link(join(workspace.root, "a"), join(workspace.root, "b"));
  return workspace;
}

async function texts(workspace: Workspace): Promise<Record<string, string>> {
  const entries = await Array.fromAsync(Deno.readDir(workspace.root));
  const names = entries.filter(({ isFile }) => isFile).map(({ name }) => name).sort();
  return Object.fromEntries(await Promise.all(names.map(async (name) => [name, await workspace.text(name)])));
}

async function run(workspace: Workspace, program: string, ...args: readonly string[]): Promise<string> {
  const { success, stdout } = await new Deno.Command(program, { args: [...args], cwd: workspace.root }).output();
  assert.ok(success);
  return new TextDecoder().decode(stdout);
}

async function inode(workspace: Workspace, name: string): Promise<number | null> {
  return (await Deno.stat(join(workspace.root, name))).ino;
}

function renaming(hunks: string): string {
  return `diff --git a/b b/in/c\nsimilarity index 50%\nrename from b\nrename to in/c\n${hunks}`;
}

type Call = readonly [name: string, ...args: readonly unknown[]];

const CASES: Readonly<Record<string, readonly Call[]>> = {
  "a move": [["move", "b", "c"]],
  "a patch that renames": [["patch", renaming("")]],
  "a patch that renames and changes": [["patch", renaming("--- a/b\n+++ b/in/c\n@@ -1 +1 @@\n-old\n+new\n")]],
  "a write and a move of the same name": [["writeFile", "b", "2\n"], ["move", "b", "c"]],
  "a move and a write of the new name": [["move", "b", "c"], ["writeFile", "c", "2\n"]],
  "a write and a move of the other name": [["writeFile", "a", "1\n"], ["move", "b", "c"]],
  "writes of both names": [["writeFile", "a", "1\n"], ["writeFile", "b", "2\n"]],
  "writes and two moves": [["writeFile", "a", "1\n"], ["move", "b", "c"], ["writeFile", "c", "2\n"], [
    "move",
    "c",
    "e",
  ]],
  "edits of both names at once": [["edit", [{ path: "a", old: "old", new: "1" }, { path: "b", old: "old", new: "2" }]]],
};

for (const [name, calls] of Object.entries(CASES)) {
  Deno.test(`fs.undo() of ${name} restores both names as one file, and a redo repeats it`, { ignore }, async () => {
    await using workspace = await linked();
    const before = await inode(workspace, "a");
    for (const call of calls) await workspace.call(...call as [string, ...unknown[]]);
    const made = await workspace.text("a");
    const told = await workspace.call("undo", { steps: calls.length });
    assert.deepEqual(told.filter((one: object) => "kept" in one), []);
    assert.deepEqual(await texts(workspace), { a: "old\n", b: "old\n" });
    assert.deepEqual([await inode(workspace, "a"), await inode(workspace, "b")], [before, before]);
    const again = await workspace.call("undo", { redo: true });
    assert.deepEqual(again.filter((one: object) => "kept" in one), []);
    assert.equal(await workspace.text("a"), made);
    await workspace.call("undo", { steps: calls.length });
    assert.deepEqual(await texts(workspace), { a: "old\n", b: "old\n" });
    assert.deepEqual([await inode(workspace, "a"), await inode(workspace, "b")], [before, before]);
  });
}

Deno.test("fs.undo() of writing one name of a file and removing the other restores the text of both", async () => {
  await using workspace = await linked();
  await workspace.call("writeFile", "a", "1\n");
  await workspace.call("remove", "b");
  await workspace.call("writeFile", "a", "2\n");
  workspace.notes.length = 0;
  await workspace.call("undo", { steps: 3 });
  assert.deepEqual(await texts(workspace), { a: "old\n", b: "old\n" });
  assert.deepEqual(workspace.notes, ["b was one of several names of a file (hard links); it is a file of its own now"]);
});

Deno.test("fs.undo() keeps both names of a file that another program changed, and reports it", async () => {
  await using workspace = await linked();
  await workspace.call("writeFile", "a", "1\n");
  await workspace.call("writeFile", "b", "2\n");
  await workspace.put("a", "mine\n");
  assert.match(await workspace.refusal("undo", { steps: 2 }), /^Cannot undo: a, b got other changes since/);
  assert.deepEqual(await texts(workspace), { a: "mine\n", b: "mine\n" });
});

Deno.test("fs.undo() reports that a file which became another one's name shares its content", async () => {
  await using workspace = await Workspace.with({ a: "old\n" });
  await workspace.call("writeFile", "a", "1\n");
  await Deno.link(join(workspace.root, "a"), join(workspace.root, "b"));
  await workspace.call("writeFile", "b", "2\n");
  const told = await workspace.call("undo", { steps: 2 });
  assert.deepEqual(told.map(({ path, kept }: { path: string; kept?: string }) => [path, kept]), [
    ["b", undefined],
    ["a", "shares its content with b by a hard link"],
  ]);
  assert.deepEqual(await texts(workspace), { a: "1\n", b: "1\n" });
});

Deno.test(
  "fs.undo() of a move keeps the extended attributes of a file, also where it was written",
  { ignore },
  async () => {
    await using workspace = await Workspace.with({ "in/a": "old\n" });
    await run(workspace, "setfattr", "-n", "user.k", "-v", "v", "in/a");
    await workspace.call("move", "in/a", "b");
    await workspace.call("undo");
    assert.match(await run(workspace, "getfattr", "-d", "in/a"), /user\.k="v"/);
    await workspace.call("writeFile", "in/a", "1\n");
    await workspace.call("move", "in", "out");
    await workspace.call("undo", { steps: 2 });
    assert.equal(await workspace.text("in/a"), "old\n");
    assert.deepEqual(await workspace.names(), ["in"]);
    assert.match(await run(workspace, "getfattr", "-d", "in/a"), /user\.k="v"/);
  },
);

Deno.test("fs.undo() of a removal restores the access list and extended attributes of a file", { ignore }, async () => {
  await using workspace = await Workspace.with({ "in/a": "old\n" });
  await run(workspace, "setfacl", "-m", "u:12345:rw,g::r,m::rw", "in/a");
  await run(workspace, "setfattr", "-n", "user.k", "-v", "v", "in/a");
  const facts = async () => [
    await run(workspace, "getfacl", "--omit-header", "--numeric", "in/a"),
    await run(workspace, "getfattr", "--dump", "in/a"),
    (await Deno.stat(join(workspace.root, "in/a"))).mode,
  ];
  const before = await facts();
  await workspace.call("writeFile", "in/a", "1\n");
  await workspace.call("remove", "in", { recursive: true });
  await workspace.call("undo");
  assert.deepEqual(await facts(), before);
  await workspace.call("undo", { redo: true });
  await workspace.call("undo", { steps: 2 });
  assert.deepEqual(await facts(), before);
  assert.equal(await workspace.text("in/a"), "old\n");
});

Deno.test("undoCli() reports the notes of the undo", async () => {
  await using workspace = await linked();
  await workspace.call("remove", "b");
  let printed = "";
  const place = { workspace: workspace.root, home: workspace.home, places: new FsPlaces() };
  assert.equal(await undoCli({ scope: "request" }, { ...place, print: (text) => void (printed += text) }), 0);
  assert.deepEqual(JSON.parse(printed).notes, [
    "b was one of several names of a file (hard links); it is a file of its own now",
  ]);
});

Deno.test(
  "fs.patch() renames a file with its other names, and tells when a change is in all of them",
  { ignore },
  async () => {
    for (
      const [hunks, text, note] of [["", "old\n", []], [
        "--- a/b\n+++ b/in/c\n@@ -1 +1 @@\n-old\n+new\n",
        "new\n",
        ["in/c has 2 names (hard links); the change is in all of them"],
      ]] as const
    ) {
      await using workspace = await linked();
      const before = await inode(workspace, "b");
      await workspace.call("patch", renaming(hunks));
      assert.deepEqual([await inode(workspace, "in/c"), await inode(workspace, "a")], [before, before]);
      assert.deepEqual(await texts(workspace), { a: text });
      assert.deepEqual(workspace.notes, note);
    }
  },
);
