import assert from "node:assert/strict";
import { join } from "node:path";
import { Checkpoints } from "../../../extensions/fs/checkpoints.ts";
import { ChangedFiles } from "../../../src/domain/query/work_summary.ts";
import { Workspace } from "./_workspace.ts";

const kept = (workspace: Workspace) => new Checkpoints(workspace.home, { workspace: workspace.root });

Deno.test("fs.undo() undoes the last change, then the previous one, and describes its work", async () => {
  await using workspace = await Workspace.with({ "a.txt": "one\n" });
  await workspace.call("edit", "a.txt", { old: "one", new: "two" });
  await workspace.call("writeFile", "deep/b.txt", "b\n");
  assert.deepEqual(await workspace.call("undo"), [
    { path: "deep/b.txt", bytes: 0, diff: "--- a/deep/b.txt\n+++ /dev/null\n@@ -1 +0,0 @@\n-b\n" },
  ]);
  assert.deepEqual(await workspace.names(), ["a.txt"]);
  assert.deepEqual(await workspace.call("undo"), [
    { path: "a.txt", bytes: 4, diff: "--- a/a.txt\n+++ b/a.txt\n@@ -1 +1 @@\n-two\n+one\n" },
  ]);
  assert.equal(await workspace.text("a.txt"), "one\n");
  assert.equal(await workspace.refusal("undo"), "Nothing to undo");
});

Deno.test("fs.undo() undoes several changes of one file at once, and an undo can be undone", async () => {
  await using workspace = await Workspace.with({ "run.sh": "0" });
  await Deno.chmod(join(workspace.root, "run.sh"), 0o755);
  for (const text of ["1", "2", "3"]) await workspace.call("writeFile", "run.sh", text);
  await workspace.call("remove", "run.sh");
  await workspace.call("undo", { steps: 3 });
  assert.equal(await workspace.text("run.sh"), "1");
  assert.equal(((await Deno.stat(join(workspace.root, "run.sh"))).mode ?? 0) & 0o777, 0o755);
  await workspace.call("undo", { redo: true });
  assert.deepEqual(await workspace.names(), []);
  await workspace.call("undo", { steps: 4 });
  assert.equal(await workspace.text("run.sh"), "0");
  await workspace.call("undo", { redo: true });
  await workspace.call("undo");
  assert.equal(await workspace.text("run.sh"), "3");
});

Deno.test("fs.undo() keeps a file that another program changed since, names it, and undoes the others", async () => {
  await using workspace = await Workspace.with({ "a.txt": "a\n", "b.txt": "b\n" });
  await workspace.call("edit", [{ path: "a.txt", old: "a", new: "A" }, { path: "b.txt", old: "b", new: "B" }]);
  await workspace.put("b.txt", "B and mine\n");
  assert.deepEqual(await workspace.call("undo"), [
    { path: "a.txt", bytes: 2, diff: "--- a/a.txt\n+++ b/a.txt\n@@ -1 +1 @@\n-A\n+a\n" },
    { path: "b.txt", kept: "got other changes since" },
  ]);
  assert.deepEqual([await workspace.text("a.txt"), await workspace.text("b.txt")], ["a\n", "B and mine\n"]);
  assert.equal(await workspace.refusal("undo"), "Nothing to undo, except in b.txt, which an undo kept");
  await workspace.call("undo", { redo: true });
  assert.equal(await workspace.text("a.txt"), "A\n");
  await workspace.put("b.txt", "B\n");
  await workspace.call("undo");
  assert.deepEqual([await workspace.text("a.txt"), await workspace.text("b.txt")], ["a\n", "b\n"]);
});

Deno.test("fs.undo() restores only the mode that a patch changed", async () => {
  await using workspace = await Workspace.with({ "a.sh": "echo 1\n" });
  const mode = async () => ((await Deno.stat(join(workspace.root, "a.sh"))).mode ?? 0) & 0o777;
  await Deno.chmod(join(workspace.root, "a.sh"), 0o640);
  await workspace.call("patch", "diff --git a/a.sh b/a.sh\nold mode 100644\nnew mode 100755\n");
  assert.equal(await mode(), 0o750);
  await workspace.call("undo");
  assert.equal(await mode(), 0o640);
});

Deno.test("fs.undo() refuses if another program changed a file between two of the changes", async () => {
  await using workspace = await Workspace.with({ "a.txt": "1" });
  await workspace.call("writeFile", "a.txt", "2");
  await workspace.put("a.txt", "mine");
  await workspace.call("readFile", "a.txt");
  await workspace.call("writeFile", "a.txt", "3");
  assert.match(await workspace.refusal("undo", { steps: 2 }), /a\.txt got other changes since/);
  await workspace.call("undo");
  assert.equal(await workspace.text("a.txt"), "mine");
});

Deno.test("fs.undo() leaves a folder that others use meanwhile, and a file that was made again", async () => {
  await using workspace = await Workspace.with();
  await workspace.call("writeFile", "new/a.txt", "a");
  await workspace.put("new/theirs.txt", "x");
  await workspace.call("undo");
  assert.deepEqual(await workspace.names("new"), ["theirs.txt"]);
  await workspace.call("writeFile", "c.txt", "c");
  await workspace.call("remove", "c.txt");
  await workspace.put("c.txt", "another");
  assert.match(await workspace.refusal("undo"), /c\.txt got other changes since/);
  assert.equal(await workspace.text("c.txt"), "another");
});

Deno.test("fs.undo() affects only its own conversation", async () => {
  await using workspace = await Workspace.with({ "a.txt": "a" });
  await workspace.call("writeFile", "a.txt", "b");
  const other = new Workspace(join(workspace.root, ".."));
  assert.match(await other.refusal("undo"), /^Nothing to undo/);
});

