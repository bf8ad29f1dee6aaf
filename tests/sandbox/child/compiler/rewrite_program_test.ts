import assert from "node:assert/strict";
import vm from "node:vm";
import fc from "fast-check";
import { sourcePosition } from "../../../../src/sandbox/child/compiler/errors.ts";
import { PLAIN_MAKERS } from "../../program_makers.ts";
import { programs } from "../../programs.ts";
import { BlockRunner, prepare } from "../block_runner.ts";
import { runs } from "../../../helpers/long_part.ts";

Deno.test("prepareBlock() the same program with and without persistence gives the same values", async () => {
  await fc.assert(
    fc.asyncProperty(programs(PLAIN_MAKERS, 12), async ({ names, statements, blocks }) => {
      const result = `[${names.join(", ")}]`;
      const plain: unknown = await new vm.Script(
        `(async () => { "use strict";\n${statements.join("\n")}\n;return ${result}\n})()`,
      ).runInThisContext();
      using runner = new BlockRunner();
      assert.deepEqual(await runner.value(...blocks, result), plain);
    }),
    { numRuns: runs(50, 150) },
  );
});

async function thrownAt(source: string): Promise<readonly [number, number]> {
  using runner = new BlockRunner();
  const { error, block } = await runner.run(source);
  assert.ok(error instanceof Error, source);
  const frame = /block0:(\d+):(\d+)/.exec(error.stack ?? "");
  const position = { line: Number(frame?.[1]), column: Number(frame?.[2]) };
  const { line, column } = sourcePosition(position, { ...block, source });
  return [line, column];
}

Deno.test("sourcePosition() errors are at the place where the model wrote them", async () => {
  const cases: readonly (readonly [string, readonly [number, number]])[] = [
    ["null.x", [1, 6]],
    ["const a = 1\nconst b = null.x", [2, 16]],
    ["const a = 1; const { b } = null.x; b", [1, 33]],
    ["f()\nfunction f() {\n  return null.x\n}", [3, 15]],
    ["function f() {\n  return null.x\n}\nf()", [2, 15]],
    ["function a() {}\nfunction f(n) { return n.x }\n\n  f(null)", [2, 26]],
    ["class A {\n  m() { throw new Error('x') }\n}\nnew A().m()", [2, 15]],
    ["await 1\n// comment\n  null.x", [3, 8]],
    ["if (1) { var x = 1, { y } = null }", [1, 23]],
    ["const n: number = 1\nconst s: string = null!.x", [2, 25]],
    ["type A = { a: 1 }\n\nlet v = (null as any as A).a", [3, 28]],
    ["enum E { A }\nfunction f<T>(x: T): T { return (x as any).y.z }\nf<number>(1)", [2, 46]],
    ["```ts\nconst a = 1\nnull.x\n```", [3, 6]],
    ["[1].map(x =&gt; null.x)", [1, 22]],
  ];
  for (const [source, expected] of cases) assert.deepEqual(await thrownAt(source), expected, source);
});

Deno.test("rewriteTopLevel() keeps the assignments of a failed block before its error", async () => {
  using runner = new BlockRunner();
  await runner.run("const a = 1");
  const { end } = await runner.run("const b = 2; a = 3; null.x; const c = 4");
  assert.deepEqual(end.saved.map(({ name }) => name), ["a", "b"]);
  assert.deepEqual(runner.variables.names(), ["a", "b"]);
  assert.deepEqual(await runner.value("[a, b, typeof c]"), [3, 2, "undefined"]);
});

Deno.test("rewriteTopLevel() a function alias does not clash with names in use", () => {
  const block = prepare("f()\nconst g = 'f\u200d'\nfunction f() {}");
  assert.ok(block.ok);
  assert.match(block.code, /function f\u200d\u200d\(/);
});
