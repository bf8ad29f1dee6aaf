import assert from "node:assert/strict";
import { blockResult, BlockTally, callsText } from "../../../src/domain/query/host_call.ts";
import { NO_USAGE } from "../../../src/domain/query/model_call.ts";
import { Emitter } from "../../../src/domain/query/query_event.ts";
import { blockLine, codeLine, onlyAnswers, QueryProgress } from "../../../src/domain/query/query_progress.ts";
import type { QueryEventBody, QueryResult } from "../../../src/domain/query/query_schemas.ts";

const RESULT: QueryResult = {
  ...{ status: "done", reason: "answered", answer: "42", answerType: "text", confidence: "high", queryId: "k" },
  ...{ conversationId: "c", iterations: 1, usage: NO_USAGE, costUsd: null, ms: 1, notes: [] },
};

Deno.test("QueryProgress describes the current activity after each event", () => {
  const progress = new QueryProgress();
  const emitter = new Emitter((event) => progress.take(event), { queryId: "q", now: () => 0 });
  const child = new Emitter((event) => progress.take(event), { queryId: "k", now: () => 0, parentQueryId: "q" });
  const doing = (body: QueryEventBody, by = emitter): string => {
    by.send(body);
    return progress.doing;
  };
  assert.equal(progress.doing, "waiting for the model");
  assert.equal(doing({ type: "started", conversationId: "c", request: "r", model: "m" }), "waiting for m");
  emitter.iteration = 1;
  assert.equal(doing({ type: "thinking", delta: "hm" }), "thinking");
  assert.equal(
    doing({ type: "retrying", reason: "down\u001b[31m", waitMs: 2_000, attempt: 2 }),
    "retrying in 2 s (try 2): down\\u001b[31m",
  );
  assert.equal(doing({ type: "code", block: 1, delta: "two()" }), "writing code");
  assert.equal(doing({ type: "block_started", block: 0, code: "one()" }), "running code");
  const action = { doing: "calling", done: "called", things: "functions", subject: "rlm.query" };
  assert.equal(doing({ type: "host_call", block: 0, name: "vars", phase: "start" }), "running code");
  assert.equal(doing({ type: "host_call", block: 0, name: "rlm.query", phase: "start", action }), "calling rlm.query");
  assert.equal(doing({ type: "started", conversationId: "c", request: "a\ntask", model: "m" }, child), "↳ a task");
  assert.equal(progress.children.size, 1);
  child.iteration = 3;
  assert.equal(doing({ type: "thinking", delta: "not of this query" }, child), "↳ a task");
  doing({ type: "final", result: RESULT }, child);
  assert.equal(progress.children.size, 0);
  assert.equal(
    doing({ type: "host_call", block: 0, name: "rlm.query", phase: "end", diffs: ["+x"] }),
    "running code",
  );
  const result = blockResult({ ok: true, outcome: "value", preview: "x".repeat(30_000), ms: 1 });
  assert.equal(doing({ type: "block_finished", block: 0, result }), "running code");
  assert.equal(doing({ type: "usage", usage: NO_USAGE }), "running code");
  assert.equal(doing({ type: "iteration_finished", outcome: "executed", reason: "cut", ms: 7 }), "waiting for m");
  const { step } = progress;
  assert.deepEqual(step?.children, [{ task: "a task", iteration: 3, done: { ok: true, text: "42" } }]);
  assert.deepEqual([step.number, step.thinking, step.outcome, step.reason, step.ms], [1, "hm", "executed", "cut", 7]);
  assert.deepEqual(step.blocks.map(({ code, calling, diffs }) => [code, calling, diffs]), [
    ["one()", "", ["+x"]],
    ["two()", "", []],
  ]);
  assert.ok((step.blocks[0]?.result?.preview.length ?? 0) <= 20_020, "no more of a result than can be looked at");
  emitter.iteration = 2;
  assert.equal(doing({ type: "answer_draft", delta: "It is" }), "answering");
  assert.equal(progress.draft, "It is");
  doing({ type: "iteration_finished", outcome: "refused", reason: "no", ms: 1 });
  assert.equal(progress.draft, "", "a refused draft is withdrawn");
  doing({ type: "answer_draft", delta: "4 " });
  doing({ type: "iteration_finished", outcome: "final", reason: null, ms: 1 });
  assert.deepEqual([progress.draft, progress.answer], ["4 ", ""]);
  assert.equal(doing({ type: "answer_delta", delta: "4" }), "answering");
  assert.deepEqual([progress.draft, progress.answer], ["", "4"]);
  doing({ type: "answer_delta", delta: "2" });
  assert.deepEqual([progress.answer, progress.step?.number, progress.queryId], ["42", 2, "q"]);
});

