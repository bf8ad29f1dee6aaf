import assert from "node:assert/strict";
import { shipped } from "../../../extensions/index.ts";
import { loadShipped } from "../../../src/extension/loader.ts";
import { ExtensionRegistry } from "../../../src/extension/registry.ts";

const SILENT = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };
const ENV = { envId: "e", conversationId: "c", branchId: "b", depth: 0, workspace: "/work" };

async function active() {
  const registry = new ExtensionRegistry({ log: SILENT });
  const { loaded, skipped } = await loadShipped({ fs: shipped.fs }, { log: SILENT });
  assert.deepEqual(skipped, []);
  for (const extension of loaded) registry.register(extension);
  return await registry.activate(ENV);
}

Deno.test("fs: its block is at most 2 KB and the same at each query", async () => {
  const [block = ""] = (await active()).blocks;
  assert.ok(new TextEncoder().encode(block).length <= 2_048, `${block.length}`);
  assert.equal((await active()).blocks[0], block);
});

Deno.test("fs: its prompt is at most 600 characters", async () => {
  const { default: fs } = await shipped.fs();
  assert.ok((await fs.prompt(ENV)).length <= 600);
});

Deno.test("fs: every function is there, documented and with an example", async () => {
  const { functions, doc, grants } = await active();
  assert.deepEqual(functions.map((name) => name.slice(3)), [
    "readFile",
    "readFiles",
    "glob",
    "grep",
    "count",
    "listFiles",
    "edit",
    "writeFile",
    "patch",
    "move",
    "remove",
    "undo",
    "stat",
    "definition",
    "readLines",
  ]);
  for (const name of functions) assert.match(doc(name) ?? "", /^fs\.\w+\(.*\): Promise<.*>\n.+\ne\.g\. \(?await fs\./);
  assert.deepEqual(grants, { net: [], read: [], write: [], env: [] });
});
