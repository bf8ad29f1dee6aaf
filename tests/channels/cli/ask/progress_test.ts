import assert from "node:assert/strict";
import { fakeIo } from "../_fakes.ts";
import { Progress, type ProgressOptions } from "../../../../src/channels/cli/query_command.ts";
import { blockResult, failedBlock } from "../../../../src/domain/query/host_call.ts";
import type { QueryEvent, QueryEventBody } from "../../../../src/domain/query/query_schemas.ts";
import { diffLines } from "../../../../src/markdown/terminal/diff_lines.ts";
import { terminalPaint } from "../../../../src/markdown/terminal/paint.ts";

function event(body: QueryEventBody, iteration: number | null = 1): QueryEvent {
  return { ...body, seq: 1, at: 0, queryId: "q", iteration };
}

const VALUE = blockResult({
  ok: true,
  outcome: "value",
  preview: "[1,\n 2]",
  type: "Array",
  stdout: "said\n",
  ms: 12.4,
});

const RESULT = {
  status: "done",
  reason: "answered",
  answer: "rows",
  answerType: "text",
  confidence: "high",
  queryId: "a",
  conversationId: "c",
  iterations: 2,
  usage: { input: 1, output: 1, cached: 0, reasoning: 0, calls: 2 },
  costUsd: 0,
  ms: 5,
  notes: [],
} as const;

Deno.test("Progress shows a line of thinking, and one for each block", () => {
  const io = fakeIo();
  const progress = new Progress(io, { verbose: false });
  progress.show(event({ type: "started", conversationId: "c", request: "r", model: "m" }, null));
  progress.show(event({ type: "thinking", delta: "hm" }));
  progress.show(event({ type: "block_started", block: 0, code: "const a = [1,\n  2]\na" }));
  progress.show(event({ type: "host_call", block: 0, name: "fs.grep", phase: "start" }));
  progress.show(event({ type: "block_finished", block: 0, result: VALUE }));
  progress.show(event({ type: "iteration_finished", outcome: "executed", reason: null, ms: 1 }));
  assert.equal(io.err, "[1] hm\n    ✓ const a = [1, 2] ⏎ a → [1, 2] 12 ms\n");
  assert.equal(io.out, "");
});

Deno.test("Progress shows no block that only gave the answer", () => {
  const io = fakeIo();
  const progress = new Progress(io, { verbose: false });
  progress.show(event({ type: "block_started", block: 0, code: "await answer(`[1, 2]`)" }));
  progress.show(event({ type: "block_finished", block: 0, result: blockResult({ ok: true, outcome: "none" }) }));
  assert.equal(io.err, "");
});

Deno.test("Progress shows whole blocks, output and results when asked", () => {
  const io = fakeIo();
  const progress = new Progress(io, { verbose: true });
  progress.show(event({ type: "block_started", block: 0, code: "const a = [1,\n  2]\na\n" }, 12));
  progress.show(event({ type: "block_finished", block: 0, result: VALUE }, 12));
  assert.equal(io.err, "[12] const a = [1,\n       2]\n     a\n    said\n    ✓ [1,\n     2] 12 ms\n");
});

Deno.test("Progress shows errors, refusals, empty and unusable replies, each once", () => {
  const io = fakeIo();
  const progress = new Progress(io, { verbose: false });
  progress.show(event({ type: "block_started", block: 0, code: "f()" }));
  const error = { name: "TypeError", message: "f is\nnot a function" };
  progress.show(event({ type: "block_finished", block: 0, result: failedBlock("error", error, { ms: 3 }) }));
  progress.show(event({ type: "iteration_finished", outcome: "failed", reason: "every block failed: …", ms: 1 }));
  progress.show(event({ type: "iteration_finished", outcome: "failed", reason: "no JSON in it", ms: 1 }, 2));
  progress.show(event({ type: "iteration_finished", outcome: "refused", reason: "too\nshort", ms: 1 }, 3));
  progress.show(event({ type: "iteration_finished", outcome: "empty", reason: null, ms: 1 }, 4));
  progress.show(event({ type: "iteration_finished", outcome: "empty", reason: "its code\ndid not run", ms: 1 }, 5));
  assert.equal(
    io.err,
    "[1] ✗ f() 3 ms\n    TypeError: f is\n    not a function\n[2] no usable reply: no JSON in it\n[3] answer refused: too short\n[4] empty reply\n[5] its code did not run\n",
  );
});