Deno.test("QueryProgress.question waits until it is answered, whatever else happens meanwhile", () => {
  const progress = new QueryProgress();
  const take = (event: Parameters<QueryProgress["take"]>[0]): void => progress.take(event);
  const emitter = new Emitter(take, { queryId: "q", now: () => 0 });
  const [asks, other] = ["k", "l"].map((queryId) => new Emitter(take, { queryId, now: () => 0, parentQueryId: "q" }));
  const question = { id: "1", extension: "e", what: "open", why: "", scope: "doors" };
  for (const by of [asks!, emitter]) {
    by.send({ type: "approval_requested", ...question });
    other!.send({ type: "started", conversationId: "c", request: "r", model: "m" });
    other!.send({ type: "final", result: RESULT });
    emitter.send({ type: "thinking", delta: "hm" });
    assert.equal(progress.question?.id, "1");
    assert.equal(progress.doing, "waiting for your answer");
    by.send({ type: "approval_answered", id: "1", decision: "no", reason: "" });
    assert.equal(progress.question, null);
    assert.notEqual(progress.doing, "waiting for your answer");
  }
  emitter.send({ type: "approval_requested", ...question });
  emitter.send({ type: "final", result: RESULT });
  assert.equal(progress.question, null);
});

Deno.test("onlyAnswers() is true for an ended block that gave the answer and did nothing else", () => {
  const only = (code: string, fields: Parameters<typeof blockResult>[0] = {}): boolean =>
    onlyAnswers({ code, tally: new BlockTally(), result: blockResult({ ok: true, ...fields }) });
  assert.ok(only("await answer(`It is ${n} (of 3)`)"));
  assert.ok(only("answer(rows);\n"));
  assert.ok(!only("const n = 1; await answer(n)", { defined: ["n"] }));
  assert.ok(!only("await answer(1)", { ok: false }));
  assert.ok(!only("await answer(1)", { stdout: "printed" }));
  assert.ok(!only("answers(1)"));
  assert.ok(!onlyAnswers({ code: "await answer(1)", tally: new BlockTally(), result: null }));
});

Deno.test("QueryProgress adds a call that ends during a later step to the block that made it", () => {
  const progress = new QueryProgress();
  const emitter = new Emitter((event) => progress.take(event), { queryId: "q", now: () => 0 });
  const action = { doing: "running", done: "ran", things: "commands", subject: "npm test" };
  const call = { block: 0, name: "shell.run", action } as const;
  emitter.iteration = 1;
  emitter.send({ type: "block_started", block: 0, code: "work = shell.run('npm test'); 1" });
  emitter.send({ type: "host_call", phase: "start", ...call });
  emitter.send({ type: "block_finished", block: 0, result: blockResult({ ok: true, outcome: "value" }) });
  const first = progress.step;
  emitter.iteration = 2;
  emitter.send({ type: "thinking", delta: "hm" });
  const made = { iteration: 1 };
  emitter.send({ type: "call_output", block: 0, output: "ok 1" }, made);
  emitter.send({ type: "host_call", phase: "end", ...call, ok: false, outcome: "exit code 1", diffs: ["+x"] }, made);
  assert.deepEqual([progress.doing, progress.step?.number, progress.step?.blocks], ["thinking", 2, []]);
  assert.equal(progress.late, first);
  const [block] = first?.blocks ?? [];
  assert.deepEqual([block?.tally.text, block?.tally.failed, block?.diffs], ["ran npm test · exit code 1", true, [
    "+x",
  ]]);
  emitter.send({ type: "thinking", delta: "hm" });
  assert.equal(progress.late, null);
});

Deno.test("blockLine() marks an error after calls that succeeded, which did not fail", () => {
  const action = { doing: "committing", done: "committed", things: "commits", subject: "Merge feature" };
  const told = (calls: Parameters<typeof BlockTally.of>[0], ok = false) => {
    const { threw, lines } = blockLine({ code: "x", tally: BlockTally.of(calls), result: blockResult({ ok }) });
    return [threw, callsText(lines)];
  };
  assert.deepEqual(told([{ name: "git.commit", action }]), [true, "committed Merge feature"]);
  assert.deepEqual(told([{ name: "git.commit", action, ok: false }]), [false, "✗ committing Merge feature failed"]);
  assert.deepEqual(told([{ name: "git.commit", action }], true), [false, "committed Merge feature"]);
  assert.deepEqual(told([]), [false, "✗ x"]);
});

Deno.test("codeLine() shows where a statement ends, and joins the lines of one statement", () => {
  assert.equal(codeLine("const result = 12 * 34 + 5\n\nresult\n"), "const result = 12 * 34 + 5 ⏎ result");
  assert.equal(codeLine("call({\n  a: 1,\n})\n"), "call({ a: 1, })");
});

