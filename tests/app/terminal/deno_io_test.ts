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
  name: "DenoIo ignores one signal after the end of the work, and ends the program at the second",
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
  name: "an unnamed terminal has no more abilities than a dumb one",
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

const READER = new URL("../../../src/app/terminal/deno_io.ts", import.meta.url);

async function readOf(bytes: readonly number[]): Promise<readonly [text: string, said: string]> {
  const code = `import { DenoIo } from ${JSON.stringify(READER.href)};
    const text = await new DenoIo([], { noColor: true }).readStdin();
    Deno.stdout.writeSync(new TextEncoder().encode(text));`;
  const args = ["eval", "--quiet", "--no-lock", "--no-check", code];
  const child = new Deno.Command(Deno.execPath(), { args, stdin: "piped", stdout: "piped", stderr: "piped" }).spawn();
  await ReadableStream.from([Uint8Array.from(bytes)]).pipeTo(child.stdin);
  const { stdout, stderr } = await child.output();
  return [new TextDecoder().decode(stdout), new TextDecoder().decode(stderr)];
}

Deno.test("DenoIo reads stdin in its encoding, and reports a guess and replaced characters", async () => {
  const utf8 = [...new TextEncoder().encode("Größe für süße ")];
  assert.deepEqual(await readOf(utf8), ["Größe für süße ", ""]);
  assert.deepEqual(await readOf([0x67, 0x72, 0xfc, 0xdf]), ["grüß", "vis: Vis reads stdin as windows-1252, a guess\n"]);
  assert.deepEqual(await readOf([...utf8, 0xff, 0x61]), [
    "Größe für süße \uFFFDa",
    "vis: Vis replaced 1 character of stdin with U+FFFD: the bytes are not UTF-8\n",
  ]);
  const wide = [..."name = 1\n"].flatMap((char) => [char.charCodeAt(0), 0]);
  assert.deepEqual(await readOf(wide), ["name = 1\n", "vis: Vis reads stdin as utf-16le, a guess\n"]);
});
