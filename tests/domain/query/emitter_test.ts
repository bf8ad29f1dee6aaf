import assert from "node:assert/strict";
import { Emitter } from "../../../src/domain/query/emitter.ts";
import type { QueryEvent } from "../../../src/domain/query/query_event.ts";

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