Deno.test("Progress shows a block without a value, and a killed one", () => {
  const io = fakeIo();
  const progress = new Progress(io, { verbose: false });
  for (const [block, code] of ["f()", "g()"].entries()) progress.show(event({ type: "block_started", block, code }));
  progress.show(event({ type: "block_finished", block: 0, result: blockResult({ ok: true, outcome: "none", ms: 1 }) }));
  progress.show(event({ type: "block_finished", block: 1, result: blockResult({ outcome: "cancelled", ms: 2 }) }));
  assert.equal(io.err, "[1] ✓ f() 1 ms\n    – g()\n");
});

Deno.test("Progress keeps one live line on a terminal and takes it away", () => {
  const io = fakeIo({ stderrIsTerminal: true, columns: () => 24 });
  const progress = new Progress(io, { verbose: false, thinking: false });
  progress.show(event({ type: "thinking", delta: "a" }));
  const action = { doing: "calling", done: "called", things: "functions", subject: "fs.aVeryLongNameOfAFunction" };
  progress.show(event({ type: "host_call", block: 0, name: "fs.aVeryLongNameOfAFunction", phase: "start", action }));
  progress.show(
    event({ type: "host_call", block: 0, name: "fs.aVeryLongNameOfAFunction", phase: "end", ms: 1, ok: true }),
  );
  const [first = "", second = "", ...more] = io.err.split("\r\x1b[2K");
  assert.deepEqual([first, more], ["[1] thinking…", []]);
  assert.ok(second.length <= 23 && second.startsWith("[1] calling fs.aVery") && second.endsWith("…"), second);
  progress.line("done");
  progress.clear();
  assert.ok(io.err.endsWith("\r\x1b[2Kdone\n"));
});

