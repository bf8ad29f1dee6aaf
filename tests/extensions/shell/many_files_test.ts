import assert from "node:assert/strict";
import { withCommands } from "./_with_commands.ts";

Deno.test("ten thousand files are counted, named in part, and undone as far as that goes", async () => {
  await withCommands({}, async ({ run, call }) => {
    const { changes } = await run("i=0; while [ $i -lt 10000 ]; do : > f$i; i=$((i+1)); done");
    assert.equal(changes?.files, 10_000);
    assert.equal(changes?.added.length, 40);
    assert.equal(changes?.notUndoable, 8_000);
    const undone = await call("fs.undo") as readonly { readonly kept?: string }[];
    assert.equal(undone.filter(({ kept }) => kept === undefined).length, 2_000);
  });
});

Deno.test("in a workspace that is too large, commands run as usual, and the model learns it once", async () => {
  await withCommands({}, async ({ run, workspace }) => {
    const many = "for d in 1 2 3; do mkdir $d; (cd $d; seq 40000 | xargs touch); done";
    await new Deno.Command("sh", { args: ["-c", many], cwd: workspace.root }).output();
    assert.deepEqual([(await run("echo > a.txt")).changes, (await run("true")).code], [undefined, 0]);
    assert.deepEqual(workspace.notes, [
      "Vis does not see changes of commands here, and undo cannot revert them: the workspace has more than 100000 files and folders, the limit of a scan",
    ]);
  });
});
