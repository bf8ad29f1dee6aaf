import assert from "node:assert/strict";
import { type CommandEnd, commandOutcome, jobOutcome, withCommandHint } from "../../../extensions/shell/run.ts";

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

Deno.test("commandOutcome() adds up the totals of the packages of a repository", () => {
  const far = `${"x".repeat(80)}\n`.repeat(100);
  const runs: Readonly<Record<string, string>> = {
    [`# pass 4\n# fail 1\n${far}# pass 0\n# fail 1\n`]: "4 passed, 2 failed",
    [`      Tests  1 failed | 12 passed (13)\n${far}      Tests  3 passed (3)\n`]: "15 passed, 1 failed",
    [`Test Suites: 1 failed, 1 total\nTests:       2 failed, 3 passed, 5 total\n${far}Tests:       4 passed, 4 total\n`]:
      "7 passed, 2 failed",
    [`FAILED | 3 passed | 1 failed (2ms)\n${far}ok | 7 passed | 0 failed (12ms)\n`]: "10 passed, 1 failed",
    [`test result: ok. 3 passed; 0 failed; 0 ignored\n${far}test result: ok. 4 passed; 0 failed\n`]: "7 passed",
  };
  for (const [output, text] of Object.entries(runs)) assert.equal(outcome(output), text);
});

Deno.test("commandOutcome() has the hint of a failed command for people, and the variable with all of its output", () => {
  const ended = { code: 1, signal: null, timedOut: false, stdout: "", stderr: "npm error ENOTFOUND" };
  const wall = { model: "Commands have no network: {network: true} asks", people: "Commands have no network" };
  const rest = (end: CommandEnd) => {
    const { output, hint, kept } = commandOutcome(end);
    return [[output].flat().at(-1), hint, kept];
  };
  const hinted = (end: CommandEnd) => withCommandHint({ ...end, whole: "failedOutput" }, { missing: null, wall });
  assert.equal(hinted(ended).hint, wall.model);
  assert.deepEqual(rest(hinted(ended)), ["npm error ENOTFOUND", wall.people, "failedOutput"]);
  assert.deepEqual(rest(hinted({ ...ended, code: 0 })), [undefined, undefined, undefined]);
  assert.deepEqual(rest(ended), ["npm error ENOTFOUND", undefined, undefined]);
});

Deno.test("commandOutcome() omits output that repeats the outcome, unless there is nothing else", () => {
  const stdout = [
    "not ok 1 - title",
    "  expected: 'Shop: x'",
    "  stack: |-",
    "    TestContext.<anonymous> (file:///shop/page.test.js:4:28)",
    "    Test.run (node:internal/test_runner/test:796:25)",
    "    at async node:internal/process/task_queues:140:7",
    "1..1",
    "# tests 1",
    "# pass 0",
    "# fail 1",
    "# duration_ms 257.13",
  ].join("\n");
  const stderr = "npm error Lifecycle script `test` failed with error:\nnpm error code 1\nnpm error path /shop\n";
  const { output } = commandOutcome({ ...END, code: 1, stdout, stderr });
  assert.deepEqual(output, [`${stdout.split("\n").slice(0, 4).join("\n")}\n# fail 1\n`, ""]);
  assert.deepEqual(commandOutcome({ ...END, code: 1, stderr }).output, ["", stderr]);
  const missing = 'npm error Missing script: "build"';
  assert.deepEqual(commandOutcome({ ...END, code: 1, stdout: "ready", stderr: missing }).output, ["ready", missing]);
});

Deno.test("commandOutcome() keeps the errors of a failed npm install, and drops its notices", () => {
  const errors = ["npm error code 1", "npm error path /shop/node_modules/bcrypt", "npm error gyp ERR! not found: make"];
  const notice = "npm notice\nnpm notice New minor version of npm available! 11.19.1 -> 11.20.0\nnpm notice\n";
  const log = "npm error A complete log of this run can be found in: /home/me/.npm/_logs/debug-0.log\n";
  const stderr = `${errors.join("\n")}\nnpm error\n${notice}${log}`;
  assert.deepEqual(commandOutcome({ ...END, code: 1, stderr }).output, ["", `${errors.join("\n")}\n`]);
});

Deno.test("commandOutcome() keeps the reason of a test file that crashed", () => {
  const crash = ["# /shop/index.js:2", "# <<<<<<< HEAD", "# ^^", "# SyntaxError: Unexpected token '<<'"];
  const stdout = [
    "TAP version 13",
    ...crash,
    "#     at wrapSafe (node:internal/modules/cjs/loader:1464:18)",
    "#     at Object.<anonymous> (/shop/page.test.js:1:1)",
    "# Node.js v20.20.2",
    "# Subtest: /shop/page.test.js",
    "not ok 1 - /shop/page.test.js",
    "  ---",
    "  duration_ms: 432.763713",
    "  location: '/shop/page.test.js:1:1'",
    "  failureType: 'testCodeFailure'",
    "  exitCode: 1",
    "  signal: ~",
    "  error: 'test failed'",
    "  code: 'ERR_TEST_FAILURE'",
    "  ...",
    "1..1",
    "# fail 1",
  ].join("\n");
  const [shown] = [commandOutcome({ ...END, code: 1, stdout }).output].flat();
  assert.deepEqual(shown?.split("\n"), [
    "TAP version 13",
    ...crash,
    "#     at Object.<anonymous> (/shop/page.test.js:1:1)",
    "not ok 1 - /shop/page.test.js",
    "  location: '/shop/page.test.js:1:1'",
    "# fail 1",
  ]);
});

Deno.test("commandOutcome() describes the end of a command without totals", () => {
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
    { stdout: "11 passed, 1 failed" }, // This is the result of `npm test | tail`.
    { stdout: "1 passed\n2 failing" },
  ];
  for (const more of bad) {
    const { ok, text, output } = commandOutcome({ ...END, stdout: "out", stderr: "err", ...more });
    assert.deepEqual([ok, output], [false, [more.stdout ?? "out", "err"]]);
    assert.notEqual(text, "");
  }
  assert.equal(commandOutcome({ ...END, code: 127 }).exitCode, 127);
  assert.equal(commandOutcome({ ...END, timedOut: true }).exitCode, null);
  for (const more of [{}, { stdout: "12 passed" }, { stdout: "3 failures were fixed" }]) {
    assert.deepEqual([commandOutcome({ ...END, ...more }).ok ?? true], [true]);
  }
  assert.equal(commandOutcome({ ...END, stdout: "# pass  3\n# fail  2" }).ok, false);
});

Deno.test("jobOutcome() is the outcome of its command once it has ended", () => {
  const job = { command: "serve", code: null, signal: null, timedOut: false, output: "listening" };
  assert.deepEqual(jobOutcome({ ...job, running: true }), { text: "", exitCode: null, subject: "serve" });
  assert.deepEqual(jobOutcome({ ...job, running: false, code: 0 }), { text: "", exitCode: 0, subject: "serve" });
  assert.deepEqual(jobOutcome({ ...job, running: false, code: 3 }), {
    text: "exit code 3",
    ok: false,
    exitCode: 3,
    subject: "serve",
    output: ["listening", ""],
  });
});
