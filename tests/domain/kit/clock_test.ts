import assert from "node:assert/strict";
import { ENDED } from "../../../src/domain/kit/ended.ts";
import { REAL_CLOCK } from "../../../src/domain/kit/clock.ts";

Deno.test("REAL_CLOCK.sleep() ends at once with the signal, and leaves no timer", async () => {
  await REAL_CLOCK.sleep(0);
  const controller = new AbortController();
  const asleep = REAL_CLOCK.sleep(100_000, controller.signal);
  controller.abort();
  await assert.rejects(asleep, { name: "Cancelled" });
  await assert.rejects(REAL_CLOCK.sleep(100_000, controller.signal), { name: "Cancelled" });
  await assert.rejects(REAL_CLOCK.sleep(100_000, AbortSignal.abort(ENDED)), (error) => error === ENDED);
});
