import assert from "node:assert/strict";
import { rateLimiter } from "../../../../src/channels/http/admission.ts";

Deno.test("rateLimiter() fills up with time, to its burst and no further, and a clock that goes back gives nothing", () => {
  const clock = { now: 1_000_000 };
  const limit = rateLimiter({ perMinute: 60, burst: 2 }, { what: "token", now: () => clock.now });
  const takes = (): boolean => {
    try {
      limit("a");
      return true;
    } catch {
      return false;
    }
  };
  assert.deepEqual([takes(), takes(), takes()], [true, true, false]);
  clock.now += 1_000;
  assert.deepEqual([takes(), takes()], [true, false]);
  clock.now += 3_600_000;
  assert.deepEqual([takes(), takes(), takes()], [true, true, false]);
  clock.now -= 3_600_000;
  assert.equal(takes(), false);
});

Deno.test("rateLimiter() keeps a bounded number of keys, and does not forget one that is empty for those that are full", () => {
  const clock = { now: 0 };
  const limit = rateLimiter({ perMinute: 60, burst: 1 }, { what: "address", now: () => clock.now });
  for (let at = 0; at < 9_999; at++) limit(`old ${at}`);
  clock.now += 60_000;
  limit("busy");
  for (let at = 0; at < 9_000; at++) limit(`new ${at}`);
  assert.throws(() => limit("busy"), { status: 429 });
});
