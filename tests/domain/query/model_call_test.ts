import assert from "node:assert/strict";
import { addSpend, addUsage, NO_USAGE, NOTHING_SPENT, spentText } from "../../../src/domain/query/model_call.ts";

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

Deno.test("addUsage() adds tokens written to caches, and omits the field without any", () => {
  const written = { ...NO_USAGE, input: 5, cacheWrite: 3 };
  assert.equal(addUsage(written, written).cacheWrite, 6);
  assert.equal(addUsage(NO_USAGE, written).cacheWrite, 3);
  assert.ok(!("cacheWrite" in addUsage(NO_USAGE, NO_USAGE)));
});

Deno.test("addSpend() does not know a cost with an unknown part, and spentText() shows it", () => {
  const call = { ...NO_USAGE, input: 3, output: 1, calls: 1 };
  const counted = addSpend({ usage: call, costUsd: 0.5 }, { usage: { ...call, estimated: 1 }, costUsd: 0.25 });
  assert.deepEqual(spentText(counted), ["about 6 in + 2 out tokens", "about $0.7500"]);
  const unknown = addSpend(counted, { usage: call, costUsd: null });
  assert.deepEqual(spentText(unknown), ["about 9 in + 3 out tokens", "price unknown"]);
  assert.deepEqual(spentText(addSpend(NOTHING_SPENT, { usage: NO_USAGE, costUsd: null })), ["tokens not counted"]);
  assert.deepEqual(spentText({ usage: { ...NO_USAGE, calls: 1 }, costUsd: 0 }), ["tokens not counted"]);
});