Deno.test("blockLine() names a change of the list of tasks, unless its block also did other work", () => {
  const line = (code: string, fields: Parameters<typeof blockResult>[0] = {}): string =>
    blockLine({ code, tally: new BlockTally(), result: blockResult({ ok: true, outcome: "value", ...fields }) })
      .lines[0]?.text ?? "";
  const own = { defined: ["$plan"], preview: "[]" };
  assert.equal(line("// Next\nconst $plan = [{ task: 'a' }]", own), "updated the list of tasks");
  assert.equal(line("$plan = ['a']", own), "updated the list of tasks");
  assert.match(line("const $plan = ['a']\nconst n = 1", { ...own, defined: ["$plan", "n"] }), /^const \$plan/);
  assert.match(line("const $plan = ['a']\nprint(1)", { ...own, stdout: "1" }), /^const \$plan/);
  assert.match(line("$plan == null", own), /^\$plan == null/);
  assert.match(line("const $plan = no", { ok: false, outcome: "error" }), /^const \$plan/);
});

Deno.test("QueryProgress.spent counts steps like their numbers, also if some do not use the budget", () => {
  const progress = new QueryProgress();
  const emitter = new Emitter((event) => progress.take(event), { queryId: "q", now: () => 0 });
  const spent = (number: number, used: number): QueryProgress["spent"] => {
    emitter.iteration = number;
    emitter.send({ type: "iteration_started", used, budget: 8 });
    return progress.spent;
  };
  assert.deepEqual(spent(1, 1), { used: 1, budget: 8 });
  assert.deepEqual(spent(3, 2), { used: 3, budget: 9 }, "one step did not count");
  assert.deepEqual(spent(10, 8), { used: 10, budget: 10 }, "the last call beyond the budget");
});

Deno.test("callTime is the time of a call that runs for some seconds, with its limit", () => {
  let now = 1_000;
  const progress = new QueryProgress(() => now);
  const emitter = new Emitter((event) => progress.take(event), { queryId: "q", now: () => 0 });
  emitter.iteration = 1;
  const action = { doing: "running", done: "ran", things: "commands", subject: "npm install" };
  const call = { type: "host_call", block: 0, name: "shell.run", action } as const;
  emitter.send({ ...call, phase: "start", limitMs: 90_000 });
  now += 4_999;
  assert.equal(progress.callTime, "");
  now += 7_001;
  assert.equal(progress.callTime, "12 s of 1 min 30 s");
  emitter.send({ ...call, phase: "end", ok: true });
  assert.equal(progress.callTime, "");
  emitter.send({ ...call, phase: "start" });
  now += 6_000;
  assert.equal(progress.callTime, "6 s");
});

Deno.test("callTime leaves out the time of a question", () => {
  let now = 1_000;
  const progress = new QueryProgress(() => now);
  const take = (event: Parameters<QueryProgress["take"]>[0]): void => progress.take(event);
  const emitter = new Emitter(take, { queryId: "q", now: () => 0 });
  const child = new Emitter(take, { queryId: "k", now: () => 0, parentQueryId: "q" });
  emitter.iteration = 1;
  const action = { doing: "running", done: "ran", things: "commands", subject: "npm ci" };
  const begin = () => emitter.send({ type: "host_call", block: 0, name: "shell.run", phase: "start", action });
  begin();
  for (const by of [child, emitter]) {
    now += 3_000;
    by.send({ type: "approval_requested", id: "1", extension: "e", what: "run", why: "", scope: "x" });
    now += 60_000;
    assert.equal(progress.callTime, "");
    by.send({ type: "approval_answered", id: "1", decision: "once", reason: "" });
  }
  now += 1_000;
  assert.equal(progress.callTime, "7 s");
  assert.equal(progress.askedMs, 120_000);
  emitter.send({ type: "approval_requested", id: "2", extension: "e", what: "run", why: "", scope: "x" });
  now += 60_000;
  begin();
  now += 60_000;
  assert.equal(progress.callTime, "", "another call may begin during the question");
  assert.equal(progress.askedMs, 240_000, "the open question counts, too");
  emitter.send({ type: "approval_answered", id: "2", decision: "once", reason: "" });
  now += 5_000;
  assert.equal(progress.callTime, "5 s");
  const { askedMs } = progress;
  emitter.send({ type: "approval_requested", id: "3", extension: "e", what: "run", why: "", scope: "x" });
  now += 1_000;
  emitter.send({ type: "cancelled", result: RESULT });
  now += 1_000;
  assert.equal(progress.askedMs, askedMs + 1_000, "the end of the query ends the question");
});
