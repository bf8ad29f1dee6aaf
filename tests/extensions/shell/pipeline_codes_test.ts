import assert from "node:assert/strict";
import { start } from "../../../extensions/shell/jobs.ts";
import shell from "../../../extensions/shell/mod.ts";
import { commandOutcome, run, SHELL } from "../../../extensions/shell/run.ts";
import type { EnvironmentView } from "../../../src/extension/mod.ts";
import { startEngine } from "../../helpers/engine.ts";
import { replyJson } from "../../helpers/scripted_provider.ts";
import { missing, place } from "../../processes/_place.ts";

const ignore = missing !== "" || !SHELL.endsWith("bash");

interface Result {
  readonly code: number;
  readonly codes?: readonly number[];
  readonly stdout: string;
  readonly stderr: string;
}

async function withShell(
  test: (at: {
    readonly env: EnvironmentView;
    readonly workspace: string;
    ran(line: string): Promise<Result>;
    read(path: string): string | null;
  }) => Promise<void>,
): Promise<void> {
  await place(async ({ wall, workspace, read }) => {
    const env: EnvironmentView = {
      ...{ envId: crypto.randomUUID(), conversationId: "c", branchId: "b", depth: 0, workspace },
      spawn: (argv, options) => wall.spawn(workspace, argv, options),
    };
    await test({ env, workspace, read, ran: async (line) => await run(env, line) as Result });
  });
}

Deno.test("a command whose code hides that a part of it failed has the codes of its parts", { ignore }, async () => {
  const lines: Readonly<Record<string, readonly number[] | undefined>> = {
    "(exit 3) | tail -20": [3, 0],
    "(exit 3) 2>&1 | cat | tail -1": [3, 0, 0],
    "(exit 3) |& tail -1": [3, 0],
    "(exit 3); echo done": [3, 0],
    "(exit 3)\n(exit 4)\necho done": [3, 4, 0],
    "false; (exit 3) | cat": [1, 3, 0],
    "(exit 3); exit 0": [3, 0],
    "cd nowhere; ls | wc -l": [1, 0, 0],
    "set -x; (exit 3) | cat": [3, 0],
    "set -u; (exit 3) | cat; exit": [3, 0],
    "exec 2>log; (exit 3) | cat": [3, 0],
    "grep -c x /dev/null | cat; (exit 2); ls": [2, 0],
    "(exit 3) | cat; echo": [3, 0],
    "sh -c 'exit 1' | cat; echo | grep x | cat; grep x /dev/null | cat": [1, 0],
    "set -o pipefail; (exit 3) | cat; ls": [3, 0],
    "(exit 3) | cat; exec true": [3, 0],
    "sh -c 'exit 1' | tail -1 && echo ok": [1, 0],
    "if sh -c 'exit 1' | tail -1; then echo ok | cat; fi": [1, 0, 0],
    "grep x /dev/null | head; sh -c 'exit 1' | tail -1 && echo ok": [1, 0],
    "(exit 3); if [ -e nothing ]; then echo; fi": [3, 0],
    "set -eux; sh -c 'exit 4' | (exit 0) | cat\nmkdir -p made && cd $_ && ls ../made": [4, 0],
    // A part may end this way.
    "yes | head -1": undefined,
    "yes | grep -q y": undefined,
    "grep x /dev/null | head": undefined,
    "LC_ALL=C grep 'a|b' /dev/null | wc -l": undefined,
    "echo a | xargs grep -l x | head": undefined,
    "diff /dev/null /etc/passwd | head -1; [ -e nothing ]; which nothing; true": undefined,
    "echo BrokenPipeError >&2 | (exit 1) | cat": undefined,
    "grep x /dev/null | head; echo ok": undefined,
    "if grep x /dev/null | head; then ls | cat; fi": undefined,
    "seq 5 | tail -1 && grep x /dev/null | cat && echo ok": undefined,
    "yes | head -1; ls": undefined,
    "set -o pipefail; grep x /dev/null | head; ls": undefined,
    "set -o pipefail; (exit 3) | cat || true; ls": undefined,
    "echo BrokenPipeError >&2 | (exit 1) | cat; ls": undefined,
    // These codes are sufficient, or the line uses the code itself.
    "true | cat": undefined,
    "true; false": undefined,
    "set -o pipefail; (exit 3) | cat": undefined,
    "(exit 3) || true; ls": undefined,
    "i=0; while [ $i -lt 3 ]; do i=$((i + 1)); done": undefined,
    "while read line; do echo $line; done < /etc/passwd": undefined,
    "echo a; if [ -e nothing ]; then echo; fi": undefined,
    "echo a; if sh -c 'exit 3'; then echo; fi": undefined,
    "trap 'echo mine' EXIT; (exit 3) | cat": undefined,
  };
  await withShell(async ({ ran }) => {
    for (const [line, codes] of Object.entries(lines)) assert.deepEqual((await ran(line)).codes, codes, line);
    assert.deepEqual(Object.keys(await ran("false | true")).slice(0, 3), ["code", "codes", "signal"]);
    assert.equal((await ran("true; (exit 3)")).code, 3);
  });
});

