import assert from "node:assert/strict";
import { blockResult } from "../../../src/domain/query/host_call.ts";
import type { QueryEvent } from "../../../src/domain/query/query_schemas.ts";
import type { Iteration } from "../../../src/page/store/api.ts";
import { shownStored, storedSteps, Turn } from "../../../src/page/store/turn.ts";

Deno.test("Turn shows the last lines of a running call until it has ended, and the list of tasks", () => {
  const turn = new Turn("c", "Build it", {});
  const take = (event: object): void => {
    const envelope = { seq: 1, at: 1, queryId: "q", iteration: 1 };
    turn.take({ ...envelope, ...event } as unknown as QueryEvent);
  };
  const printing = (): string | undefined => turn.live.value[0]?.shown.blocks[0]?.printing;
  take({ type: "started", request: "Build it", model: "m" });
  take({ type: "iteration_started", used: 1, budget: 9 });
  take({ type: "block_started", block: 0, code: "await shell.run('make')" });
  take({ type: "plan", items: [{ text: "build", state: "now" }] });
  take({ type: "call_output", block: 0, output: "compiling a.c" });
  assert.equal(printing(), "compiling a.c");
  assert.deepEqual(turn.plan.value, [{ text: "build", state: "now" }]);
  take({ type: "host_call", block: 0, name: "shell.run", phase: "end", ms: 5, ok: true });
  take({ type: "block_finished", block: 0, result: blockResult({ ok: true }) });
  assert.equal(printing(), "");
});

Deno.test("a step whose process ended shows its blocks and says that their results are lost", () => {
  const { blocks, line, reason } = shownStored({
    ...{ iteration: 2, status: "interrupted", thinking: "", response: "", error: null, steered: [], createdAt: 0 },
    ...{ blocks: [], traces: [], metadata: { pendingBlocks: ["await shell.run('make')"] } },
  } as Iteration);
  assert.deepEqual([blocks.map(({ code }) => code), line], [["await shell.run('make')"], "interrupted"]);
  assert.match(reason ?? "", /results are lost/);
  assert.deepEqual([
    storedSteps({ iterations: 1, reason: "process_lost" }),
    storedSteps({ iterations: 1, reason: "answered" }),
  ], [2, 1]);
});
