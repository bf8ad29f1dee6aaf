import assert from "node:assert/strict";
import { type RateLimit, RateWindow } from "../../../src/providers/router/_rate_window.ts";
import { FakeClock } from "../../helpers/fake_clock.ts";

function rig(limit: RateLimit | null) {
  const clock = new FakeClock();
  return { clock, window: new RateWindow(clock, limit) };
}

Deno.test("RateWindow.waitMs() is 0 without a limit", () => {
  const { window } = rig(null);
  for (let i = 0; i < 1000; i++) window.take(1e9);
  assert.equal(window.waitMs(1e9), 0);
});

Deno.test("RateWindow.waitMs() slides: room comes back call by call", () => {
  const { window, clock } = rig({ requests: 2, perMs: 1000 });
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
  const { window, clock } = rig({ tokens: 100, perMs: 1000 });
  window.take(40);
  clock.advance(100);
  window.take(40);
  clock.advance(100);
  window.take(20);
  assert.equal(window.waitMs(40), 800);
  assert.equal(window.waitMs(60), 900);
});

Deno.test("RateWindow.waitMs() lets a call through that is larger than the window, once nothing else is in it", () => {
  const { window, clock } = rig({ tokens: 100, perMs: 1000 });
  assert.equal(window.waitMs(5000), 0);
  window.take(10);
  assert.equal(window.waitMs(5000), 1000);
  clock.advance(1000);
  assert.equal(window.waitMs(5000), 0);
});

Deno.test("RateWindow counts what a call really took", () => {
  const { window } = rig({ tokens: 100, perMs: 1000 });
  const ticket = window.take(90);
  assert.equal(window.waitMs(50), 1000);
  ticket.tokens = 30;
  assert.equal(window.waitMs(50), 0);
});
