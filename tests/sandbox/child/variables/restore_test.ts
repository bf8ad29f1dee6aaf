import assert from "node:assert/strict";
import vm from "node:vm";
import type { VariableImage } from "../../../../src/domain/query/variable.ts";
import { decode } from "../../../../src/sandbox/codec/codec.ts";
import type { BlockEnd } from "../../../../src/sandbox/child/variables/variables.ts";
import type { VariableRestoreReport } from "../../../../src/sandbox/sandbox.ts";
import { CORPUS } from "../block_corpus.ts";
import { MORE } from "../block_corpus_more.ts";
import { BlockRunner, type Ran } from "../block_runner.ts";

const names = (images: readonly VariableImage[]): string[] => images.map(({ name }) => name);
const saved = ({ end }: Ran): string[] => names(end.saved);

Deno.test("Variables.restore() functions calling functions, classes, instances, shared objects and cycles", async () => {
  using runner = new BlockRunner();
  await runner.run(`
    const base = 10
    const even = (n) => n === 0 ? true : odd(n - 1)
    function odd(n) { return n === 0 ? false : even(n - 1) }
    class Shape { constructor(n) { this.n = n; Shape.made++ } static made = 0; get area() { return this.n * scale(base) } }
    class Square extends Shape { tags = new Set(["sq"]) }
    function scale(x) { return x / 2 }
  `);
  await runner.run("const sq = new Square(4); const all = [sq, new Shape(1)]; const index = new Map([['sq', sq]])");
  await runner.run("const left = {}, right = { left }; left.right = right; const alone = { left: 1 }");
  const reports = runner.restart();
  assert.ok(
    reports.every(({ how, reason }) => (how === "data" || how === "eval") && reason === ""),
    JSON.stringify(reports),
  );
  assert.deepEqual(reports.find(({ name }) => name === "Square")?.how, "eval");
  const value = await runner.value(`[even(10), sq.area, sq instanceof Square, all[1].area, all[0] === sq,
    index.get("sq") === sq, left.right === right, right.left === left, Shape.made, odd.name, alone.left, [...sq.tags]]`);
  assert.deepEqual(value, [true, 20, true, 5, true, true, true, true, 2, "odd", 1, ["sq"]]);
});

Deno.test("Variables.restore() does not depend on the order of the images", async () => {
  using runner = new BlockRunner();
  await runner.run(
    "class A { v = 1 } class B extends A {} const b = new B(); const list = [b]; const f = () => list.length",
  );
  for (const images of [[...runner.stored.values()].reverse(), [...runner.stored.values()]]) {
    const reports = runner.restart(images);
    assert.deepEqual(reports.map(({ name }) => name), names(images));
    assert.deepEqual(await runner.value("[b instanceof A, f(), list[0] === b]"), [true, 1, true]);
  }
});

Deno.test("Variables.restore() gives the reason for each lost variable, and never throws", async () => {
  using runner = new BlockRunner();
  await runner.run(`
    const boom = 1
    class Static { static x = missing() }
    function missing() { return 1 }
  `);
  await runner.run("class Base {}; class Sub extends Base {}; const sub = new Sub(); const fn = ((a) => () => a)(1)");
  const images = [...runner.stored.values()].filter(({ name }) => name !== "Base");
  const broken = images.map((image) =>
    image.name === "boom"
      ? { ...image, bytes: new Uint8Array([9, 9, 9]) }
      : image.name === "missing"
      ? { ...image, source: "function missing( {" }
      : image
  );
  const reports = Object.fromEntries(runner.restart(broken).map(({ name, how, reason }) => [name, { how, reason }]));
  assert.equal(reports.boom?.how, "lost");
  assert.match(reports.boom?.reason ?? "", /Cannot decode/);
  assert.equal(reports.missing?.how, "lost");
  assert.match(reports.Static?.reason ?? "", /missing/);
  assert.match(reports.Sub?.reason ?? "", /Base/);
  assert.match(reports.sub?.reason ?? "", /they contain the missing class Sub/);
  assert.match(reports.fn?.reason ?? "", /function that a call made/);
  assert.deepEqual(await runner.value("[typeof boom, typeof Sub, typeof fn]"), ["undefined", "undefined", "undefined"]);
  assert.deepEqual(runner.variables.names(), []);
});

Deno.test("Variables.restore() continues: unchanged values make no version, changed ones do", async () => {
  using runner = new BlockRunner();
  await runner.run("const a = { n: 1 }, b = { a }, c = [1], f = (x) => x + c.length, n = 5");
  runner.restart();
  assert.deepEqual(saved(await runner.run("[a, b, c, f(1), n].length")), []);
  assert.deepEqual(saved(await runner.run("a.n = 2")), ["a", "b"]);
  assert.deepEqual(saved(await runner.run("c.push(2)")), ["c"]);
});

