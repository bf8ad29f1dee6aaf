import assert from "node:assert/strict";
import { BlockRunner } from "./block_runner.ts";

Deno.test("Variables.restore() a namespace comes back from its source, with what it exports as it was", async () => {
  using runner = new BlockRunner();
  await runner.run(
    "const base = 10\n// Counts.\nnamespace N { export let n = 1; export const list = [1]; export function up() { return n += base } }\nN.up(); N.list.push(2)",
  );
  assert.equal(runner.stored.get("N")?.summary.declaration, "namespace");
  assert.equal(runner.stored.get("N")?.summary.doc, "Counts.");
  assert.deepEqual(runner.stored.get("N")?.requires, ["base"]);
  assert.deepEqual(runner.restart().map(({ how }) => how), ["data", "eval"]);
  assert.deepEqual(await runner.value("[N.n, N.list, N.up(), N.n]"), [11, [1, 2], 21, 21]);
});

Deno.test("Variables.restore() classes of a namespace, aliases and functions that use it", async () => {
  using runner = new BlockRunner();
  await runner.run(
    "namespace A.B { export class C { v = 1; get w() { return k + this.v } } const k = 1 }\nimport B = A.B",
  );
  await runner.run("function make() { return new A.B.C() }\nclass D extends A.B.C { x = 2 }\nconst d = new D()");
  runner.restart();
  assert.deepEqual(await runner.value("[make().w, new D().x, B.C.name, d.v]"), [2, 2, "C", 1]);
});

Deno.test("Variables.restore() what several blocks added to one name", async () => {
  using runner = new BlockRunner();
  await runner.run("class A { m() { return A.x + A.y }; static s = 5 }");
  await runner.run("const one = new A()");
  await runner.run("namespace A { export const x = 1 }");
  await runner.run("namespace A { export const y = 2; export function f() { return A.s } }\nA.s = 6");
  await runner.run("enum E { P = 1 }");
  await runner.run(
    "enum E { Q = 2 }\nfunction g() { return g.h() }\nnamespace g { export function h() { return E.Q } }",
  );
  await runner.run("enum E { R = 3 }");
  runner.restart();
  assert.deepEqual(await runner.value("[new A().m(), one.m(), A.f(), one instanceof A, g(), E]"), [
    3,
    3,
    6,
    true,
    2,
    { P: 1, 1: "P", Q: 2, 2: "Q", R: 3, 3: "R" },
  ]);
});

Deno.test("Variables a namespace that fails or is redeclared is what the block left", async () => {
  using runner = new BlockRunner();
  await runner.run("namespace N { export const a = 1 }");
  const failed = await runner.run("namespace N { export const b = 2; throw new Error('x') }");
  assert.match(String(failed.error), /x/);
  assert.deepEqual(await runner.value("N"), { a: 1, b: 2 });
  runner.restart();
  assert.deepEqual(await runner.value("N"), { a: 1, b: 2 });
  await runner.run("N = { a: 7 }");
  runner.restart();
  assert.deepEqual(await runner.value("N"), { a: 7 });
  await runner.run("const N = 5");
  runner.restart();
  assert.equal(await runner.value("N"), 5);
});

Deno.test("Variables a namespace that a block does not come to stays as it was", async () => {
  using runner = new BlockRunner();
  await runner.run("namespace N { export const a = 1; export const f = () => a }");
  await runner.run("throw new Error('before')\nnamespace N { export const a = 2; export const f = () => 0 }");
  runner.restart();
  assert.equal(await runner.value("N.f()"), 1);
});

Deno.test("Variables what a namespace adds and fails to takes nothing from what was there", async () => {
  using runner = new BlockRunner();
  await runner.run("// Doc.\nnamespace N { export function f() { return 1 } }");
  await runner.run("namespace N { export const g = () => 2 }");
  await runner.run("namespace N { export const h = 3; null.x }");
  await runner.run("namespace M { export const f = () => 1; null.x }");
  assert.equal(runner.stored.get("N")?.summary.doc, "Doc.");
  assert.match(runner.stored.get("M")?.reason ?? "", /function/);
  const lost = runner.restart().filter(({ how }) => how === "lost");
  assert.deepEqual(lost.map(({ name }) => name), ["M"]);
  assert.deepEqual(await runner.value("[N.f(), N.g(), N.h]"), [1, 2, 3]);
});