Deno.test("fs.undo() of a file keeps bytes that are not text", async () => {
  const bytes = Uint8Array.of(0, 255, 254, 10, 13);
  await using workspace = await Workspace.with({ "x.bin": bytes });
  await workspace.call("writeFile", "x.bin", "text");
  const [told] = await workspace.call("undo");
  assert.equal(told.diff, "Binary file x.bin replaced\n");
  assert.deepEqual(await Deno.readFile(join(workspace.root, "x.bin")), bytes);
});

Deno.test("checkpoints are kept outside the workspace, for the user alone, and each content once", async () => {
  await using workspace = await Workspace.with({ "a.txt": "same\n", "b.txt": "same\n" });
  await workspace.call("edit", [{ path: "a.txt", old: "same", new: "1" }, { path: "b.txt", old: "same", new: "2" }]);
  const [folder = ""] = (await Array.fromAsync(Deno.readDir(join(workspace.home, "checkpoints")))).map((one) =>
    one.name
  );
  const objects = join(workspace.home, "checkpoints", folder, "objects");
  const names = (await Array.fromAsync(Deno.readDir(objects))).map(({ name }) => name);
  assert.equal(names.length, 1);
  assert.equal(((await Deno.stat(join(objects, names[0] ?? ""))).mode ?? 0) & 0o077, 0);
  assert.equal(((await Deno.stat(join(objects, ".."))).mode ?? 0) & 0o077, 0);
  assert.deepEqual(await workspace.names(), ["a.txt", "b.txt"]);
});

Deno.test("checkpoints are pruned by number, bytes and age, the oldest first, with their bytes", async () => {
  await using workspace = await Workspace.with({ "a.txt": "0".repeat(100) });
  for (const text of ["1", "2", "3", "4"]) await workspace.call("writeFile", "a.txt", text.repeat(100));
  const ids = (await kept(workspace).list()).map(({ id }) => id);
  const limited = (limits: { bytes?: number; changes?: number; days?: number }) =>
    new Checkpoints(workspace.home, {
      workspace: workspace.root,
      limits: { bytes: 1e6, changes: 100, days: 30, ...limits },
    });
  await limited({}).prune();
  assert.equal((await kept(workspace).list()).length, 4);
  await limited({ changes: 3 }).prune();
  assert.deepEqual((await kept(workspace).list()).map(({ id }) => id), ids.slice(1));
  await limited({ bytes: 250 }).prune(Date.now() + 3_600_000);
  const left = await kept(workspace).list();
  assert.deepEqual(left.map(({ id }) => id), ids.slice(2));
  const objects = join(workspace.home, "checkpoints");
  const all = (await Array.fromAsync(Deno.readDir(objects))).map((one) => one.name);
  assert.equal((await Array.fromAsync(Deno.readDir(join(objects, all[0] ?? "", "objects")))).length, 2);
  await workspace.call("undo", { steps: 2 });
  assert.equal(await workspace.text("a.txt"), "2".repeat(100));
  assert.match(await workspace.refusal("undo"), /^Nothing to undo/);
  await limited({}).prune(Date.now() + 31 * 86_400_000);
  assert.deepEqual(await kept(workspace).list(), []);
});

Deno.test("checkpoints whose bytes are missing or damaged are not restored", async () => {
  await using workspace = await Workspace.with({ "a.txt": "before" });
  await workspace.call("writeFile", "a.txt", "after");
  const [folder] = await Array.fromAsync(Deno.readDir(join(workspace.home, "checkpoints")));
  const objects = join(workspace.home, "checkpoints", folder?.name ?? "", "objects");
  const [object] = await Array.fromAsync(Deno.readDir(objects));
  await Deno.writeTextFile(join(objects, object?.name ?? ""), "evil");
  assert.match(await workspace.refusal("undo"), /Vis no longer keeps the previous content of the file/);
  assert.equal(await workspace.text("a.txt"), "after");
});

Deno.test("after an undo, the changed files of the request leave out files that are as before it", async () => {
  await using workspace = await Workspace.with({ "a.txt": "one\n", "b.txt": "two\n", "dir/c.txt": "three\n" });
  const files = new ChangedFiles();
  const keys = { home: workspace.home, userQueryId: "query", changedFile: (diff: string) => files.add(diff) };
  Object.assign(workspace.env, keys);
  const changes: readonly (readonly [string, ...unknown[]])[] = [
    ["remove", "b.txt"],
    ["move", "a.txt", "s/a.txt"],
    ["move", "dir", "other"],
    ["remove", "dir", { recursive: true }],
    ["remove", "empty"],
    ["writeFile", "a.txt", "two\n"],
  ];
  await Deno.mkdir(join(workspace.root, "empty"));
  for (const [name, ...args] of changes) {
    await workspace.call(name, ...args);
    assert.notEqual(files.total, "", name);
    await workspace.call("undo");
    assert.equal(files.total, "", name);
  }
  await workspace.call("writeFile", "a.txt", "two\n");
  await workspace.call("remove", "a.txt");
  await workspace.call("undo");
  assert.match(files.total, /^1 file changed .*\(a\.txt\)$/);
  await workspace.call("undo");
  assert.equal(files.total, "");
  await workspace.call("writeFile", "a.txt", "two\n");
  Object.assign(workspace.env, { userQueryId: "later" });
  const later = new ChangedFiles();
  Object.assign(workspace.env, { changedFile: (diff: string) => later.add(diff) });
  await workspace.call("undo");
  assert.equal(later.total, "1 file changed +1 −1 (a.txt)");
});
