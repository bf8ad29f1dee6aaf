import assert from "node:assert/strict";
import { OlderEntry } from "../../../../src/channels/tui/entries/step_entry.ts";
import { Transcript } from "../../../../src/channels/tui/entries/transcript.ts";
import { RunningTurn } from "../../../../src/channels/tui/entries/running_turn.ts";
import { DEFAULT_PREFS } from "../../../../src/channels/tui/prefs.ts";
import { makeTheme } from "../../../../src/channels/tui/text/theme.ts";
import { blockResult, failedBlock } from "../../../../src/domain/query/host_call.ts";
import { Emitter } from "../../../../src/domain/query/query_event.ts";
import { startEngine } from "../../../helpers/engine.ts";
import { stripTerminalSequences } from "@earendil-works/pi-tui";

const shown = () => ({
  theme: makeTheme({ color: false, dark: null }),
  prefs: DEFAULT_PREFS,
  whole: false,
  undone: new Set<string>(),
});

async function withTurn(
  work: (parts: { turn: RunningTurn; transcript: Transcript; emitter: Emitter }) => void,
): Promise<void> {
  await using engine = await startEngine([]);
  const transcript = new Transcript();
  const turn = new RunningTurn(transcript, { shown, conversations: () => engine.conversations });
  work({ turn, transcript, emitter: new Emitter((event) => turn.show(event), { queryId: "q", now: () => 0 }) });
}

const text = (transcript: Transcript, rows = 40): string =>
  stripTerminalSequences(transcript.view(80, rows).join("\n"));

Deno.test("a long query keeps its newest iterations, and earlier ones can be read again", async () => {
  await withTurn(({ transcript, emitter }) => {
    for (let n = 1; n <= 1_000; n++) {
      emitter.iteration = n;
      emitter.send({ type: "thinking", delta: `Part ${n}` });
      emitter.send({ type: "iteration_finished", outcome: "empty", reason: null, ms: 1 });
    }
    assert.ok(transcript.entries.length <= 202, `${transcript.entries.length} entries`);
    const [older] = transcript.entries;
    assert.ok(older instanceof OlderEntry);
    assert.equal(older.range.from, 0);
    assert.equal(older.range.to + transcript.entries.length - 1, 1_000);
    assert.match(text(transcript), /Part 1000/);
  });
});

Deno.test("while the user reads further up, no entry is removed", async () => {
  await withTurn(({ transcript, emitter }) => {
    for (let n = 1; n <= 300; n++) {
      emitter.iteration = n;
      emitter.send({ type: "thinking", delta: `Part ${n}` });
      transcript.view(80, 5);
      if (n === 20) transcript.scroll(-30);
    }
    assert.equal(transcript.entries.length, 300);
  });
});

Deno.test("thinking is whole while a step runs, and one line once it is done", async () => {
  await withTurn(({ transcript, emitter }) => {
    emitter.iteration = 1;
    emitter.send({ type: "thinking", delta: `First.\n${"漢字 ".repeat(60)}\nLast.` });
    assert.match(text(transcript), /First\.[^]*Last\./);
    emitter.send({ type: "iteration_finished", outcome: "executed", reason: null, ms: 1 });
    assert.match(text(transcript), /^1 First\. 漢字 .*…\s*$/m);
    assert.doesNotMatch(text(transcript), /Last\./);
  });
});

Deno.test("blocks, calls, file changes and outcomes are in their places", async () => {
  await withTurn(({ turn, transcript, emitter }) => {
    emitter.send({ type: "started", conversationId: "c", request: "r", model: "m" });
    assert.equal(turn.phase, "waiting for m");
    emitter.iteration = 1;
    emitter.send({ type: "code", block: 0, delta: "await fs.ed" });
    assert.match(text(transcript), /│ await fs\.ed/);
    emitter.send({ type: "block_started", block: 0, code: "await fs.edit()" });
    const action = { doing: "editing", done: "edited", things: "files", subject: "a" };
    emitter.send({ type: "host_call", block: 0, name: "fs.edit", phase: "start", action });
    assert.equal(turn.phase, "editing a");
    assert.match(text(transcript), /▸ editing a …/);
    const diffs = ["--- a/a\n+++ b/a\n@@ -1 +1 @@\n-old\n+new\n"];
    emitter.send({ type: "host_call", block: 0, name: "fs.edit", phase: "end", ok: true, action, diffs });
    assert.match(text(transcript), /✓ edited a\n +a \+1 −1\n +1 - old\n +1 \+ new\n/);
    const result = blockResult({ ok: true, outcome: "value", preview: "12", stdout: "printed", ms: 1_234 });
    emitter.send({ type: "block_finished", block: 0, result });
    assert.match(text(transcript), /✓ edited a 1\.2 s\n +a \+1 −1\n +1 - old\n +1 \+ new\n/);
    emitter.send({ type: "iteration_finished", outcome: "refused", reason: "it names no file", ms: 1 });
    assert.match(text(transcript), /✓ edited a 1\.2 s\n[^]*- old\n +1 \+ new\n[^]*answer refused: it names no file/);
    assert.doesNotMatch(text(transcript), /│ await|printed/);
  });
});

Deno.test("only the line of the failed calls has the mark of a failure", async () => {
  await withTurn(({ transcript, emitter }) => {
    emitter.iteration = 1;
    emitter.send({ type: "block_started", block: 0, code: "await f()" });
    const ended = { type: "host_call", block: 0, phase: "end" } as const;
    const read = { doing: "reading", done: "read", things: "files", subject: "a" };
    const run = { doing: "running", done: "ran", things: "commands", subject: "node x.js" };
    emitter.send({ ...ended, name: "fs.readFile", ok: true, action: read });
    emitter.send({ ...ended, name: "shell.run", ok: false, action: run, outcome: "exit code 1", exitCode: 1 });
    const lines = /✓ read a\n +✗ ran node x\.js · exit code 1/;
    assert.match(text(transcript), lines);
    emitter.send({ type: "block_finished", block: 0, result: blockResult({ ok: true, outcome: "none", ms: 1_234 }) });
    assert.match(text(transcript), new RegExp(`${lines.source} 1\\.2 s`));
  });
});

