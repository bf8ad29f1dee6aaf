import assert from "node:assert/strict";
import { Breaker } from "../../../src/providers/router/_breaker.ts";
import { FakeClock } from "../../helpers/fake_clock.ts";

function rig() {
  const clock = new FakeClock();
  const breaker = new Breaker(clock, { failures: 3, openMs: 60_000 });
  const call = (end: "succeeded" | "failed" | "left") => {
    breaker.enter();
    breaker[end]();
  };
  return { clock, breaker, call };
}

Deno.test("Breaker opens after so many failures in a row, and not before", () => {
  const { breaker, call } = rig();
  call("failed");
  call("failed");
  call("succeeded");
  call("failed");
  call("failed");
  assert.equal(breaker.allows, true);
  call("failed");
  assert.deepEqual([breaker.allows, breaker.waitMs], [false, 60_000]);
});

Deno.test("Breaker lets one call try once the time is over", () => {
  const { breaker, call, clock } = rig();
  for (let i = 0; i < 3; i++) call("failed");
  clock.advance(59_999);
  assert.deepEqual([breaker.allows, breaker.waitMs], [false, 1]);
  clock.advance(1);
  assert.equal(breaker.allows, true);
  breaker.enter();
  assert.equal(breaker.allows, false, "a second one waits for the first one's verdict");
  breaker.succeeded();
  assert.equal(breaker.allows, true);
  call("failed");
  assert.equal(breaker.allows, true, "closed again, it counts from none");
});

Deno.test("Breaker opens again at once when the try fails", () => {
  const { breaker, call, clock } = rig();
  for (let i = 0; i < 3; i++) call("failed");
  clock.advance(60_000);
  call("failed");
  assert.deepEqual([breaker.allows, breaker.waitMs], [false, 60_000]);
});

Deno.test("Breaker lets another one try when the try was cancelled", () => {
  const { breaker, call, clock } = rig();
  for (let i = 0; i < 3; i++) call("failed");
  clock.advance(60_000);
  call("left");
  assert.equal(breaker.allows, true);
});

Deno.test("Breaker is not kept open by calls that were on their way when it opened", () => {
  const { breaker, call, clock } = rig();
  for (let i = 0; i < 4; i++) breaker.enter();
  for (let i = 0; i < 3; i++) breaker.failed();
  clock.advance(30_000);
  breaker.failed();
  assert.equal(breaker.waitMs, 30_000);
  call("left");
});
