import assert from "node:assert/strict";
import { join } from "node:path";
import { Workspace } from "../_workspace.ts";
import { treeOf } from "../../../../extensions/fs/fs_places.ts";
import { KernelTree } from "../../../../extensions/fs/tree/kernel_tree.ts";
import { Kernel, OPEN } from "../../../../extensions/fs/tree/kernel.ts";
import { PathTree } from "../../../../extensions/fs/tree/path_tree.ts";
import type { Tree } from "../../../../extensions/fs/tree/tree.ts";

const bytes = (text: string) => new TextEncoder().encode(text);
const visit = (): void => {};

const TREES: Readonly<Record<string, (root: string) => Tree>> = {
  PathTree: (root) => new PathTree(root),
  ...(Kernel.shared() ? { KernelTree: (root: string) => treeOf(root) } : {}),
};

for (const [name, tree] of Object.entries(TREES)) {
  const withTree = async (run: (tree: Tree, workspace: Workspace) => void | Promise<void>): Promise<void> => {
    await using workspace = await Workspace.with({ "a.txt": "text\n", "src/b.txt": "b" });
    await Deno.symlink(workspace.outside, join(workspace.root, "out"));
    await Deno.symlink("src", join(workspace.root, "in"));
    await run(tree(workspace.root), workspace);
  };

  Deno.test(`${name} look(), entries() and readLink() describe entries and follow no link`, () =>
    withTree((at, { outside }) => {
      assert.deepEqual([at.look("a.txt")?.kind, at.look("a.txt")?.size], ["file", 5]);
      assert.equal(at.look("out")?.kind, "link");
      assert.equal(at.look("nope/x"), null);
      assert.equal(at.look("a.txt/x"), null);
      assert.equal(at.look(".")?.kind, "dir");
      assert.equal(at.readLink("out"), outside);
      assert.deepEqual(at.entries(".").map((one) => `${one.kind} ${one.name}`).sort(), [
        "dir src",
        "file a.txt",
        "link in",
        "link out",
      ]);
      for (const path of ["out/secret.txt", "in/b.txt"]) assert.throws(() => at.look(path), Deno.errors.FilesystemLoop);
      for (const path of ["out", "in", "out/secret.txt"]) assert.throws(() => at.entries(path));
    }));

  Deno.test(`${name} open() reads only regular files`, () =>
    withTree((at) => {
      using file = at.open("a.txt");
      const into = new Uint8Array(3);
      assert.deepEqual([file.read(into), new TextDecoder().decode(into)], [3, "tex"]);
      assert.deepEqual([file.read(into), file.read(into)], [2, 0]);
      assert.throws(() => at.open("src"));
      assert.throws(() => at.open("nope"), Deno.errors.NotFound);
      assert.throws(() => at.open("in/b.txt"), Deno.errors.FilesystemLoop);
    }));

  Deno.test(`${name} folder() shows every folder on the way, and enters no link`, () =>
    withTree(async (at, workspace) => {
      await Deno.mkdir(join(workspace.root, "src/x/y"), { recursive: true });
      let visited = 0;
      using folder = at.folder("src/x/y", () => void visited++);
      assert.equal(visited, 3);
      await folder.create("new.txt", { bytes: bytes("new"), mode: 0o640, owner: null });
      assert.equal(await workspace.text("src/x/y/new.txt"), "new");
      assert.equal(folder.look("new.txt")?.mode, 0o640);
      await assert.rejects(folder.create("new.txt", { bytes: bytes("again"), mode: null, owner: null }));
      for (const path of ["out", "in", "out/x"]) assert.throws(() => at.folder(path, visit));
      assert.throws(() => at.folder("a.txt", visit), Deno.errors.NotADirectory);
      assert.throws(() => at.folder("nope", visit), Deno.errors.NotFound);
    }));

  Deno.test(`${name} folders rename, link and remove by name`, () =>
    withTree((at, workspace) => {
      using root = at.folder(".", visit);
      using src = at.folder("src", visit);
      assert.throws(() => root.rename("a.txt", { folder: src, name: "b.txt", keep: true }), Deno.errors.AlreadyExists);
      root.rename("a.txt", { folder: src, name: "b.txt" });
      assert.equal(at.look("src/b.txt")?.size, 5);
      root.makeLink("link", "nowhere");
      assert.equal(at.readLink("link"), "nowhere");
      root.remove("link");
      root.remove("out");
      assert.equal(Deno.readTextFileSync(join(workspace.outside, "secret.txt")), "secret\n");
      assert.throws(() => root.removeFolder("src"));
      assert.throws(() => root.remove("src"));
      src.remove("b.txt");
      root.removeFolder("src");
      assert.equal(at.look("src"), null);
    }));
}

