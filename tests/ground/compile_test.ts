import assert from "node:assert/strict";
import { join } from "node:path";
import { compileArguments, compileFailure } from "../../scripts/compile.ts";
import { PERMISSIONS } from "../../scripts/flags.ts";
import { baseRuntime } from "../helpers/base_runtime.ts";
import { Program } from "./_program.ts";

const runtime = await baseRuntime();
const RUN = ["run", "-A", "scripts/compile.ts"];

Deno.test("compileArguments() bakes in permissions, flags and the folder", () => {
  const args = compileArguments("/b", { output: "/out/vis", target: "aarch64-apple-darwin" });
  for (
    const flag of [...PERMISSIONS, "--no-prompt", "--no-npm", "--unstable-worker-options", "--unstable-no-legacy-abort"]
  ) {
    assert.ok(args.includes(flag), flag);
  }
  assert.ok(
    args.some((one) =>
      /^--v8-flags=--disallow-code-generation-from-strings,--max-semi-space-size=2,--no-compilation-cache,--heap-growing-percent=100,--max-old-space-size=\d+$/
        .test(one)
    ),
  );
  assert.equal(args[args.indexOf("--target") + 1], "aarch64-apple-darwin");
  assert.deepEqual(args.slice(-5), ["--include", "/b", "--output", "/out/vis", "/b/main.js"]);
  assert.ok(!compileArguments("/b", {}).includes("--target"));
});

Deno.test("compileFailure() tells a missing base runtime from other failures", () => {
  const text =
    "error: Writing\n\nCaused by:\n    0: Setting up base binary.\n    1: error sending request for url (x)\n";
  assert.match(
    compileFailure(text, "aarch64-apple-darwin"),
    /^Cannot compile for aarch64-apple-darwin: the base runtime.*\n {2}error sending request.*\n.*DENORT_BIN/,
  );
  assert.equal(compileFailure("error: bad flag\n", "x"), "Cannot compile: error: bad flag");
});

Deno.test("compile task gives one clear error where there is no base runtime", async () => {
  await using program = await Program.make();
  const failing = "#!/bin/sh\necho 'error: Setting up base binary: not found' >&2\nexit 1\n";
  await program.write("bin/failing", failing);
  const env = { DENO_COMPILE: join(program.root, "bin/failing") };
  const { code, stdout, stderr } = await program.run(Deno.execPath(), { args: RUN, env });
  assert.deepEqual([code, stdout], [1, ""]);
  assert.match(
    stderr,
    new RegExp(
      `^Cannot compile for ${Deno.build.target}: the base runtime of deno compile could not be fetched or used\\n`,
    ),
  );
});

Deno.test({
  name: `compile task makes one executable that finds its parts${runtime.ok ? "" : ` (skipped: ${runtime.reason})`}`,
  ignore: !runtime.ok,
  fn: async () => {
    await using program = await Program.make();
    const env = { ...runtime.env };
    const made = await program.run(Deno.execPath(), { args: [...RUN, "-o", "out/vis"], env });
    assert.equal(made.code, 0, made.stderr);
    assert.match(made.stdout, /\/out\/vis {2}\d+\.\d MB\n$/);
    const bundle = await Deno.readTextFile(join(program.root, "build/rehearsal/program.js"));
    for (const folder of ["main.ts", "src", "build"]) {
      await Deno.remove(join(program.root, folder), { recursive: true });
    }
    const { stdout } = await program.run("out/vis", { args: ["x"], input: "typed" });
    const { stack, ...rest } = JSON.parse(stdout);
    assert.deepEqual(rest, {
      args: ["x"],
      generated: "refused",
      globals: "object,function,object",
      input: "typed",
      main: false,
    });
    checkStack(stack, bundle);
    assert.equal((await program.run("out/vis", { args: ["__sandbox_child"] })).stdout, "first\n");
  },
});

/** A stack names the function and a line of the bundle, and in the bundle the file stands above the line. */
function checkStack(stack: string, bundle: string): void {
  const [, line = ""] = /^Error: shown\n +at Object\.failing \(file:.*\/program\.js:(\d+):\d+\)/.exec(stack) ?? [];
  const lines = bundle.split("\n");
  assert.match(lines[Number(line) - 1] ?? stack, /^throw new Error\("shown"\);$/);
  const file = lines.slice(0, Number(line)).findLast((one) => one.startsWith("// "));
  assert.equal(file, "// src/domain/failing.ts");
}
