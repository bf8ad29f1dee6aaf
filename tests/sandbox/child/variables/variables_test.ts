import assert from "node:assert/strict";
import type { VariableImage } from "../../../../src/domain/query/variable.ts";
import { decode } from "../../../../src/sandbox/codec/codec.ts";
import { BlockRunner, type Ran } from "../block_runner.ts";

const names = (images: readonly VariableImage[]): string[] => images.map(({ name }) => name);
const saved = ({ end }: Ran): string[] => names(end.saved);

Deno.test("Variables.afterBlock() saves the definitions of a block, in order, each by its kind", async () => {
  using runner = new BlockRunner();
  const { end } = await runner.run(`
    // Counts things
    const n = 5, text = "x", list = [1, { a: 2 }]
    function f(a, b = 1) { return a + n }
    const g = (x) => x * 2
    class P { constructor(x) { this.x = x } }
    const p = new P(3), nested = { ps: [new P(1)] }
    const add = ((c) => () => c++)(0)
    const wait = new Promise(() => {})
  `);
  const kinds = end.saved.map(({ name, kind }) => `${name}:${kind}`);
  assert.deepEqual(kinds, [
    "n:data",
    "text:data",
    "list:data",
    "f:function",
    "g:function",
    "P:class",
    "p:instance",
    "nested:data",
    "add:lost",
    "wait:pending",
  ]);
  const image = (name: string): VariableImage | undefined => end.saved.find((one) => one.name === name);
  assert.equal(image("n")?.summary.doc, "Counts things");
  assert.equal(image("n")?.summary.inline, "5");
  assert.equal(image("f")?.source, "function f(a, b = 1) { return a + n }");
  assert.deepEqual(image("f")?.requires, ["n"]);
  assert.equal(image("f")?.summary.shape, "f(a, b = 1)");
  assert.equal(image("p")?.source, "P");
  assert.deepEqual(image("p")?.requires, ["P"]);
  assert.deepEqual(image("nested")?.requires, ["P"]);
  assert.match(image("add")?.reason ?? "", /made/);
  assert.equal(image("add")?.source, "const add = ((c) => () => c++)(0)");
  assert.deepEqual([end.touched, end.pending, end.lost], [[], ["wait"], ["add"]]);
});

Deno.test("Variables.afterBlock() same bytes make no version; a change makes one", async () => {
  using runner = new BlockRunner();
  await runner.run("const list = [1], other = [2], n = 1; function f() { return list }");
  assert.deepEqual(saved(await runner.run("list.length + n + f().length")), []);
  assert.deepEqual(saved(await runner.run("const list = [1]")), []);
  assert.deepEqual(saved(await runner.run("function f() { return list }")), []);
  assert.deepEqual(saved(await runner.run("list.push(2)")), ["list"]);
  assert.deepEqual(saved(await runner.run("n = 2; n = 1")), []);
  assert.deepEqual(saved(await runner.run("n = 2")), ["n"]);
  assert.deepEqual(saved(await runner.run("1 + 1")), []);
});

Deno.test("Variables.afterBlock() a plain value has a version for each change, restored ones too", async () => {
  using runner = new BlockRunner();
  const steps: readonly (readonly [block: string, changed: readonly string[]])[] = [
    ["var v = 'a', other = 1", ["v", "other"]],
    ["v = 'b'", ["v"]],
    ["v = 'a'", ["v"]],
    ["v = 'x'.repeat(3)", ["v"]],
    ["v = 'xxx'", []],
    ["v = { a: 1 }", ["v"]],
    ["v = 'xxx'", ["v"]],
    ["v = -0", ["v"]],
    ["v = 0", ["v"]],
    ["v = NaN", ["v"]],
    ["v = NaN; other = 1", []],
    ["v = undefined", ["v"]],
  ];
  for (const [block, changed] of steps) {
    assert.deepEqual(saved(await runner.run(block)), changed, block);
    const before = await runner.value("[v, other]");
    runner.restart();
    assert.deepEqual(await runner.value("[v, other]"), before, block);
    assert.deepEqual(saved(await runner.run("v; other; v = v")), [], block);
  }
});

