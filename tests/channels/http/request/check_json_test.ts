import assert from "node:assert/strict";
import fc from "fast-check";
import { checkJson } from "../../../../src/channels/http/request/check_json.ts";

Deno.test("checkJson() lets every ordinary value be, whatever its strings hold", () => {
  fc.assert(fc.property(fc.json({ maxDepth: 20 }), (text) => checkJson(text)), { numRuns: 300, seed: 8 });
  checkJson(JSON.stringify(["[".repeat(1_000), '\\"[{'.repeat(1_000), "\\", '"']));
});

Deno.test("checkJson() counts levels and values outside of strings, in text that is no JSON too", () => {
  const nested = (depth: number): string => "[".repeat(depth) + "]".repeat(depth);
  checkJson(nested(200));
  assert.throws(() => checkJson(nested(201)), { status: 400 });
  assert.throws(() => checkJson('{"a":'.repeat(201)), { status: 400 });
  checkJson(`${"[]".repeat(1_000)}`);
  assert.throws(() => checkJson("[" + "0,".repeat(2_000_001)), { status: 413 });
  checkJson('"[[[');
  checkJson('"\\');
  checkJson("");
});