Deno.test("learning the exit codes changes neither the outputs nor the files of a command", { ignore }, async () => {
  const lines = [
    "nosuch | cat",
    "echo a\nnosuch; echo $LINENO; echo )",
    'echo "a | b',
    "set -x; echo b; echo c",
    "exec 2>log; nosuch | cat; ls log",
    "printf 'no end' >&2 | cat",
    "f() { nosuch; }\nf | cat",
    'cat <<E | tr a b\n$(nosuch)a $# $0 "$*"\nE',
    "trap 'echo mine' EXIT; true | cat",
    'echo a; echo b | cat; echo "$_"; nosuch | cat; echo "$? ${PIPESTATUS[*]} $_"; mkdir -p x && cd $_ && pwd | cat; rmdir $PWD',
    "echo a | cat\nnosuch; echo $LINENO",
    "nosuch | cat; set -x; echo b; echo c",
    "set -e; nosuch | cat; false; echo no",
    "seq 100000 >&2; false | true",
  ];
  await withShell(async ({ env, ran, read }) => {
    for (const line of lines) {
      const plain = await env.spawn?.([SHELL, "-c", line], { timeoutMs: 20_000 }), log = read("workspace/log");
      const { code, stdout, stderr } = await ran(line);
      assert.deepEqual({ code, stdout, stderr, log: read("workspace/log") }, {
        ...{ code: plain?.code, stdout: plain?.stdout, stderr: plain?.stderr, log },
      }, line);
    }
  });
});

Deno.test("a user who approves a command reads the original line", async () => {
  const argvs: (readonly string[])[] = [];
  const walls = { network: false, whole: false, reason: "r", loopback: false, unix: false, hides: false, leftOut: [] };
  const env: EnvironmentView = {
    ...{ envId: "e", conversationId: "c", branchId: "b", depth: 0, workspace: "/w" },
    programWalls: () => Promise.resolve({ ...walls, unwalled: { mode: "ask", reason: "r", some: false } }),
    spawn: (argv) => {
      argvs.push(argv);
      const facts = { code: 0, signal: null, stdout: "", stderr: "", ms: 1, timedOut: false, truncated: false };
      return Promise.resolve({ ...facts, notes: [] });
    },
  };
  await run(env, "npm test | tail -1");
  assert.deepEqual(argvs, [[SHELL, "-c", "npm test | tail -1"]]);
});

Deno.test("a started command has the codes of its parts once it has ended, and no line more", { ignore }, async () => {
  await withShell(async ({ env }) => {
    const { codes, output, running } = await start(env, "echo out; (exit 3) | cat; nosuch; true", {
      waitMs: 60_000,
      until: "never",
    });
    assert.deepEqual([codes, running], [[3, 127, 0], false]);
    assert.match(output, /^out\n.*nosuch: command not found\n$/);
  });
});

Deno.test("a program cannot fill the memory with a line that begins as the shell's reports", { ignore }, async () => {
  await withShell(async ({ ran }) => {
    const token = 'token=$(printf %s "$BASH_EXECUTION_STRING" | grep -o "[0-9a-f-]\\{36\\}" | head -1)';
    const { codes, stderr } = await ran(
      `${token}; { printf "$token "; head -c 300000 /dev/zero | tr '\\0' x; echo; } >&2
      (exit 3) | cat`,
    );
    assert.deepEqual([codes, stderr.length], [[3, 0], 36 + 1 + 300_000 + 1]);
  });
});

Deno.test(
  "tests that failed before a pipe are said in the journal, in the facts and against an answer",
  { ignore },
  async () => {
    await place(async ({ wall, workspace }) => {
      const line = "(echo one failed; exit 1) | tail -20";
      await using engine = await startEngine([
        replyJson(`print((await shell.run(${JSON.stringify(line)})).stdout)`, { final: "All tests pass" }),
        replyJson([], { final: "One test fails" }),
      ], { workspace, extensions: [shell], spawn: (folder, argv, options) => wall.spawn(folder, argv, options) });
      const { answer, work } = await engine.ask("Do the tests pass?");
      assert.equal(answer, "One test fails");
      assert.match(
        engine.context(1),
        /answer was refused: .* tail -20 ended with code 1; you have not seen its output/,
      );
      assert.match(engine.context(1), /ran \(echo one failed; exit 1\) \| tail -20: exit codes 1, 0/);
      assert.equal(work?.text, `✗ ${line} (exit codes 1, 0)`);
      assert.deepEqual(work?.commands, [{ command: line, exitCode: 1, outcome: "exit codes 1, 0" }]);
    });
  },
);

Deno.test("commandOutcome() shows all codes of a command that hides one", () => {
  const end = { code: 0, signal: null, timedOut: false, stdout: "2 passed\n", stderr: "" };
  const { text, ok, exitCode } = commandOutcome({ ...end, codes: [141, 2, 0] });
  assert.deepEqual([text, ok, exitCode], ["2 passed · exit codes 141, 2, 0", false, 2]);
});