Deno.test("Progress writes no escape sequence without a terminal, whatever the model writes", () => {
  const io = fakeIo();
  for (const verbose of [false, true]) {
    const progress = new Progress(io, { verbose });
    const evil = "\x1b[31mred\x07\x9b2J";
    progress.show(event({ type: "thinking", delta: evil }));
    progress.show(event({ type: "block_started", block: 0, code: evil }));
    progress.show(event({ type: "block_finished", block: 0, result: { ...VALUE, preview: evil, stdout: evil } }));
    progress.show(
      event({ type: "block_finished", block: 0, result: failedBlock("error", { name: evil, message: evil }) }),
    );
    progress.show(event({ type: "iteration_finished", outcome: "refused", reason: evil, ms: 1 }));
    progress.line(evil);
  }
  assert.doesNotMatch(io.err, /[^\P{Cc}\t\n]/u);
  assert.match(io.err, /\\u001b\[31mred/);
});

Deno.test("Progress uses colours only where they are wanted", () => {
  const io = fakeIo({ stderrColor: true });
  new Progress(io, { verbose: false }).show(event({ type: "block_finished", block: 0, result: VALUE }));
  assert.ok(io.err.includes("\x1b[32m✓\x1b[39m"));
});

Deno.test("Progress names the awaited model until the first event of a reply", () => {
  const io = fakeIo({ stderrIsTerminal: true });
  const progress = new Progress(io, { verbose: false });
  progress.show(event({ type: "started", conversationId: "c", request: "r", model: "m-1" }));
  assert.ok(io.err.endsWith("waiting for m-1…"));
  progress.show(event({ type: "iteration_finished", outcome: "executed", reason: null, ms: 1 }));
  assert.ok(io.err.endsWith("waiting for m-1…"));
  progress.clear();
});

Deno.test("Progress shows a sub-query as one line when it ends, and nothing of its text as control", () => {
  const io = fakeIo();
  const progress = new Progress(io, { verbose: false });
  const child = (body: QueryEventBody, id: string): void =>
    progress.show({ ...event(body), queryId: id, parentQueryId: "q" });
  const result = { ...RESULT, answer: "12\x1b[31m\nrows" };
  child({ type: "started", conversationId: "c", request: "Count\nthe rows", model: "m" }, "a");
  child({ type: "started", conversationId: "c", request: "Count the columns", model: "m" }, "b");
  child({ type: "block_started", block: 0, code: "rows.length" }, "a");
  child({ type: "block_finished", block: 0, result: VALUE }, "a");
  child({ type: "final", result }, "a");
  child({ type: "failed", result: { ...result, status: "error", reason: "limit_cost" } }, "b");
  const [first, second, ...rest] = io.err.trimEnd().split("\n");
  assert.match(first ?? "", /^ {4}↳ Count the rows \(2\) ✓ 12\S* rows$/);
  assert.equal(second, "    ↳ Count the columns (2) ✗ stopped at the cost limit");
  assert.deepEqual(rest, []);
  assert.ok(!io.err.includes("\x1b"));
});

Deno.test("Progress leaves the fault that ends a query to its answer, unless the answer names another", () => {
  const shown = (answer: string): string => {
    const io = fakeIo();
    const progress = new Progress(io, { verbose: false });
    progress.show(event({ type: "iteration_finished", outcome: "failed", reason: "no route", ms: 1 }));
    progress.show(event({ type: "failed", result: { ...RESULT, status: "error", reason: "provider", answer } }));
    return io.err;
  };
  assert.equal(shown("no route; try again"), "");
  assert.equal(shown("The best so far"), "[1] no usable reply: no route\n");
});

Deno.test("Progress shows how a call changed files, if a user is watching", () => {
  const call = event({
    type: "host_call",
    block: 0,
    name: "fs.edit",
    phase: "end",
    ms: 1,
    ok: true,
    action: { doing: "editing", done: "edited", things: "files", subject: "x" },
    diffs: ["--- a/x\n+++ b/x\n@@ -1 +1 @@\n-old\n+new\n"],
  });
  const end = event({ type: "block_finished", block: 0, result: VALUE });
  const shown = (options: Pick<ProgressOptions, "diff">): string => {
    const io = fakeIo();
    const progress = new Progress(io, { verbose: false, ...options });
    for (const one of [call, end]) progress.show(one);
    return io.err;
  };
  const paint = terminalPaint({ color: false, weights: false });
  const line = "[1] ✓ edited x 12 ms\n";
  const watched = shown({ diff: (diff, place) => diffLines(diff, { ...place, paint }) });
  assert.equal(watched, `${line}    x +1 −1\n    1 - old\n    1 + new\n`);
  assert.equal(shown({}), line);
});

Deno.test("Progress wraps a long line of a change on a terminal only", () => {
  const long = `const text = "${"word ".repeat(40)}";`;
  const diffs = [`--- a/x\n+++ b/x\n@@ -1 +1 @@\n-old\n+${long}\n`];
  const action = { doing: "editing", done: "edited", things: "files", subject: "x" };
  const rows = (stderrIsTerminal: boolean): number => {
    const io = fakeIo({ stderrIsTerminal, columns: () => 80 });
    const paint = terminalPaint({ color: false, weights: false });
    const progress = new Progress(io, { verbose: false, diff: (diff, place) => diffLines(diff, { ...place, paint }) });
    progress.show(event({ type: "host_call", block: 0, name: "fs.edit", phase: "end", ok: true, action, diffs }));
    progress.show(event({ type: "block_finished", block: 0, result: VALUE }));
    assert.equal(io.err.includes(`+ ${long}\n`), !stderrIsTerminal);
    return io.err.split("\n").length;
  };
  assert.equal(rows(false), 5);
  assert.ok(rows(true) > 5);
});

Deno.test("Progress announces a repeated model call: a live line on a terminal, else a line of its own", () => {
  const again = event({ type: "retrying", reason: "Cannot reach\u001b[31m it", waitMs: 8_200, attempt: 3 });
  const plain = fakeIo();
  new Progress(plain, { verbose: false }).show(again);
  assert.match(plain.err, /^\[1\] retrying in 8 s \(try 3\): Cannot reach.* it\n$/);
  const terminal = fakeIo({ stderrIsTerminal: true });
  const progress = new Progress(terminal, { verbose: false });
  progress.show(again);
  assert.match(terminal.err, /\[1\] retrying in 8 s \(try 3\): Cannot reach[^\n]* it$/);
  progress.clear();
  const child = fakeIo();
  const above = new Progress(child, { verbose: false });
  above.show({ ...event({ type: "started", conversationId: "c", request: "task", model: "m" }), parentQueryId: "p" });
  above.show({ ...again, parentQueryId: "p" });
  assert.match(child.err, /^↳ \[1\] retrying in 8 s/);
});

Deno.test("Progress reports that the length limit cut a reply whose blocks ran", () => {
  const io = fakeIo();
  const progress = new Progress(io, { verbose: false });
  progress.show(event({ type: "block_started", block: 0, code: "1" }));
  progress.show(event({ type: "iteration_finished", outcome: "executed", reason: "The length limit cut it", ms: 1 }));
  assert.match(io.err, /\[1\] The length limit cut it\n$/);
});

Deno.test("Progress shows the end of a draft above the live line, until it is accepted or refused", async () => {
  const io = fakeIo({ stderrIsTerminal: true, rows: () => 5 });
  const drawn: PromiseWithResolvers<void>[] = [Promise.withResolvers(), Promise.withResolvers()];
  const draft = (text: string): Promise<readonly string[]> => {
    drawn.shift()?.resolve();
    return Promise.resolve(text.split("\n"));
  };
  const shown = [drawn[0]!.promise, drawn[1]!.promise];
  const progress = new Progress(io, { verbose: false, draft });
  progress.show(event({ type: "answer_draft", delta: "one\ntwo\nthree" }));
  await shown[0];
  await Promise.resolve();
  assert.equal(io.err, "[1] answering…\r\x1b[2Ktwo\nthree\n[1] answering…");
  progress.show(event({ type: "iteration_finished", outcome: "refused", reason: "no file", ms: 1 }));
  assert.equal(
    io.err.split("[1] answering…").at(-1),
    "\r\x1b[2A\x1b[J[1] answer refused: no file\nwaiting for the model…",
  );
  progress.clear();
});

Deno.test("Progress shows what a command prints above the live line, until it ends", () => {
  const io = fakeIo({ stderrIsTerminal: true, columns: () => 40 });
  const progress = new Progress(io, { verbose: false });
  const action = { doing: "running", done: "ran", things: "commands", subject: "make" };
  progress.show(event({ type: "block_started", block: 0, code: "f()" }));
  progress.show(event({ type: "host_call", block: 0, name: "shell.run", phase: "start", action }));
  const before = io.err.length;
  progress.show(event({ type: "call_output", block: 0, output: `  a\u001b[31m\n${"x".repeat(60)}` }));
  assert.equal(io.err.slice(before), `\r\x1b[2K      a\\u001b[31m\n    ${"x".repeat(35)}\n[1] running make…`);
  const shown = io.err.length;
  progress.show(event({ type: "block_finished", block: 0, result: VALUE }));
  assert.ok(io.err.slice(shown).startsWith("\r\x1b[2A\x1b[J[1] ✓"), JSON.stringify(io.err));
  progress.clear();
});

Deno.test("Progress shows the model's list of tasks whole, and then the current one", () => {
  const io = fakeIo();
  const progress = new Progress(io, { verbose: false });
  const plan = (done: number): QueryEvent =>
    event({
      type: "plan",
      items: ["Read it", "Write it", "Test it"].map((text, at) => ({
        text,
        state: at < done ? "done" : at === done ? "now" : "open",
      })),
    });
  progress.show(plan(1));
  progress.show(plan(2));
  progress.show(plan(3));
  assert.equal(
    io.err,
    "    ✓ Read it\n    ▸ Write it\n    ○ Test it\n    ▸ 2 of 3 · now: Test it\n    ▸ 3 of 3 · done\n",
  );
});
