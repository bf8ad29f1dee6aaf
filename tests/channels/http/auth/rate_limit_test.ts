import assert from "node:assert/strict";
import { RateLimiter } from "../../../../src/channels/http/auth/rate_limit.ts";

Deno.test("RateLimit take() fills up with time, to its burst and no further, and a clock that goes back gives nothing", () => {
  const clock = { now: 1_000_000 };
  const limit = new RateLimiter({ perMinute: 60, burst: 2 }, () => clock.now);
  const takes = (): boolean => {
    try {
      limit.take("a", "token");
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

Deno.test("RateLimit keeps a bounded number of keys, and does not forget one that is empty for those that are full", () => {
  const clock = { now: 0 };
  const limit = new RateLimiter({ perMinute: 60, burst: 1 }, () => clock.now);
  for (let at = 0; at < 9_999; at++) limit.take(`old ${at}`, "address");
  clock.now += 60_000;
  limit.take("busy", "address");
  for (let at = 0; at < 9_000; at++) limit.take(`new ${at}`, "address");
  assert.throws(() => limit.take("busy", "address"), { status: 429 });
});
