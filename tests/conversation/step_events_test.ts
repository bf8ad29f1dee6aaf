import assert from "node:assert/strict";
import { StepEvents, UnseenEvents } from "../../src/conversation/step_events.ts";
import { blockResult } from "../../src/domain/query/host_call.ts";
import { Emitter } from "../../src/domain/query/query_event.ts";
import { QueryProgress } from "../../src/domain/query/query_progress.ts";
import type { QueryEvent, QueryEventBody } from "../../src/domain/query/query_schemas.ts";

const call = (name: string, subject: string) => ({
  block: 0,
  name,
  action: { doing: "running", done: "ran", things: "commands", subject },
});

const question = { id: "q", extension: "vis.shell", what: "run npm ci", why: "", scope: "npm ci" };

/** The events of two steps; the second step has events of each kind that a screen draws. */
const TWO_STEPS: readonly (QueryEventBody | number)[] = [
  { type: "started", conversationId: "c", request: "x", model: "script" },
  1,
  { type: "iteration_started", used: 1, budget: 4 },
  { type: "block_started", block: 0, code: "first()" },
  { type: "plan", items: [{ text: "Read", state: "now" }] },
  { type: "iteration_finished", outcome: "executed", reason: null, ms: 1 },
  2,
  { type: "iteration_started", used: 2, budget: 4 },
  { type: "steered", text: "be brief" },
  { type: "waiting", model: "script", waitedMs: 1_000, limitMs: 9_000 },
  { type: "waiting", model: "script", waitedMs: 2_000, limitMs: 9_000 },
  { type: "thinking", delta: "I " },
  { type: "thinking", delta: "think" },
  { type: "answer_draft", delta: "gone" },
  { type: "answer_draft", delta: "", again: true },
  { type: "code", block: 0, delta: "shell" },
  { type: "code", block: 0, delta: ".run()" },
  { type: "code", block: 1, delta: "other()" },
  { type: "block_started", block: 0, code: "shell.run()" },
  { type: "host_call", phase: "start", ...call("shell.run", "make") },
  { type: "call_output", block: 0, output: "cc a.c" },
  { type: "call_output", block: 0, output: "cc b.c" },
  { type: "host_call", phase: "start", ...call("fs.edit", "a.c") },
  { type: "approval_requested", ...question },
  { type: "approval_answered", id: "q", decision: "once", reason: "" },
  { type: "host_call", phase: "end", ok: true, diffs: ["--- a.c\n+++ a.c\n"], ...call("fs.edit", "a.c") },
  { type: "host_call", phase: "end", ok: false, outcome: "exit code 2", output: "error", ...call("shell.run", "make") },
  { type: "block_finished", block: 0, result: blockResult({ ok: true, ms: 3 }) },
  { type: "block_started", block: 1, code: "other()" },
  { type: "host_call", phase: "start", ...call("shell.run", "sleep 9"), block: 1 },
  { type: "call_output", block: 1, output: "tick" },
  { type: "answer_draft", delta: "It is" },
  { type: "answer_draft", delta: " done" },
];

function drawn(progress: QueryProgress): unknown {
  const { step, doing, draft, answer, plan, spent, question } = progress;
  return {
    ...{ doing, draft, answer, plan, spent, question },
    step: step && {
      ...step,
      blocks: step.blocks.map(({ tally, ...block }) => ({ ...block, told: tally.text, output: tally.output })),
    },
  };
}

function progressOf(events: readonly QueryEvent[]): QueryProgress {
  const progress = new QueryProgress();
  for (const event of events) progress.take(event);
  return progress;
}

Deno.test("at each moment, the events of the newest step yield the progress that all events yield", () => {
  const all: QueryEvent[] = [];
  const step = new StepEvents();
  const emitter = new Emitter((event) => {
    all.push(event);
    step.add(event);
  }, { queryId: "q", now: () => 0 });
  for (const one of TWO_STEPS) {
    if (typeof one === "number") emitter.iteration = one;
    else emitter.send(one);
    assert.deepEqual(drawn(progressOf(step.all)), drawn(progressOf(all)), JSON.stringify(one));
  }
  assert.ok(step.all.length < all.length - 10, `${step.all.length} of ${all.length} events`);
  assert.equal(step.changes, all.length);
});