Deno.test("Variables.restore() of a function that was wrapped under its own name", async () => {
  using runner = new BlockRunner();
  await runner.run("function fib(n) { return n < 2 ? n : fib(n - 1) + fib(n - 2) }");
  runner.restart();
  await runner.run("let calls = 0; const old = fib; fib = (n) => { calls++; return old(n) }");
  assert.equal(await runner.value("fib(5), calls"), 15);
  assert.equal(runner.stored.get("fib")?.source, "(n) => { calls++; return old(n) }");
});

Deno.test("Variables redeclared as another kind keep the newest, also over a restart", async () => {
  using runner = new BlockRunner();
  for (
    const source of [
      "const x = 1",
      "function x() { return 2 }",
      "class x { v = 3 }",
      "const x = { v: 4 }",
      "let x = () => 5",
    ]
  ) {
    const { end } = await runner.run(source);
    assert.deepEqual(names(end.saved), ["x"], source);
  }
  runner.restart();
  assert.equal(await runner.value("x()"), 5);
  assert.equal(runner.stored.get("x")?.summary.declaration, "let");
});

Deno.test("Variables two variables that shared an object share it again, others do not", async () => {
  using runner = new BlockRunner();
  await runner.run("const a = { deep: { n: 1 } }, b = [a.deep], lonely = { n: 1 }");
  const [a, b, lonely] = ["a", "b", "lonely"].map((name) => runner.stored.get(name));
  assert.deepEqual([a?.root, b?.root, lonely?.root], ["a", "b", null]);
  assert.equal(a?.bytes, b?.bytes);
  assert.deepEqual(Object.keys(decode(a?.bytes ?? new Uint8Array()) as object), ["a", "b"]);
  await runner.run("const b = [0]");
  assert.equal(runner.stored.get("b")?.root, null, "no longer shared");
});

Deno.test("Variables work while the prototypes they could use are broken", async () => {
  using runner = new BlockRunner();
  await runner.run(
    "const list = [1], map = new Map([[{ a: 1 }, new Set(['x'])]]), shared = [map], text = 'x'.repeat(3000)",
  );
  await runner.run(
    "class A { x = 1 }; const a = [new A()]; function f() { return list }; const p = new Promise(() => {})",
  );
  const images = [...runner.stored.values()];
  await new vm.Script("list.push(2); map.set('k', new Date(0)); a[0].x = 5").runInThisContext();
  const owners: object[] = [Array, Map, Set, String, Date, RegExp, WeakMap, Number, Function, Uint8Array].map((one) =>
    one.prototype
  );
  owners.push(Object.getPrototypeOf(Uint8Array.prototype));
  const saved: [object, PropertyKey, PropertyDescriptor][] = [];
  for (const owner of owners) {
    for (const key of Reflect.ownKeys(owner)) {
      const descriptor = Object.getOwnPropertyDescriptor(owner, key);
      if (descriptor?.configurable && key !== "constructor") saved.push([owner, key, descriptor]);
    }
  }
  const define = Object.defineProperty;
  const broken: PropertyDescriptor = {
    get() {
      throw new Error("broken");
    },
    configurable: true,
  };
  let end: BlockEnd | null = null, reports: readonly VariableRestoreReport[] = [], failure: unknown = null;
  for (let i = 0; i < saved.length; i++) define(saved[i]![0], saved[i]![1], broken);
  try {
    end = runner.variables.afterBlock({ declarations: [], reads: ["list", "map", "a", "text", "f"] }, { ok: true });
    reports = runner.variables.restore(images);
  } catch (error) {
    failure = error;
  }
  for (let i = 0; i < saved.length; i++) define(saved[i]![0], saved[i]![1], saved[i]![2]);
  assert.equal(failure, null);
  assert.deepEqual(names(end?.saved ?? []), ["list", "map", "shared", "a"]);
  assert.ok(reports.every(({ name, how }) => how === "data" || how === "eval" || name === "p"));
});

Deno.test("Variables.restore() corpus: the variables of every block exist again after a restart", async () => {
  for (const [source, , names = ""] of [...CORPUS, ...MORE]) {
    using runner = new BlockRunner();
    const { error } = await runner.run(source);
    if (names === "" || error !== null || names.includes("Map")) continue;
    const all = names.split(" "), before = all.map((name) => runner.variables.lookup(name));
    assert.deepEqual([...runner.stored.keys()].sort(), [...all].sort(), source);
    const reports = runner.restart(), lost = reports.filter(({ how }) => how === "lost");
    assert.ok(lost.every(({ reason }) => /function|built-in|promise|private|instance|awaits/.test(reason)), source);
    all.forEach((name, i) => {
      const was = before[i], now = runner.variables.lookup(name);
      if (lost.some((one) => one.name === name)) return;
      if (typeof was !== "function") assert.deepEqual(now, was, `${source}: ${name}`);
      else {assert.deepEqual(
          [typeof now, Reflect.get(Object(now), "name")],
          ["function", was.name],
          `${source}: ${name}`,
        );}
    });
    if (lost.length === 0) assert.deepEqual(saved(await runner.run(`[${all.join(", ")}].length`)), [], source);
  }
});
