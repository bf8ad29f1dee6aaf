import assert from "node:assert/strict";
import { delayLine } from "../../../src/domain/query/delay_line.ts";

Deno.test("delayLine() says when a call is retried, for which time and why, in whole seconds", () => {
  const at = (waitMs: number): string => delayLine({ type: "retrying", reason: "Cannot reach it", waitMs, attempt: 2 });
  assert.equal(at(8_400), "retrying in 8 s (try 2): Cannot reach it");
  assert.match(at(120), /in 1 s/);
});

Deno.test("delayLine() says for how long a model has not begun, and how long it may take", () => {
  const line = (waitedMs: number, limitMs: number) => delayLine({ type: "waiting", model: "m", waitedMs, limitMs });
  assert.equal(line(15_010, 1_800_000), "waiting for m: no reply for 15 s (limit 30 min)");
  assert.equal(line(240_000, 300_000), "waiting for m: no reply for 4 min (limit 5 min)");
});
