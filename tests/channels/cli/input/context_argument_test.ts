import assert from "node:assert/strict";
import { join } from "node:path";
import { readContextArgument } from "../../../../src/channels/cli/input/context_argument.ts";

Deno.test("readContextArgument() reads a file in pieces when it is asked for them", async () => {
  const folder = await Deno.makeTempDir({ prefix: "vis-context-" });
  try {
    const path = join(folder, "data.JSON");
    await Deno.writeTextFile(path, "x".repeat(3 << 20));
    const { label, json, pieces } = await readContextArgument(path);
    assert.deepEqual([label, json], ["data.JSON", true]);
    let bytes = 0, count = 0;
    for await (const piece of pieces) {
      bytes += piece.length;
      count++;
    }
    assert.equal(bytes, 3 << 20);
    assert.ok(count >= 3);
    await assert.rejects(readContextArgument(join(folder, "none")), { name: "UsageError", message: /does not exist/ });
    await assert.rejects(readContextArgument(folder), /is a folder/);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});
