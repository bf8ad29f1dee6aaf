import assert from "node:assert/strict";
import { type CommandEnd, commandOutcome, jobOutcome } from "../../../extensions/shell/run.ts";

const END: CommandEnd = { code: 0, signal: null, timedOut: false, stdout: "", stderr: "" };

function outcome(stdout: string, more: Partial<CommandEnd> = {}): string {
  return commandOutcome({ ...END, stdout, ...more }).text;
}

Deno.test("commandOutcome() finds the totals of test runners", () => {
  const totals: Readonly<Record<string, string>> = {
    " Test Files  1 failed | 2 passed (3)\n      Tests  1 failed | 12 passed (13)\n": "12 passed, 1 failed",
    "Tests:       12 passed, 12 total\nSnapshots:   0 total\n": "12 passed",
    "========= 1 failed, 11 passed in 0.12s =========\n": "11 passed, 1 failed",
    "ok | 7 passed | 0 failed (12ms)\n": "7 passed",
    "test result: ok. 3 passed; 0 failed; 0 ignored\n\ntest result: ok. 4 passed; 0 failed\n": "7 passed",
    "  5 passing (10ms)\n  2 failing\n": "5 passed, 2 failed",
    "1..5\n# tests 5\n# pass  3\n# fail  2\n": "3 passed, 2 failed",
    "# tests 5\n# suites 0\n# pass 5\n# fail 0\n": "5 passed",
    "ℹ tests 2\nℹ pass 0\nℹ fail 2\n": "0 passed, 2 failed",
  };
  for (const [output, text] of Object.entries(totals)) assert.equal(outcome(output), text);
  assert.equal(outcome("", { stderr: "3 passed" }), "3 passed");
});

Deno.test("commandOutcome() says how a command ended if it printed no totals", () => {
  assert.equal(outcome("done\n"), "");
  assert.equal(outcome("", { code: 2 }), "exit code 2");
  assert.equal(outcome("", { code: null, signal: "SIGKILL" }), "ended by SIGKILL");
  assert.equal(outcome("3 passed", { timedOut: true }), "3 passed · timed out");
  assert.equal(outcome("12 passed", { code: 1 }), "12 passed · exit code 1");
  assert.equal(outcome("ok | 0 passed | 0 failed"), "no test passed");
});

Deno.test("commandOutcome() is a failure unless a command ends by itself with 0, and its tests all pass", () => {
  const bad: readonly Partial<CommandEnd>[] = [
    { code: 1 },
    { code: 127 },
    { code: null, signal: "SIGKILL" },
    { code: null, signal: "SIGTERM", timedOut: true },
    { timedOut: true },
    { code: 1, stdout: "12 passed" },
    { stdout: "11 passed, 1 failed" }, // npm test | tail
    { stdout: "# pass  3\n# fail  2" },
  ];
  for (const more of bad) {
    const { ok, text, output } = commandOutcome({ ...END, stdout: "out", stderr: "err", ...more });
    assert.deepEqual([ok, output], [false, `${more.stdout ?? "out"}\nerr`]);
    assert.notEqual(text, "");
  }
  assert.equal(commandOutcome({ ...END, code: 127 }).exitCode, 127);
  assert.equal(commandOutcome({ ...END, timedOut: true }).exitCode, null);
  for (const more of [{}, { stdout: "12 passed" }, { stdout: "3 failures were fixed" }]) {
    assert.deepEqual([commandOutcome({ ...END, ...more }).ok ?? true], [true]);
  }
});

Deno.test("jobOutcome() is that of its command once it has ended", () => {
  const job = { command: "serve", code: null, signal: null, timedOut: false, output: "listening" };
  assert.deepEqual(jobOutcome({ ...job, running: true }), { text: "", exitCode: null, subject: "serve" });
  assert.deepEqual(jobOutcome({ ...job, running: false, code: 0 }), { text: "", exitCode: 0, subject: "serve" });
  assert.deepEqual(jobOutcome({ ...job, running: false, code: 3 }), {
    text: "exit code 3",
    ok: false,
    exitCode: 3,
    subject: "serve",
    output: "listening",
  });
});
