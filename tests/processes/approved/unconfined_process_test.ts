import assert from "node:assert/strict";
import { runFree, systemCommand } from "../../../src/processes/approved/_unconfined_process.ts";

const OWN = { PATH: "/usr/bin:/bin" };
const run = (text: string, options: Partial<Parameters<typeof runFree>[1]> = {}) =>
  runFree(["/bin/sh", "-c", text], { cwd: "/", own: OWN, ...options });

function isRunning(pid: number): boolean {
  try {
    return !/^\d+ \(.*\) Z/.test(Deno.readTextFileSync(`/proc/${pid}/stat`));
  } catch {
    return false;
  }
}

/** Waits until the process is gone. A hanging test shows that it never ended. */
async function gone(pid: number): Promise<void> {
  while (isRunning(pid)) await new Promise((resolve) => setTimeout(resolve, 5));
}

Deno.test("runFree() a failed program is a result, and a missing one an error", async () => {
  const { code, signal, stderr } = await run("echo wrong >&2; exit 3");
  assert.deepEqual([code, signal, stderr], [3, null, "wrong\n"]);
  await assert.rejects(runFree(["/nowhere/tool"], { cwd: "/", own: OWN }));
});

Deno.test("runFree() ends the processes in a program's group with it", async () => {
  const { stdout } = await run("sleep 1000 >/dev/null 2>&1 & echo $!");
  await gone(Number(stdout));
});

Deno.test("runFree() the time limit, the signal and a stop end the whole group", async () => {
  const text = "sleep 1000 & echo $!; wait";
  const late = await run(text, { timeoutMs: 300 });
  assert.deepEqual([late.timedOut, late.signal], [true, "SIGKILL"]);
  await gone(Number(late.stdout));
  for (const key of ["signal", "stop"] as const) {
    const controller = new AbortController();
    let pid = 0;
    const running = run(text, {
      [key]: controller.signal,
      onOutput: (_output, bytes) => {
        pid = Number(new TextDecoder().decode(bytes));
        controller.abort(new Error("enough"));
      },
    });
    if (key === "signal") await assert.rejects(running, /enough/);
    else assert.equal((await running).signal, "SIGTERM");
    await gone(pid);
  }
});

Deno.test("runFree() keeps the beginning and the end of a long output", async () => {
  const { stdout, truncated } = await run("seq 1 100000", { maxBytes: 1_000 });
  assert.equal(truncated, true);
  assert.ok(stdout.length < 1_200);
  assert.match(stdout, /^1\n2\n[^]*Vis omits \d+ bytes[^]*\n100000\n$/);
});

Deno.test("runFree() guesses the encoding of a whole output, and of no part of one", async () => {
  const guess = { guessEncoding: true };
  const line = "Gr\\366\\337e und \\334berma\\337", latin = `printf '${line}\\n'`;
  const { stdout, stderr, notes } = await run(`${latin}; printf '\\377\\376a\\0b\\0' >&2`, guess);
  assert.deepEqual([stdout, stderr], ["Größe und Übermaß\n", "ab"]);
  assert.deepEqual(notes, ["stdout is read as windows-1252, a guess", "stderr is read as utf-16le"]);
  const parts = [[latin, { ...guess, maxBytes: 10 }], [`${latin}; kill -9 $$`, guess], [latin, {}]] as const;
  for (const [text, options] of parts) {
    const part = await run(text, options);
    assert.match(part.stdout, /^Gr\ufffd/);
    assert.deepEqual(part.notes, []);
  }
  assert.equal((await run("printf 'a\\0\\351'", guess)).stdout, "a\0\ufffd");
});

Deno.test("systemCommand() passes a command line to PowerShell on Windows, and refuses text that batch files reinterpret", () => {
  assert.deepEqual(systemCommand(["/bin/sh", "-c", "npm test"], "darwin"), ["/bin/sh", "-c", "npm test"]);
  assert.deepEqual(systemCommand(["/bin/sh", "-c", "npm test"], "windows"), [
    ...["pwsh", "-NoProfile", "-NonInteractive", "-Command", "npm test"],
  ]);
  assert.deepEqual(systemCommand(["npm.cmd", "test"], "windows"), ["npm.cmd", "test"]);
  assert.throws(() => systemCommand(["npm.cmd", "a&evil"], "windows"), /batch files change line breaks/);
  assert.deepEqual(systemCommand(["tool.exe", "a&b"], "windows"), ["tool.exe", "a&b"]);
});

Deno.test("runFree() finds programs in absolute folders only", async () => {
  for (const [path, wanted] of [["./bin:/usr/bin:/bin", "/usr/bin:/bin"], ["./bin", "/usr/bin:/bin"]] as const) {
    assert.equal((await run("echo $PATH", { own: { PATH: path } })).stdout, `${wanted}\n`);
  }
});
