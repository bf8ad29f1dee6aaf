/** These files would lose attributes if a new file replaced them. */
import assert from "node:assert/strict";
import { join } from "node:path";
import { Kernel } from "../../../extensions/fs/tree/kernel.ts";
import { ROOT } from "../../../scripts/_project.ts";
import { Workspace } from "./_workspace.ts";

const ignore = Kernel.shared() === null;

async function output(cwd: string, program: string, ...args: readonly string[]): Promise<string> {
  const { success, stdout, stderr } = await new Deno.Command(program, { args: [...args], cwd }).output();
  assert.ok(success, new TextDecoder().decode(stderr));
  return new TextDecoder().decode(stdout);
}

Deno.test(
  "fs changes keep the mode, the access list and extended attributes of a file, and undo does",
  { ignore },
  async () => {
    await using workspace = await Workspace.with({ "a.txt": "one\n", "b.txt": "one\n" });
    const { root } = workspace;
    await Deno.chmod(join(root, "a.txt"), 0o640);
    await output(root, "setfacl", "-m", "u:12345:rw,g::r,m::rw", "a.txt");
    await output(root, "setfattr", "-n", "user.origin", "-v", "somewhere", "b.txt");
    const facts = async () => [
      await output(root, "getfacl", "--omit-header", "--numeric", "a.txt"),
      await output(root, "getfattr", "--dump", "b.txt"),
      (await Deno.stat(join(root, "a.txt"))).mode,
    ];
    const before = await facts();
    assert.match(String(before[0]), /user:12345:rw-/);
    await workspace.call("edit", [{ path: "a.txt", old: "one", new: "two" }, {
      path: "b.txt",
      old: "one",
      new: "two",
    }]);
    assert.deepEqual([await workspace.text("a.txt"), await workspace.text("b.txt")], ["two\n", "two\n"]);
    assert.deepEqual(await facts(), before);
    await workspace.call("writeFile", "a.txt", "1\n");
    await workspace.call("patch", "--- a/b.txt\n+++ b/b.txt\n@@ -1 +1,2 @@\n two\n+three\n");
    assert.deepEqual(await facts(), before);
    await workspace.call("undo", { steps: 3 });
    assert.deepEqual([await workspace.text("a.txt"), await workspace.text("b.txt")], ["one\n", "one\n"]);
    assert.deepEqual(await facts(), before);
  },
);

Deno.test(
  "fs changes every name of a file with several, says so once, and leaves no other file",
  { ignore },
  async () => {
    await using workspace = await Workspace.with({ "a.txt": "one\n" });
    const notes: string[] = [];
    Object.assign(workspace.env, { note: (text: string) => void notes.push(text) });
    await Deno.link(join(workspace.root, "a.txt"), join(workspace.root, "b.txt"));
    await workspace.call("edit", "a.txt", { old: "one", new: "two" });
    assert.deepEqual(await workspace.names(), ["a.txt", "b.txt"]);
    assert.equal(await workspace.text("b.txt"), "two\n");
    assert.deepEqual(notes, ["a.txt has 2 names (hard links); the change is in all of them"]);
    await workspace.call("undo");
    assert.equal(await workspace.text("b.txt"), "one\n");
  },
);

Deno.test("fs writes a file that is a mount of its own, in a folder that cannot be written", { ignore }, async () => {
  await using workspace = await Workspace.with({ "app/a.txt": "one\n", "own.txt": "one\n" });
  const { root, home } = workspace;
  const code = `
    const { FsPlaces } = await import(${JSON.stringify(import.meta.resolve("../../../extensions/fs/fs_places.ts"))});
    const { editFiles } = await import(${
    JSON.stringify(import.meta.resolve("../../../extensions/fs/change/edit_files.ts"))
  });
    const [workspace, home] = ${JSON.stringify([root, home])};
    const env = { workspace, home, conversationId: "c" };
    await new FsPlaces().change(env, (at) => editFiles(at, [
      { path: "app/a.txt", old: "one", new: "two" }, { path: "own.txt", old: "one", new: "two and more" }]));`;
  const user = Deno.uid() === 0 ? [] : ["--user", "--map-root-user"];
  const script = "mount --bind own.txt own.txt && mount --bind app app && mount --bind app/a.txt app/a.txt && " +
    'mount -o remount,bind,ro app && exec "$@"';
  const deno = [Deno.execPath(), "eval", "--quiet", "--no-lock", "--no-check", "--ext=ts"];
  const config = ["--config", join(ROOT, "deno.json")];
  await output(root, "unshare", ...user, "--mount", "sh", "-c", script, "sh", ...deno, ...config, code);
  assert.deepEqual([await workspace.text("app/a.txt"), await workspace.text("own.txt")], ["two\n", "two and more\n"]);
});
