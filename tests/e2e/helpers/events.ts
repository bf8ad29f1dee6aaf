import assert from "node:assert/strict";
import type { QueryEvent } from "../../../src/domain/query/query_schemas.ts";

const ENDS: readonly string[] = ["final", "failed", "cancelled"];
const TYPES: readonly string[] = [
  ...[
    "started",
    "iteration_started",
    "steering",
    "steered",
    "thinking",
    "code",
    "answer_draft",
    "block_started",
    "block_finished",
    "host_call",
    "nudge",
    "usage",
  ],
  ...["iteration_finished", "answer_delta", ...ENDS],
];

/** Reads the lines of `--output jsonl`, and checks the rules for the events of every query. */
export function checkEvents(lines: string): readonly QueryEvent[] {
  assert.ok(lines.endsWith("\n"));
  const events: QueryEvent[] = lines.slice(0, -1).split("\n").map((line) => JSON.parse(line));
  assert.deepEqual(events.map(({ seq }) => seq), events.map((_, at) => at + 1));
  for (const { type, at, queryId, iteration } of events) {
    assert.ok(TYPES.includes(type), type);
    assert.equal(typeof at, "number");
    assert.equal(queryId, events[0]?.queryId);
    assert.ok(iteration === null || Number.isInteger(iteration) && iteration >= 1);
  }
  assert.equal(events[0]?.type, "started");
  assert.deepEqual(events.flatMap(({ type }, at) => ENDS.includes(type) ? [at] : []), [events.length - 1]);
  return events;
}
