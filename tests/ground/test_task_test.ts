import assert from "node:assert/strict";
import { Program } from "./_program.ts";

/** Runs one isolate at a time, which files of one folder then share. */
async function testRun(program: Program, args: readonly string[] = []): Promise<{ code: number; last: string }> {
  const all = { args: ["run", "-A", "scripts/test.ts", ...args], env: { DENO_JOBS: "1" } };
  const { code, stdout } = await program.run(Deno.execPath(), all);
  return { code, last: stdout.trimEnd().split("\n").at(-1)! };
}

Deno.test("test task counts, ends with one line and exits with the right code", async () => {
  await using program = await Program.make();
  assert.deepEqual(await testRun(program), { code: 1, last: "0 passed, 1 failed" }, "no test at all");

  await program.write("tests/domain/good_test.ts", 'Deno.test("a", () => {});\nDeno.test.ignore("b", () => {});\n');
  assert.deepEqual(await testRun(program), { code: 0, last: "1 passed, 0 failed, 1 skipped" });
  assert.deepEqual(await testRun(program, ["--filter", "nothing"]), { code: 1, last: "0 passed, 1 failed" });

  await program.write("tests/domain/bad_test.ts", 'Deno.test("c", () => {\n  throw new Error("x");\n});\n');
  assert.deepEqual(await testRun(program, ["tests/domain/good_test.ts"]), {
    code: 0,
    last: "1 passed, 0 failed, 1 skipped",
  });

  await program.write("tests/domain/loading_test.ts", 'throw new Error("while loading");\n');
  await program.write("tests/domain/missing_test.ts", 'import "./missing.ts";\n');
  assert.deepEqual(await testRun(program), { code: 1, last: "1 passed, 3 failed, 1 skipped" });
  assert.deepEqual(await testRun(program, ["src"]), { code: 1, last: "0 passed, 1 failed" }, "no test there");
});

Deno.test("test task runs under the program's V8 flags and fails when the build does", async () => {
  await using program = await Program.make();
  await program.write(
    "tests/a_test.ts",
    'Deno.test("a", () => {\n  try {\n    new Function("");\n  } catch {\n    return;\n  }\n  throw new Error("generated");\n});\n',
  );
  assert.deepEqual(await testRun(program), { code: 0, last: "1 passed, 0 failed" });
  await program.write("src/sandbox/child/word.ts", "broken (");
  assert.deepEqual(await testRun(program), { code: 1, last: "0 passed, 1 failed" });
});
