import assert from "node:assert/strict";
import { join } from "node:path";
import { Kernel } from "../../../extensions/fs/tree/kernel.ts";
import { Workspace } from "./_workspace.ts";

Deno.test({
  name: "fs answers with the limit where a folder has too many names, and reads its files all the same",
  ignore: Kernel.shared() === null,
  fn: async () => {
    await using workspace = await Workspace.with({ "big/near.txt": "needle\n", "src/a.ts": "needle\n" });
    for (let at = 0; at < 100_001; at++) Deno.writeTextFileSync(join(workspace.root, `big/a-name-${at}`), "");
    const limit = /Cannot list big: it has more than 100000 names, the limit/;
    await assert.rejects(workspace.call("glob", "**/*.txt"), limit);
    await assert.rejects(workspace.call("listFiles", "big"), limit);
    await assert.rejects(workspace.call("grep", "needle"), limit);
    await assert.rejects(workspace.call("remove", "big", { recursive: true }), limit);
    await assert.rejects(workspace.call("readFile", "big/naer.txt"), /no such file or folder/);
    assert.equal(await workspace.call("readFile", "big/near.txt"), "needle\n");
    assert.equal((await workspace.call("grep", "needle", "src")).length, 1);
    await workspace.put(".gitignore", "big/\n");
    assert.equal((await workspace.call("grep", "needle")).length, 1);
  },
});