Deno.test("a failed call shows its reason once, whether its block caught the error or not", async () => {
  for (const isCaught of [true, false]) {
    await withTurn(({ transcript, emitter }) => {
      emitter.iteration = 1;
      emitter.send({ type: "block_started", block: 0, code: "await f()" });
      const action = { doing: "pushing", done: "pushed", things: "branches", subject: "" };
      const message = "Cannot push main: the remote refuses it";
      const ended = { ok: false, action, output: message };
      emitter.send({ type: "host_call", block: 0, name: "git.push", phase: "end", ...ended });
      const result = isCaught
        ? blockResult({ ok: true, outcome: "none", ms: 1_234 })
        : failedBlock("error", { name: "HostCallError", message }, { ms: 1_234 });
      emitter.send({ type: "block_finished", block: 0, result });
      assert.match(text(transcript), /✗ pushing failed 1\.2 s\n +Cannot push main: the remote refuses it\s*$/);
    });
  }
});

Deno.test("the code of a block that only gave the answer disappears, since the answer follows", async () => {
  await withTurn(({ transcript, emitter }) => {
    emitter.iteration = 1;
    emitter.send({ type: "block_started", block: 0, code: "await answer('It is three')" });
    emitter.send({ type: "block_finished", block: 0, result: blockResult({ ok: true, outcome: "none" }) });
    emitter.send({ type: "iteration_finished", outcome: "final", reason: null, ms: 1 });
    emitter.send({ type: "answer_delta", delta: "It is three" });
    assert.equal(text(transcript).trim(), "It is three");
  });
});

Deno.test("nested queries appear in the iteration that started them", async () => {
  await withTurn(({ turn, transcript, emitter }) => {
    emitter.iteration = 1;
    emitter.send({ type: "block_started", block: 0, code: "await vis.query('x')" });
    const child = new Emitter((event) => turn.show({ ...event, parentQueryId: "q" }), { queryId: "k", now: () => 0 });
    child.send({ type: "started", conversationId: "c", request: "count the words", model: "m" });
    child.iteration = 2;
    child.send({ type: "thinking", delta: "not shown" });
    assert.match(text(transcript), /↳ count the words \(2\) …/);
    assert.ok(!text(transcript).includes("not shown"));
  });
});

Deno.test("a repeated call, and a reply that broke off after its code was shown, are reported", async () => {
  await withTurn(({ turn, transcript, emitter }) => {
    emitter.iteration = 1;
    emitter.send({ type: "retrying", reason: "Cannot reach\u001b[31m it", waitMs: 8_200, attempt: 3 });
    assert.match(turn.phase, /^retrying in 8 s \(try 3\): Cannot reach/);
    // deno-lint-ignore no-control-regex
    assert.doesNotMatch(turn.phase, /\u001b/);
    emitter.send({ type: "code", block: 0, delta: "const a" });
    assert.equal(turn.phase, "writing code");
    const reason = "the connection ended in the middle";
    emitter.send({ type: "iteration_finished", outcome: "failed", reason, ms: 1 });
    assert.match(text(transcript), /│ const a\n +no usable reply: the connection ended in the middle/);
    emitter.iteration = 2;
    emitter.send({ type: "block_finished", block: 0, result: blockResult({ ok: true, outcome: "none", ms: 1 }) });
    emitter.send({ type: "iteration_finished", outcome: "executed", reason: "The length limit cut it", ms: 1 });
    assert.match(text(transcript), /The length limit cut it/);
  });
});

Deno.test("the last lines of a running command are below it, and disappear once it has ended", async () => {
  await withTurn(({ transcript, emitter }) => {
    emitter.iteration = 1;
    const call = {
      block: 0,
      name: "shell.run",
      action: { doing: "running", done: "ran", things: "commands", subject: "make" },
    };
    emitter.send({ type: "block_started", block: 0, code: "f()" });
    emitter.send({ type: "host_call", phase: "start", ...call });
    emitter.send({ type: "call_output", block: 0, output: "cc a.c\n\tcc b.c \u001b[2J" });
    assert.match(text(transcript), /▸ running make …\n {4}cc a\.c *\n {8}cc b\.c \\u001b\[2J/);
    emitter.send({ type: "call_output", block: 0, output: "ld" });
    assert.doesNotMatch(text(transcript), /cc a/);
    emitter.send({ type: "host_call", phase: "end", ms: 1, ok: true, ...call });
    emitter.send({ type: "call_output", block: 7, output: "of a block that nobody knows" });
    assert.doesNotMatch(text(transcript), /ld|nobody/);
  });
});

Deno.test("a question with a long command is remembered by its two ends", async () => {
  await withTurn(({ transcript, emitter }) => {
    const command = `echo begin ${"word ".repeat(100)}`;
    const question = { id: "q", extension: "vis.shell", what: `run ${command}`, why: "", scope: "commands" };
    emitter.iteration = 1;
    emitter.send({ type: "approval_requested", ...question });
    emitter.send({ type: "approval_answered", id: "q", decision: "once", reason: "" });
    emitter.send({ type: "iteration_finished", outcome: "empty", reason: null, ms: 1 });
    const shownText = text(transcript).trimEnd();
    assert.match(shownText, /Allow Vis to run echo begin word[^]*…[^]*word \? yes, for this\s+call\s+only/);
    assert.ok(shownText.length < 240, shownText);
  });
});
