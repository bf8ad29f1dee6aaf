import assert from "node:assert/strict";
import { Trace } from "../../../../src/channels/cli/query_command.ts";
import { NO_USAGE } from "../../../../src/domain/query/model_call.ts";
import type { QueryEvent, QueryEventBody } from "../../../../src/domain/query/query_schemas.ts";

function traced(...bodies: readonly QueryEventBody[]): string[] {
  const lines: string[] = [];
  const trace = new Trace({ stderrColor: false }, (text) => void lines.push(text));
  for (const body of bodies) {
    const event: QueryEvent = { ...body, seq: 1, at: 0, queryId: "q", iteration: 2 };
    trace.show(event);
  }
  return lines;
}

Deno.test("Trace shows the whole thinking before the following output", () => {
  const lines = traced(
    { type: "thinking", delta: "first\nsec" },
    { type: "thinking", delta: "ond\x1b[2J" },
    { type: "usage", usage: { ...NO_USAGE, input: 10, output: 2 } },
    { type: "iteration_finished", outcome: "executed", reason: null, ms: 12.4 },
  );
  assert.deepEqual(lines, ["~ first", "~ second\\u001b[2J", "[2] 10 in + 2 out tokens", "[2] executed after 12 ms"]);
});

Deno.test("Trace shows calls of blocks when they end, and nudges", () => {
  const call = { type: "host_call", block: 0, name: "fs.grep" } as const;
  const lines = traced(
    { ...call, phase: "start" },
    { ...call, phase: "end", ms: 3.2, ok: true },
    { ...call, phase: "end", ms: 5, ok: false },
    { type: "nudge", lines: ["hurry"] },
  );
  assert.deepEqual(lines, ["    fs.grep ✓ 3 ms", "    fs.grep ✗ 5 ms", "[2] nudge: hurry"]);
});
