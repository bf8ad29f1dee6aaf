import assert from "node:assert/strict";
import { fileURLToPath } from "node:url";
import { dumbTerminal } from "../../../src/app/terminal/deno_io.ts";

const PROGRAM = fileURLToPath(new URL("../_signalled_main.ts", import.meta.url));

async function signalled(
  ...signals: readonly (Deno.Signal | "draining")[]
): Promise<readonly [string, number, string | null]> {
  const args = ["run", "-A", "--quiet", "--no-lock", "--no-check", PROGRAM, ...signals];
  const child = new Deno.Command(Deno.execPath(), { args, stdin: "piped", stdout: "piped" }).spawn();
  try {
    const { stdout, code, signal } = await child.output();
    return [new TextDecoder().decode(stdout), code, signal];
  } finally {
    await child.stdin.close().catch(() => {});
  }
}

Deno.test({
  name: "DenoIo lets one signal after the end of what ran cut nothing, and a second one end the program",
  ignore: Deno.build.os === "windows",
  fn: async () => {
    for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
      assert.deepEqual(await signalled(signal), ["closed", 0, null], signal);
    }
    assert.deepEqual(await signalled("SIGINT", "SIGTERM"), ["", 130, null]);
    const [text, ...end] = await signalled("draining", "SIGHUP");
    assert.deepEqual([text.length, ...end], [4 << 20, 0, null]);
  },
});

Deno.test({
  name: "a terminal that is not named can do no more than one that is dumb",
  ignore: Deno.build.os === "windows",
  fn: () => {
    assert.deepEqual([{}, { TERM: "" }, { TERM: "dumb" }, { TERM: "xterm-256color" }].map(dumbTerminal), [
      "TERM is not set",
      "TERM is not set",
      "TERM is dumb",
      null,
    ]);
  },
});