Deno.test("the sub-queries of a step keep their beginnings, their newest iterations and their ends", () => {
  const step = new StepEvents();
  const own = new Emitter((event) => step.add(event), { queryId: "q", now: () => 0 });
  const child = new Emitter((event) => step.add(event), { queryId: "c", now: () => 0, parentQueryId: "q" });
  own.iteration = 1;
  own.send({ type: "block_started", block: 0, code: "rlm.query('count')" });
  child.send({ type: "started", conversationId: "c", request: "count", model: "script" });
  for (child.iteration = 1; child.iteration < 50; child.iteration++) {
    child.send({ type: "iteration_started", used: child.iteration, budget: 50 });
    child.send({ type: "thinking", delta: "long" });
  }
  assert.ok(step.all.length <= 3, JSON.stringify(step.all));
  assert.deepEqual(progressOf(step.all).step?.children, [{ task: "count", iteration: 49, done: null }]);
  own.iteration = 2;
  own.send({ type: "iteration_started", used: 2, budget: 4 });
  assert.deepEqual(step.all.map(({ type }) => type), ["iteration_started"]);
});

Deno.test("many calls of a step keep a bounded number of events", () => {
  const step = new StepEvents();
  const emitter = new Emitter((event) => step.add(event), { queryId: "q", now: () => 0 });
  emitter.iteration = 1;
  emitter.send({ type: "block_started", block: 0, code: "f()" });
  for (let n = 0; n < 5_000; n++) {
    emitter.send({ type: "host_call", phase: "start", ...call("fs.readFile", `${n}.ts`) });
    emitter.send({ type: "host_call", phase: "end", ok: true, ms: 1, ...call("fs.readFile", `${n}.ts`) });
  }
  assert.equal(step.all.length, 1_001);
  assert.ok(JSON.stringify(step.all).length < 250_000);
  assert.match(progressOf(step.all).step?.blocks[0]?.tally.text ?? "", /^ran 1000 commands/);
});

Deno.test("UnseenEvents: a follower that looks seldom has the same progress as all events yield, without repetitions", () => {
  for (let every = 1; every < TWO_STEPS.length; every++) {
    const all: QueryEvent[] = [];
    const followed: QueryEvent[] = [];
    const [step, unseen] = [new StepEvents(), new UnseenEvents()];
    const emitter = new Emitter((event) => {
      all.push(event);
      step.add(event);
    }, { queryId: "q", now: () => 0 });
    for (const [at, one] of TWO_STEPS.entries()) {
      if (typeof one === "number") emitter.iteration = one;
      else emitter.send(one);
      // Rows tell the end of a step, so the follower misses nothing of the first step.
      if (at % every !== 0 && emitter.iteration === 2 && at < TWO_STEPS.length - 1) continue;
      followed.push(...unseen.of(step.all).filter((event) => event !== null));
      assert.deepEqual(drawn(progressOf(followed)), drawn(progressOf(all)), `${every} ${JSON.stringify(one)}`);
      assert.deepEqual(unseen.of(step.all).filter((event) => event !== null), []);
    }
  }
});

Deno.test("UnseenEvents: the rows of a step tell only the rest of it", () => {
  const unseen = new UnseenEvents();
  const of = (...bodies: readonly QueryEventBody[]): readonly unknown[] => {
    const events: QueryEvent[] = [];
    const emitter = new Emitter((event) => events.push(event), { queryId: "q", now: () => 0, seq: bodies.length });
    emitter.iteration = 3;
    for (const body of bodies) emitter.send(body);
    return unseen.of(events).flatMap((event) => {
      if (event === null) return [];
      const { seq: _seq, at: _at, queryId: _query, iteration: _iteration, ...body } = event;
      return [body];
    });
  };
  const end = (subject: string, diffs?: readonly string[]) => ({
    ...{ type: "host_call", phase: "end", ok: true, ...call("fs.edit", subject) } as const,
    ...diffs ? { diffs } : {},
  });
  const begun = { type: "block_started", block: 0, code: "edit()" } as const;
  const result = blockResult({ ok: true });
  const finished = { type: "block_finished", block: 0, result } as const;
  const over = { type: "iteration_finished", outcome: "executed", reason: null, ms: 1 } as const;
  const shared = [{ type: "thinking", delta: "I " } as const, begun, end("a.c", ["1"])];
  assert.deepEqual(of(...shared), shared);
  const rows = [
    { type: "thinking", delta: "I think" } as const,
    ...[begun, end("a.c"), end("b.c", ["1", "2"]), finished, over],
  ];
  assert.deepEqual(of(...rows), [{ type: "thinking", delta: "think" }, end("b.c", ["2"]), finished, over]);
});
