/** Makes a change of files in the workspace `args[0]` and kills itself by SIGKILL before the call number `args[2]` that
 * changes the workspace. Ends with 0 if the change makes fewer calls. */
import { editFiles } from "../../../extensions/fs/change/edit_files.ts";
import { movePath, removePath } from "../../../extensions/fs/change/move_path.ts";
import { patchFiles } from "../../../extensions/fs/change/patch_files.ts";
import { undoChanges } from "../../../extensions/fs/change/undo_changes.ts";
import type { FsContext } from "../../../extensions/fs/context.ts";
import { FsPlaces } from "../../../extensions/fs/fs_places.ts";
import { KINDS } from "./_kinds.ts";
import type { OpenFolder, Tree } from "../../../extensions/fs/tree/tree.ts";

const CHANGING = ["create", "overwrite", "makeLink", "makeFolder", "rename", "remove", "removeFolder"];
const [workspace = "", home = "", number = "0", change = ""] = Deno.args;
const calls = { left: Number(number) };

function counted(folder: OpenFolder): OpenFolder {
  return new Proxy(folder, {
    get(target, key) {
      const value: unknown = Reflect.get(target, key, target);
      if (typeof value !== "function") return value;
      return (...args: unknown[]) => {
        if (CHANGING.includes(String(key)) && calls.left-- === 0) {
          if (key === "overwrite") return half(target, String(args[0])).then(() => Deno.kill(Deno.pid, "SIGKILL"));
          Deno.kill(Deno.pid, "SIGKILL");
        }
        const own = args.map((arg) => typeof arg === "object" && arg !== null && "folder" in arg ? bare(arg) : arg);
        return Reflect.apply(value, target, own);
      };
    },
  });
}

const half = (folder: OpenFolder, name: string): Promise<void> =>
  folder.overwrite(name, { bytes: new TextEncoder().encode("ONE two\n"), mode: null });

const BARE = new WeakMap<object, OpenFolder>();
const bare = (to: { folder?: unknown }): unknown => ({ ...to, folder: BARE.get(Object(to.folder)) ?? to.folder });

function countedTree(tree: Tree): Tree & Disposable {
  return {
    below: tree.below,
    held: () => countedTree(tree),
    [Symbol.dispose]: () => {},
    look: (path) => tree.look(path),
    lookUnlinked: (path) => tree.lookUnlinked(path),
    open: (path) => tree.open(path),
    entries: (path) => tree.entries(path),
    readLink: (path) => tree.readLink(path),
    stamps: (folder, names, into) => tree.stamps(folder, names, into),
    folder: (path, options) => {
      const folder = tree.folder(path, options);
      const proxy = counted(folder);
      BARE.set(proxy, folder);
      return proxy;
    },
  };
}

const CHANGES: Readonly<Record<string, (at: FsContext) => Promise<unknown>>> = {
  edit: (at) =>
    editFiles(at, [
      { path: "a.txt", old: "a", new: "A" },
      { path: "b.txt", old: "b", new: "B" },
      { path: "src/c.txt", old: "c", new: "C" },
    ]),
  overwrite: (at) =>
    editFiles(at, [{ path: "a.txt", old: "a", new: "A" }, {
      path: "named.txt",
      old: "one two",
      new: "ONE TWO, three",
    }]),
  patch: (at) =>
    patchFiles(
      at,
      "--- a/a.txt\n+++ b/a.txt\n@@ -1 +1 @@\n-a\n+A\n--- /dev/null\n+++ b/new/deep/x.txt\n@@ -0,0 +1 @@\n+x\n" +
        "--- a/b.txt\n+++ /dev/null\n@@ -1 +0,0 @@\n-b\n",
    ),
  move: (at) => movePath(at, { from: "src", to: "lib/src" }),
  remove: (at) => removePath(at, "src", { recursive: true }),
  undo: (at) => undoChanges(at, { steps: 9 }),
  undoMove: (at) => undoChanges(at, { steps: 9 }),
  patchKinds: (at) => patchFiles(at, KINDS),
  undoKinds: (at) => undoChanges(at, { steps: 9 }),
};

const context = await new FsPlaces().of({ workspace, home, conversationId: "c" });
await CHANGES[change]?.({ ...context, tree: countedTree(context.tree) });
