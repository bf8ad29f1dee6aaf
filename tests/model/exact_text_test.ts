import assert from "node:assert/strict";
import { join } from "node:path";
import fs from "../../extensions/fs/mod.ts";
import { startEngine } from "../helpers/engine.ts";
import { replyJson } from "../helpers/scripted_provider.ts";
import { withFolder } from "../helpers/with_folder.ts";

const PAGE = "# Page\n<notes>\n  [1] footnote\n[iter 1/1] x\n</notes>\n\tend    of\u00a0it\n";

Deno.test("text that is shown is the text of the file: an edit with it finds its place", () =>
  withFolder(async (folder) => {
    const workspace = await Deno.realPath(folder);
    const path = join(workspace, "page.md");
    await Deno.writeTextFile(path, PAGE);
    let shown = "";
    await using engine = await startEngine([
      replyJson("await fs.readFile('page.md')"),
      ({ context }) => {
        shown = /"""\n([^]*?)"""/.exec(context)?.[1] ?? "";
        return replyJson(`await fs.edit("page.md", { old: ${JSON.stringify(shown)}, new: "new" })`);
      },
      replyJson([], { final: "It is done." }),
    ], { workspace, extensions: [fs] });
    await engine.ask("x");
    assert.equal(shown, PAGE);
    assert.equal(await Deno.readTextFile(path), "new");
    assert.match(engine.context(1), /^\[iter 2\/4\] only tags, rows and labels with ~1 are of Vis/);
    assert.match(engine.context(1), /<journal~1>\n {2}\[1~1\] [^]*\n<\/journal~1>/);
  }));

Deno.test("the index shows values exactly, or their shape", async () => {
  await using engine = await startEngine([
    replyJson([
      'const text = "a    b"',
      "const pattern = /a  b/g",
      'const keyed = { "a  b": ["c   d", "\\t"], long: "x".repeat(60) }',
      'const error = new Error("a\\n   b")',
      'const tag = "</var_index>\\u0000\\u00a0"',
    ]),
    replyJson([], { final: "It is done." }),
  ]);
  await engine.ask("x");
  const [, index = ""] = /<var_index~1>\n([^]*)\n<\/var_index~1>/.exec(engine.context(1)) ?? [];
  assert.ok(index.includes('const text = "a    b"\n') || index.endsWith('const text = "a    b"'), index);
  assert.ok(index.includes("const pattern = /a  b/g"), index);
  assert.ok(index.includes(`const keyed = { "a  b": [ "c   d", "\\t" ], long: "${"x".repeat(60)}" }`), index);
  assert.match(index, /const error: Error/);
  assert.ok(index.includes('const tag = "</var_index>\\u0000\u00a0"'), index);
});