Deno.test("Variables.afterBlock() finds changes through functions, shared objects, closures, methods and promises", async () => {
  const cases: readonly (readonly [setUp: string, block: string, changed: readonly string[]])[] = [
    ["const list = []; function add() { list.push(1) }", "add()", ["list"]],
    ["const list = []; const a = () => b(); function b() { list.push(1) }", "a()", ["list"]],
    ["const inner = { n: 1 }, outer = { inner }", "inner.n = 2", ["inner", "outer"]],
    ["const inner = { n: 1 }, map = new Map([[1, { inner }]]), far = [map]", "far[0].get(1).inner.n++", [
      "far",
      "inner",
      "map",
    ]],
    ["const make = () => { const c = []; return { add: () => c.push(1), c } }; const { add, c } = make()", "add()", [
      "c",
    ]],
    ["const make = () => { const c = []; return () => c }; const get = make(); const c = get()", "get().push(1)", [
      "c",
    ]],
    ["const log = []; class L { hit() { log.push(1) } }; const l = new L()", "l.hit()", ["log"]],
    ["const log = []; const o = { l: null }; class L { hit() { log.push(1) } }; o.l = [new L()]", "o.l[0].hit()", [
      "log",
    ]],
    ["const a = [1], b = [2]", "globalThis.a.push(2)", ["a"]],
    [
      "const list = []; let go; const p = new Promise(r => { go = r }).then(() => list.push(1))",
      "go(); await 0; await 0; await 0",
      ["list"],
    ],
  ];
  for (const [setUp, block, changed] of cases) {
    using runner = new BlockRunner();
    const first = await runner.run(setUp);
    assert.equal(first.error, null, setUp);
    const { end, error } = await runner.run(block);
    assert.equal(error, null, block);
    const data = end.saved.filter(({ kind }) => kind === "data").map(({ name }) => name).sort();
    assert.deepEqual(data, [...changed].sort(), `${setUp} | ${block}`);
  }
});

Deno.test("Variables.afterBlock() ignores values that the block cannot reach", async () => {
  using runner = new BlockRunner();
  await runner.run("const a = { n: 1 }, b = { n: 1 }");
  Reflect.get(globalThis, "b").n = 2;
  assert.deepEqual(saved(await runner.run("a.n = 2")), ["a"], "b is not looked at");
  assert.deepEqual(saved(await runner.run("b")), ["b"]);
});

Deno.test("Variables.afterBlock() touched are changes without a declaration", async () => {
  using runner = new BlockRunner();
  await runner.run("const a = [], b = []");
  const { end } = await runner.run("const c = [3]; a.push(1); const b = [9]");
  assert.deepEqual([names(end.saved), end.touched], [["a", "b", "c"], ["a"]]);
});

Deno.test("Variables.afterBlock() lost kinds have the reason and the statement that made them", async () => {
  const cases: readonly (readonly [statement: string, reason: RegExp])[] = [
    ["const v = ((a) => () => a)(1)", /function that a call made/],
    ["const v = (() => 1).bind(null)", /bound/],
    ["const v = Math.max", /built-in/],
    ["const v = [1].values()", /Array Iterator/],
    ["const v = (function* () { yield 1 })()", /Generator/],
    ["const v = new WeakMap()", /WeakMap/],
    ["const v = { deep: [{ f: () => 1 }] }", /\.deep\[0\]\.f is a function/],
    ["const v = new Proxy({}, {})", /Proxy/],
    ["const v = Symbol('x')", /symbol/],
    ["const v = Promise.resolve(1)", /promise/],
    ["class Q { #p = 1 }; const v = new Q()", /private fields/],
    ["class Q { #m() {} }; class R extends Q {}; const v = [new R()]", /private fields/],
    ["const v = new (class Inner {})()", /Inner.*top level/],
    ["const v = Object.create({ a: 1 })", /top level/],
    ["const v = new Intl.NumberFormat()", /Intl/],
  ];
  for (const [statement, reason] of cases) {
    using runner = new BlockRunner();
    const { end } = await runner.run(statement);
    const image = end.saved.find(({ name }) => name === "v");
    assert.equal(image?.kind, "lost", statement);
    assert.match(image.reason, reason);
    assert.match(image.source, /^const v = /);
    assert.deepEqual(end.lost, ["v"]);
    assert.notEqual(await runner.value("v"), undefined, "it lives on in this process");
  }
});

Deno.test("Variables.forget() removes names and restores the names that they hid", async () => {
  using runner = new BlockRunner();
  const before = globalThis.URL;
  await runner.run("const URL = 'mine', x = 1");
  assert.equal(await runner.value("URL"), "mine");
  runner.variables.forget(["URL", "x", "never"]);
  assert.equal(globalThis.URL, before);
  assert.equal(await runner.value("typeof x"), "undefined");
  assert.deepEqual(runner.variables.names(), []);
});

Deno.test("Variables.declare() refuses names that the realm reserves, and keeps existing values", () => {
  using runner = new BlockRunner();
  const { variables } = runner;
  assert.throws(() => variables.declare(["Infinity"]), SyntaxError);
  variables.bind("x", 5, { user: true });
  variables.declare(["x"]);
  assert.equal(variables.read("x"), 5);
});

