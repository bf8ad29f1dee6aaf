import assert from "node:assert/strict";
import { type CommandEnd, commandOutcome } from "../../../extensions/shell/command_outcome.ts";

function outcome(stdout: string, more: Partial<CommandEnd> = {}): string {
  return commandOutcome({ code: 0, signal: null, timedOut: false, stdout, stderr: "", ...more });
}

Deno.test("commandOutcome() finds the totals of test runners", () => {
  const totals: Readonly<Record<string, string>> = {
    " Test Files  1 failed | 2 passed (3)\n      Tests  1 failed | 12 passed (13)\n": "12 passed, 1 failed",
    "Tests:       12 passed, 12 total\nSnapshots:   0 total\n": "12 passed",
    "========= 1 failed, 11 passed in 0.12s =========\n": "11 passed, 1 failed",
    "ok | 7 passed | 0 failed (12ms)\n": "7 passed",
    "test result: ok. 3 passed; 0 failed; 0 ignored\n\ntest result: ok. 4 passed; 0 failed\n": "7 passed",
    "  5 passing (10ms)\n  2 failing\n": "5 passed, 2 failed",
  };
  for (const [output, text] of Object.entries(totals)) assert.equal(outcome(output), text);
  assert.equal(outcome("", { stderr: "3 passed" }), "3 passed");
});

Deno.test("commandOutcome() says how a command ended if it printed no totals", () => {
  assert.equal(outcome("done\n"), "");
  assert.equal(outcome("", { code: 2 }), "exit code 2");
  assert.equal(outcome("", { code: null, signal: "SIGKILL" }), "ended by SIGKILL");
  assert.equal(outcome("3 passed", { timedOut: true }), "timed out");
});
