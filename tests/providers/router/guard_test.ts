import { Breaker, type RateLimit, RateWindow } from "../../../src/providers/router/_breaker.ts";
import { FakeClock } from "../../helpers/fake_clock.ts";
import assert from "node:assert/strict";

function rig() {
  const clock = new FakeClock();
  const breaker = new Breaker(clock, { failures: 3, openMs: 60_000 });
  const call = (end: "succeeded" | "failed" | "left") => {
    breaker.enter();
    breaker[end]();
  };
  return { clock, breaker, call };
}

Deno.test("Breaker opens after the set number of failures in a row, and not before", () => {
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

function windowRig(limit: RateLimit | null) {
  const clock = new FakeClock();
  return { clock, window: new RateWindow(clock, limit) };
}

Deno.test("RateWindow.waitMs() is 0 without a limit", () => {
  const { window } = windowRig(null);
  for (let i = 0; i < 1000; i++) window.take(1e9);
  assert.equal(window.waitMs(1e9), 0);
});

Deno.test("RateWindow.waitMs() slides: room returns call by call", () => {
  const { window, clock } = windowRig({ requests: 2, perMs: 1000 });
  window.take(1);
  clock.advance(400);
  window.take(1);
  assert.equal(window.waitMs(1), 600);
  clock.advance(600);
  assert.equal(window.waitMs(1), 0);
  window.take(1);
  assert.equal(window.waitMs(1), 400);
});

Deno.test("RateWindow.waitMs() counts tokens, waits for as many calls as it takes", () => {
  const { window, clock } = windowRig({ tokens: 100, perMs: 1000 });
  window.take(40);
  clock.advance(100);
  window.take(40);
  clock.advance(100);
  window.take(20);
  assert.equal(window.waitMs(40), 800);
  assert.equal(window.waitMs(60), 900);
});

Deno.test("RateWindow.waitMs() admits a call that is larger than the window once the window is empty", () => {
  const { window, clock } = windowRig({ tokens: 100, perMs: 1000 });
  assert.equal(window.waitMs(5000), 0);
  window.take(10);
  assert.equal(window.waitMs(5000), 1000);
  clock.advance(1000);
  assert.equal(window.waitMs(5000), 0);
});

Deno.test("RateWindow counts the real usage of a call", () => {
  const { window } = windowRig({ tokens: 100, perMs: 1000 });
  const ticket = window.take(90);
  assert.equal(window.waitMs(50), 1000);
  ticket.tokens = 30;
  assert.equal(window.waitMs(50), 0);
});