Deno.test("Variables.present() has the variables in the middle of a block, and changes no saved version", async () => {
  using runner = new BlockRunner();
  const seen = new Map<string, VariableImage | null>();
  Reflect.set(globalThis, "see", (name: string) => void seen.set(name, runner.variables.present(name)));
  await runner.run("let f = () => 1, n = 1, gone = () => 0; const same = f, long = 'x'.repeat(33 << 20)");
  await runner.run("let longer = 'y'.repeat(33 << 20)");
  const { end } = await runner.run(`
    // Doubles
    const g = (x) => x * n
    f = () => 2
    class P { n = 1 }
    const p = new P(), copy = g
    n = 2
    longer += "z"
    for (const name of ["f", "g", "p", "P", "copy", "n", "same", "long", "longer", "none", "URL"]) see(name)
    n = 3
    f = () => 3
  `);
  const of = (name: string) => seen.get(name);
  assert.equal(of("f")?.source, "() => 2");
  assert.deepEqual([of("g")?.source, of("g")?.requires, of("g")?.summary.declaration], [
    "(x) => x * n",
    ["n"],
    "const",
  ]);
  assert.deepEqual([of("P")?.kind, of("p")?.kind, of("p")?.requires], ["class", "instance", ["P"]]);
  assert.deepEqual([of("copy")?.root, of("same")?.source], ["g", "() => 1"]);
  assert.deepEqual(decode(of("n")!.bytes), 2);
  assert.equal(of("long"), null);
  assert.match(of("longer")?.reason ?? "", /^it has \d+ bytes, and the limit within a block is 33554432; use it in a/);
  assert.deepEqual([of("none"), of("URL")], [null, null]);
  assert.deepEqual(names(end.saved).toSorted(), ["P", "copy", "f", "g", "longer", "n", "p", "same"]);
  assert.equal(runner.stored.get("f")?.source, "() => 3");
  await runner.run("see('f'); f = () => 4");
  assert.equal(of("f")?.source, "() => 3");
  Reflect.deleteProperty(globalThis, "see");
});

Deno.test("Variables.bind() of a user's variable is saved with the next block, of another name never", async () => {
  using runner = new BlockRunner();
  runner.variables.bind("rows", [1, 2], { user: true });
  runner.variables.bind("$query", "what?");
  assert.deepEqual(runner.variables.names(), ["rows"]);
  assert.deepEqual(runner.variables.allNames(), ["rows", "$query"]);
  assert.deepEqual(saved(await runner.run("$query.length")), ["rows"]);
  assert.deepEqual(saved(await runner.run("rows.length")), []);
  assert.equal(runner.variables.read("$query"), "what?");
  assert.throws(() => runner.variables.read("nothing"), ReferenceError);
  assert.equal(runner.variables.lookup("nothing"), undefined);
  Reflect.deleteProperty(globalThis, "$query");
});

Deno.test("Variables pending promises: named while they wait, lost when settled", async () => {
  using runner = new BlockRunner();
  const first = await runner.run("let done; const p = new Promise((r) => { done = r })");
  assert.deepEqual(first.end.pending, ["p"]);
  assert.deepEqual((await runner.run("1")).end.pending, ["p"]);
  await runner.run("done(1); await p");
  const { end } = await runner.run("2");
  assert.deepEqual([end.pending, end.lost], [[], []]);
  assert.equal(runner.stored.get("p")?.kind, "lost");
});

Deno.test("Variables a promise that rejects is still reported as unhandled", async () => {
  using runner = new BlockRunner();
  const reasons: unknown[] = [];
  const listen = (event: PromiseRejectionEvent): void => {
    event.preventDefault();
    reasons.push(event.reason);
  };
  globalThis.addEventListener("unhandledrejection", listen);
  try {
    await runner.run("let fail; const p = new Promise((_, r) => { fail = r })");
    await runner.run("fail('why')");
    await new Promise((resolve) => setTimeout(resolve, 5));
  } finally {
    globalThis.removeEventListener("unhandledrejection", listen);
  }
  assert.ok(reasons.includes("why"));
});

Deno.test("Variables a large value next to many small ones: only named ones are read again", async () => {
  using runner = new BlockRunner();
  await runner.run(
    "const big = Array.from({ length: 60_000 }, (_, i) => ({ i })), small = { n: 1 }, tied = { first: big[0] }",
  );
  assert.deepEqual(saved(await runner.run("small.n")), []);
  const { end } = await runner.run("tied.first.i = 9; 0");
  assert.ok(names(end.saved).includes("tied"));
  assert.deepEqual(saved(await runner.run("big.length")).includes("big"), true, "found when it is named");
});

Deno.test("Variables a deleted or overwritten global is no variable any more", async () => {
  using runner = new BlockRunner();
  await runner.run("const x = 1, y = 2");
  await runner.run("delete globalThis.x");
  assert.deepEqual(runner.variables.names(), ["y"]);
  await runner.run(
    "Object.defineProperty(globalThis, 'y', { get: () => { throw new Error('ran') }, configurable: true })",
  );
  assert.equal((await runner.run("const y = 3; y")).value, 3);
});
