import assert from "node:assert/strict";
import { join } from "node:path";
import { FsPlaces } from "../../../extensions/fs/fs_places.ts";
import { otherProcess } from "../../helpers/other_process.ts";
import { runs } from "../../helpers/long_part.ts";
import { KINDS } from "./_kinds.ts";
import { Workspace } from "./_workspace.ts";

const FILES = { "a.txt": "a\n", "b.txt": "b\n", "src/c.txt": "c\n", "src/deep/d.txt": "d\n" };
const MOST_CALLS = 20;
/** These changes have many moments. A skipped moment differs from its neighbours only in the amount of finished work. */
const MANY = ["undo", "patchKinds", "undoKinds"];

async function everything(folder: string, below = ""): Promise<readonly string[]> {
  const found: string[] = [];
  for await (const { name, isDirectory, isSymlink } of Deno.readDir(folder)) {
    const path = join(folder, name);
    const text = isDirectory ? "/" : isSymlink ? await Deno.readLink(path) : await Deno.readTextFile(path);
    found.push(`${below}${name} ${text}`);
    if (isDirectory) found.push(...await everything(path, `${below}${name}/`));
  }
  return found.sort();
}

async function killed(workspace: Workspace, { change, at }: { readonly change: string; readonly at: number }) {
  const script = new URL("./_killed_main.ts", import.meta.url).pathname;
  const args = ["run", "-A", "--no-check", "--quiet", script, workspace.root, workspace.home, `${at}`, change];
  return await new Deno.Command(Deno.execPath(), { args, stdout: "inherit", stderr: "inherit" }).output();
}

async function prepared(change: string): Promise<Workspace> {
  const workspace = await Workspace.with(FILES);
  await Deno.symlink("c.txt", join(workspace.root, "src/link"));
  if (change === "overwrite" || change === "undoMove") {
    await workspace.put("named.txt", "one two\n");
    await Deno.link(join(workspace.root, "named.txt"), join(workspace.root, "other name.txt"));
  }
  if (change === "undoMove") {
    await workspace.call("edit", "named.txt", { old: "one two", new: "ONE TWO, three" });
    await workspace.call("move", "named.txt", "new/named.txt");
  }
  if (change === "undoKinds") {
    await workspace.call("patch", KINDS);
    return workspace;
  }
  if (change !== "undo") return workspace;
  await workspace.call("remove", "src", { recursive: true });
  await workspace.call("edit", "a.txt", { old: "a", new: "A" });
  await workspace.call("move", "b.txt", "new/b.txt");
  return workspace;
}

for (const change of ["edit", "overwrite", "patch", "move", "remove", "undo", "undoMove", "patchKinds", "undoKinds"]) {
  Deno.test(`fs.${change}() killed at any moment leaves all or nothing, once the workspace is opened again`, async () => {
    let whole: readonly string[] = [];
    const states: (readonly string[])[] = [];
    let before: readonly string[] = [];
    for (let at = 0; at < MOST_CALLS; at += runs(MANY.includes(change) ? 4 : 2, 1)) {
      await using workspace = await prepared(change);
      before = await everything(workspace.root);
      const { success, signal } = await killed(workspace, { change, at });
      if (success) {
        whole = await everything(workspace.root);
        break;
      }
      assert.equal(signal, "SIGKILL");
      await new FsPlaces().of({ workspace: workspace.root, home: workspace.home, conversationId: "c" });
      states.push(await everything(workspace.root));
      assert.equal(Array.from(Deno.readDirSync(workspace.home)).length, 1);
      assert.deepEqual(
        (await everything(join(workspace.home, "checkpoints"))).filter((one) => /\.pending/.test(one)),
        [],
      );
    }
    assert.ok(states.length >= (change === "move" ? 1 : runs(2, 3)), `${states.length} moments`);
    assert.notDeepEqual(whole, before);
    for (const state of states) assert.deepEqual(state, before);
  });
}

Deno.test("a process reverts another one's unfinished change only after that process has ended", async () => {
  await using workspace = await Workspace.with({ "a.txt": "a\n" });
  const at = { workspace: workspace.root, home: workspace.home, conversationId: "c" };
  const { end } = await otherProcess(`
    import { FsPlaces } from ${JSON.stringify(import.meta.resolve("../../../extensions/fs/fs_places.ts"))};
    const { checkpoints } = globalThis.context = await new FsPlaces().of(${JSON.stringify(at)});
    const stateOf = (text) => checkpoints.keep({ kind: "file", bytes: new TextEncoder().encode(text), mode: null, owner: null });
    const items = [{ path: "a.txt", before: await stateOf("old\\n"), after: await stateOf("a\\n") }];
    const source = { conversationId: "c", queryId: null, iterationId: null };
    await checkpoints.begin({ ...source, id: checkpoints.newId(), at: 1, change: "edit", of: [], items, temporary: [] })`);
  await new FsPlaces().of(at);
  assert.equal(await workspace.text("a.txt"), "a\n");
  await end();
  await new FsPlaces().of(at);
  assert.equal(await workspace.text("a.txt"), "old\n");
});

Deno.test("a change that fails half way is put back at once, folders that it made included", async () => {
  await using workspace = await Workspace.with({ "a.txt": "a\n", "locked/b.txt": "b\n" });
  const patch = "--- a/a.txt\n+++ b/a.txt\n@@ -1 +1 @@\n-a\n+A\n" +
    "--- /dev/null\n+++ b/new/x.txt\n@@ -0,0 +1 @@\n+x\n" +
    `--- /dev/null\n+++ b/new/${"n".repeat(300)}\n@@ -0,0 +1 @@\n+x\n`;
  assert.match(await workspace.refusal("patch", patch), /Cannot change new\/nnn/);
  assert.equal(await workspace.text("a.txt"), "a\n");
  assert.deepEqual(await workspace.names(), ["a.txt", "locked"]);
  assert.match(await workspace.refusal("undo"), /^Nothing to undo/);
});
