import assert from "node:assert/strict";
import { join } from "node:path";
import { baseRuntime } from "../helpers/base_runtime.ts";
import { Program } from "./_program.ts";

const runtime = await baseRuntime();

Deno.test({
  name: `compile task makes one executable that finds its parts${runtime.ok ? "" : ` (skipped: ${runtime.reason})`}`,
  ignore: !runtime.ok,
  fn: async () => {
    await using program = await Program.make();
    const env = { ...runtime.env };
    const made = await program.run(Deno.execPath(), {
      args: ["run", "-A", "scripts/compile.ts", "-o", "out/vis"],
      env,
    });
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

/** Asserts that a stack names the function and a line of the bundle, and that the bundle names the file above that
 * line. */
function checkStack(stack: string, bundle: string): void {
  const [, line = ""] = /^Error: shown\n +at Object\.failing \(file:.*\/program\.js:(\d+):\d+\)/.exec(stack) ?? [];
  const lines = bundle.split("\n");
  assert.match(lines[Number(line) - 1] ?? stack, /^throw new Error\("shown"\);$/);
  const file = lines.slice(0, Number(line)).findLast((one) => one.startsWith("// "));
  assert.equal(file, "// src/domain/failing.ts");
}
