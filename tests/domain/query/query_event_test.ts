import { delayLine, Emitter } from "../../../src/domain/query/query_event.ts";
import type { QueryEvent } from "../../../src/domain/query/query_schemas.ts";
import assert from "node:assert/strict";

Deno.test("Emitter numbers events without gaps and puts query, time and iteration on them", () => {
  const events: QueryEvent[] = [];
  let time = 100;
  const emitter = new Emitter((event) => events.push(event), { queryId: "q1", now: () => time++ });
  emitter.send({ type: "nudge", lines: ["a"] });
  emitter.iteration = 2;
  emitter.send({ type: "thinking", delta: "hm" });
  assert.deepEqual(events, [
    { type: "nudge", lines: ["a"], seq: 1, at: 100, queryId: "q1", iteration: null },
    { type: "thinking", delta: "hm", seq: 2, at: 101, queryId: "q1", iteration: 2 },
  ]);
});

Deno.test("Emitter keeps the numbers when a channel throws", () => {
  const seen: number[] = [];
  const emitter = new Emitter((event) => {
    seen.push(event.seq);
    if (event.seq === 1) throw new Error("the channel is broken");
  }, { queryId: "q", now: Date.now });
  for (let at = 0; at < 3; at++) emitter.send({ type: "answer_delta", delta: "x" });
  assert.deepEqual(seen, [1, 2, 3]);
});

Deno.test("delayLine() shows when and why a call is retried, in whole seconds", () => {
  const at = (waitMs: number): string => delayLine({ type: "retrying", reason: "Cannot reach it", waitMs, attempt: 2 });
  assert.equal(at(8_400), "retrying in 8 s (try 2): Cannot reach it");
  assert.match(at(120), /in 1 s/);
});

Deno.test("delayLine() shows how long a model has not begun, and how long it may take", () => {
  const line = (waitedMs: number, limitMs: number) => delayLine({ type: "waiting", model: "m", waitedMs, limitMs });
  assert.equal(line(15_010, 1_800_000), "waiting for m: no reply for 15 s (limit 30 min)");
  assert.equal(line(240_000, 300_000), "waiting for m: no reply for 4 min (limit 5 min)");
});
