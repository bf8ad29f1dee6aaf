import assert from "node:assert/strict";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { sourcesOf } from "./import_graph.ts";
import { shippedNamesIn } from "./shipped_names.ts";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));
/** The file plays the model, so its text calls functions as a model's text does. */
const DEMO = "src/providers/demo.ts";

Deno.test("src/ names no shipped extension: the details of one are in its spec", async () => {
  const found: string[] = [];
  for (const path of await sourcesOf(ROOT, "src/")) {
    if (path.startsWith(DEMO)) continue;
    for (const name of shippedNamesIn(await Deno.readTextFile(join(ROOT, path)))) found.push(`${path}: ${name}`);
  }
  assert.deepEqual(found, []);
});

Deno.test("shippedNamesIn() finds a name however it is written", () => {
  const cases: readonly [string, string][] = [
    ['const NAMESPACE = "vis.web";', "vis.web"],
    ["/^(rlm|shell|git)\\./", "rlm|"],
    ['const HARMLESS = ["debug", "memo"];', '"memo"'],
    ["hint(`doc(fs.readFile)`)", "fs.readFile"],
    ["/** Its calls, such as `shell.run`, are not timed. */", "shell.run"],
    ["const { allow } = settings.config.shell;", "config.shell"],
    ["{ config: { shell }, home }", "config: { shell"],
    ["the extension `mcp` takes them", "extension `mcp"],
    ['await import("../../extensions/fs/mod.ts")', "extensions/fs/"],
  ];
  for (const [text, name] of cases) assert.ok(shippedNamesIn(text).includes(name), text);
});

Deno.test("shippedNamesIn() ignores other things with these names", () => {
  for (
    const text of [
      'log("debug", "started")',
      'protocol: "mcp" | "acp"',
      "const { shell, home } = machine;",
      'import { statfs } from "node:fs/promises";',
      "this.#git = state.git;",
      'join(workspace, ".git")',
      'import { valueOf } from "./history.ts";',
    ]
  ) assert.deepEqual(shippedNamesIn(text), [], text);
});
