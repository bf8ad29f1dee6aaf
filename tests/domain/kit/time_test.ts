import { ENDED } from "../../../src/domain/errors.ts";
import { REAL_CLOCK, settledWithin } from "../../../src/domain/kit/concurrency.ts";
import assert from "node:assert/strict";

Deno.test("REAL_CLOCK.sleep() ends at once with the signal, and leaves no timer", async () => {
  await REAL_CLOCK.sleep(0);
  const controller = new AbortController();
  const asleep = REAL_CLOCK.sleep(100_000, controller.signal);
  controller.abort();
  await assert.rejects(asleep, { name: "Cancelled" });
  await assert.rejects(REAL_CLOCK.sleep(100_000, controller.signal), { name: "Cancelled" });
  await assert.rejects(REAL_CLOCK.sleep(100_000, AbortSignal.abort(ENDED)), (error) => error === ENDED);
});

Deno.test("settledWithin() returns whether work has settled in time, and leaves no timer", async () => {
  assert.equal(await settledWithin(Promise.resolve(), 100_000), true);
  assert.equal(await settledWithin(Promise.reject(new Error("No")), 100_000), true);
  assert.equal(await settledWithin(new Promise(() => {}), 0), false);
});
