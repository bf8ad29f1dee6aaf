import assert from "node:assert/strict";
import { addUsage, NO_USAGE } from "../../../src/domain/query/model_call.ts";

Deno.test("addUsage() adds every field and nothing changes nothing", () => {
  const one = { input: 1, output: 2, cached: 3, reasoning: 4, calls: 5 };
  assert.deepEqual(addUsage(one, { input: 10, output: 20, cached: 30, reasoning: 40, calls: 50 }), {
    input: 11,
    output: 22,
    cached: 33,
    reasoning: 44,
    calls: 55,
  });
  assert.deepEqual(addUsage(one, NO_USAGE), one);
});

Deno.test("addUsage() adds what was written to caches, and says nothing of it where nobody did", () => {
  const written = { ...NO_USAGE, input: 5, cacheWrite: 3 };
  assert.equal(addUsage(written, written).cacheWrite, 6);
  assert.equal(addUsage(NO_USAGE, written).cacheWrite, 3);
  assert.ok(!("cacheWrite" in addUsage(NO_USAGE, NO_USAGE)));
});
