import assert from "node:assert/strict";
import { join } from "node:path";
import fs from "../../extensions/fs/mod.ts";
import { ChangedFiles } from "../../src/domain/calls/changed_files.ts";
import { startEngine } from "../helpers/engine.ts";
import { replyJson } from "../helpers/scripted_provider.ts";
import { withFolder } from "../helpers/with_folder.ts";

Deno.test("the model sees which files its request changed, and the user is told at the end", async () => {
  await withFolder(async (workspace) => {
    await Deno.writeTextFile(join(workspace, "a.ts"), "one\ntwo\nthree\n");
    await using engine = await startEngine([
      replyJson('await fs.readFile("a.ts"); await fs.edit("a.ts", { old: "two", new: "2\\n2b" })'),
      replyJson('await fs.writeFile("b.md", "new\\n".repeat(800)); await fs.edit("a.ts", { old: "three", new: "3" })'),
      replyJson([], { final: "It is changed." }),
      replyJson([], { final: "Nothing more." }),
    ], { extensions: [fs], workspace });
    const { notes } = await engine.ask("Change it");
    assert.match(engine.context(1), /^<changed> a\.ts \+2 −1$/m);
    assert.match(engine.context(2), /^<changed> a\.ts \+3 −2, b\.md \+800 −0$/m);
    assert.deepEqual(notes, ["2 files changed +803 −2 (a.ts, b.md) · vis undo"]);
    assert.doesNotMatch(engine.context(0), /<changed>/);
    assert.deepEqual((await engine.ask("And now?")).notes, []);
    assert.doesNotMatch(engine.context(3), /^<changed>/m);
    assert.match(engine.context(3), /2 files changed \+803 −2/);
  });
});

Deno.test("ChangedFiles names binary and removed files, and counts those that it does not show", () => {
  const changed = new ChangedFiles();
  changed.add("Binary file p.png replaced\n");
  changed.add("--- a/gone.ts\n+++ /dev/null\n@@ -1 +0,0 @@\n-x\n");
  assert.equal(changed.line, "gone.ts +0 −1, p.png +0 −0");
  for (let at = 0; at < 300; at++) changed.add(`--- a/f${at}\n+++ b/f${at}\n@@ -1 +1 @@\n-a\n+b\n`);
  assert.match(changed.line, /^f197 \+1 −1, f196 \+1 −1, .*, f190 \+1 −1, 192 more$/);
});
