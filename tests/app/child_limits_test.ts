import assert from "node:assert/strict";
import { childLimits } from "../../src/app/child_limits.ts";
import { loadConfig } from "../../src/config/load.ts";

Deno.test("childLimits() divides sandbox.live between spares and conversations, which have one at least", async () => {
  const { config: { sandbox } } = await loadConfig({ file: null, env: {}, flags: {} });
  const limits = (own: Partial<typeof sandbox>): readonly number[] => {
    const { live, spare } = childLimits({ ...sandbox, ...own });
    return [live, spare];
  };
  assert.deepEqual(limits({}), [32, 0]);
  assert.deepEqual(limits({ live: 8, spare: 2 }), [6, 2]);
  assert.deepEqual(limits({ live: 2, spare: 32 }), [1, 1]);
  assert.deepEqual(limits({ live: 1, spare: 1 }), [1, 0]);
  assert.deepEqual(limits({ live: 8, spare: 2, launcher: ["/bin/sh"] }), [8, 0]);
});
