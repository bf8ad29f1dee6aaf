import assert from "node:assert/strict";
import { join } from "node:path";
import { placeholderMode } from "../../../src/domain/kit/files.ts";
import { treeOf } from "../../../extensions/fs/fs_places.ts";
import { WorkspaceScan } from "../../../extensions/fs/command_changes/workspace_scan.ts";
import { Workspace } from "./_workspace.ts";

const FILES = { ".gitignore": "out/\n", "a.txt": "a\n", "src/b.txt": "b\n", "src/deep/c.txt": "c\n", "out/x": "x\n" };

const STEPS: readonly (readonly [change: (root: string, count: number) => void, found: string])[] = [
  [() => {}, ""],
  [(root) => Deno.writeTextFileSync(join(root, "src/deep/c.txt"), "d\n"), "~src/deep/c.txt"],
  // Placeholders of a command begin and end.
  [(root) => {
    for (const name of ["refs", "src/commondir"]) {
      Deno.mkdirSync(join(root, name));
      Deno.chmodSync(join(root, name), placeholderMode("folder"));
    }
    Deno.writeTextFileSync(join(root, "src/hooks"), "");
    Deno.chmodSync(join(root, "src/hooks"), placeholderMode("file"));
    Deno.writeTextFileSync(join(root, "a.txt"), "a\n\n");
  }, "~a.txt"],
  [(root) => {
    for (const name of ["refs", "src/commondir", "src/hooks"]) Deno.removeSync(join(root, name));
  }, ""],
  [(root) => Deno.writeTextFileSync(join(root, "out/y"), "y\n"), ""],
  // Another Vis writes a file.
  [(root) => Deno.writeTextFileSync(join(root, `.vis-${crypto.randomUUID()}.tmp`), "z\n"), ""],
  [(root) => Deno.chmodSync(join(root, "a.txt"), 0o600), "~a.txt"],
  [(root) => Deno.mkdirSync(join(root, "new/folder"), { recursive: true }), "+new +new/folder"],
  [(root) => Deno.writeTextFileSync(join(root, "new/folder/f"), ""), "+new/folder/f"],
  [
    (root) => Deno.renameSync(join(root, "src"), join(root, "lib")),
    [
      "+lib +lib/b.txt +lib/deep +lib/deep/c.txt",
      "-src -src/b.txt -src/deep -src/deep/c.txt",
    ].join(" "),
  ],
  [(root) => Deno.writeTextFileSync(join(root, "lib/deep/c.txt"), "e\n"), "~lib/deep/c.txt"],
  [(root) => {
    Deno.removeSync(join(root, "lib/deep"), { recursive: true });
    Deno.mkdirSync(join(root, "lib/deep"));
    Deno.writeTextFileSync(join(root, "lib/deep/z.txt"), "z\n");
  }, "+lib/deep/z.txt -lib/deep/c.txt"],
  [(root) => Deno.writeTextFileSync(join(root, "lib/deep/z.txt"), "y\n"), "~lib/deep/z.txt"],
  [(root, count) => {
    for (let i = 0; i < count; i++) Deno.writeTextFileSync(join(root, "lib/deep", `${i}`), "y\n");
  }, "COUNT entries"],
  [(root) => Deno.removeSync(join(root, "new"), { recursive: true }), "-new -new/folder -new/folder/f"],
  [(root) => Deno.writeTextFileSync(join(root, ".gitignore"), "out/\nlib/\n"), "~.gitignore"],
  [(root) => Deno.writeTextFileSync(join(root, "lib/b.txt"), "f\n"), ""],
];

for (
  const { how, eventsFrom, count } of [
    { how: "every folder", eventsFrom: Infinity, count: 200 },
    // The kernel keeps fewer events.
    { how: "the folders that the kernel names", eventsFrom: 0, count: 9_000 },
  ]
) {
  Deno.test(`a look finds all differences in ${how}`, async () => {
    await using workspace = await Workspace.with(FILES);
    const look = new WorkspaceScan(workspace.root, treeOf(workspace.root), { eventsFrom });
    assert.deepEqual((await look.next()).length, 6);
    await look.next(); // From this look on, the folders are watched.
    for (const [at, [change, wanted]] of STEPS.entries()) {
      change(workspace.root, count);
      const found = (await look.next()).map(({ path, before, after }) => (
        `${before === null ? "+" : after === null ? "-" : "~"}${path}`
      )).sort();
      const said = found.length > 100 ? `${found.length} entries` : found.join(" ");
      assert.equal(said, wanted.replace("COUNT", String(count)), `step ${at}`);
    }
  });
}