Deno.test(
  "a folder that is held stays the same one when another takes its name",
  { ignore: !Kernel.shared() },
  async () => {
    await using workspace = await Workspace.with({ "d/a.txt": "a" });
    using folder = treeOf(workspace.root).folder("d", visit);
    await Deno.rename(join(workspace.root, "d"), join(workspace.root, "aside"));
    await Deno.symlink(workspace.outside, join(workspace.root, "d"));
    await folder.create("new.txt", { bytes: bytes("x"), mode: null, owner: null });
    assert.deepEqual(await workspace.names("aside"), ["a.txt", "new.txt"]);
    assert.deepEqual((await Array.fromAsync(Deno.readDir(workspace.outside))).map(({ name }) => name), ["secret.txt"]);
  },
);

/** Returns the files below the folder that this process has open. Other tests of the process open other files
 * meanwhile. */
function openBelow(folder: string): readonly string[] {
  const links = Array.from(Deno.readDirSync("/proc/self/fd"), ({ name }) => {
    try {
      return Deno.readLinkSync(`/proc/self/fd/${name}`);
    } catch {
      return ""; // The file was closed meanwhile.
    }
  });
  return links.filter((path) => path.startsWith(folder));
}

Deno.test("Kernel leaves no descriptor open, whatever fails", { ignore: !Kernel.shared() }, async () => {
  await using workspace = await Workspace.with({ "a.txt": "a", "src/b.txt": "b" });
  const kernel = Kernel.shared();
  assert.ok(kernel);
  const tree = new KernelTree(kernel, workspace.root);
  for (const path of ["a.txt", "src", "nope", "src/b.txt/x", "."]) {
    for (const use of [() => tree.look(path), () => tree.entries(path), () => tree.readLink(path)]) {
      try {
        use();
      } catch { /* The error is expected. */ }
    }
    try {
      tree.open(path)[Symbol.dispose]();
    } catch { /* The error is expected. */ }
    try {
      tree.folder(path, () => {
        throw new Error("No");
      })[Symbol.dispose]();
    } catch { /* The error is expected. */ }
  }
  assert.deepEqual(openBelow(workspace.root), []);
  assert.throws(() => kernel.open(kernel.openRoot("/"), "../etc", { flags: OPEN.path }));
});

Deno.test("KernelTree does not follow a root that has become a link", { ignore: !Kernel.shared() }, async () => {
  await using workspace = await Workspace.with({ "a.txt": "a", "src/b.txt": "b" });
  const root = `${workspace.root}/src`, tree = treeOf(root);
  assert.equal(tree.look("b.txt")?.size, 1);
  Deno.renameSync(root, `${workspace.root}/other`);
  Deno.symlinkSync("other", root);
  const calls = [
    () => tree.look("b.txt"),
    () => tree.open("b.txt"),
    () => tree.entries("."),
    () => tree.folder(".", () => {}),
    () => tree.look(`${"long/".repeat(400)}b.txt`),
  ];
  for (const call of calls) assert.throws(call, Deno.errors.FilesystemLoop);
  assert.equal(tree.lookUnlinked("b.txt"), null);
});

Deno.test(
  "KernelTree knows a path without links, and returns nothing for any other",
  { ignore: !Kernel.shared() },
  async () => {
    await using workspace = await Workspace.with({ "a.txt": "a", "src/b.txt": "b" });
    Deno.symlinkSync("src", `${workspace.root}/link`);
    Deno.symlinkSync("a.txt", `${workspace.root}/src/link`);
    const tree = treeOf(workspace.root);
    assert.equal(tree.lookUnlinked("src/b.txt")?.kind, "file");
    assert.equal(tree.lookUnlinked(".")?.kind, "dir");
    for (const path of ["link", "link/b.txt", "src/link", "none", "a.txt/x", "../a.txt"]) {
      assert.equal(tree.lookUnlinked(path), null, path);
    }
  },
);
