import assert from "node:assert/strict";
import { BlockRunner, prepare } from "./block_runner.ts";

/** A block, its value, and the names that it leaves behind. */
type Case = readonly [source: string, value: unknown, names?: string];

const CORPUS: readonly Case[] = [
  // the value
  ["1 + 1", 2],
  ["'a'.length // comment", 1],
  ["5;", 5],
  ["5;;", 5],
  ["(1, 2)", 2],
  ["main()\nfunction main() { return part() + 1 }\n// last\nfunction part() { return 1 }", 2, "main part"],
  ["1\nclass Last {}", undefined, "Last"],
  ["(1)\n", 1],
  ["const x = 1", undefined, "x"],
  ["if (true) { 1 }", undefined],
  ["1; // a\n// b", 1],
  ["[1, 2].map(x => x * 2) /* c */ ;", [2, 4]],
  ["return 7", 7],
  ["`a${1}`", "a1"],
  ["x = 1\nvar x", undefined, "x"],
  ["(function () { return 3 })()", 3],
  ["(() => 4)()", 4],
  ["(class { static v = 5 }).v", 5],
  ["a: for (const i of [1, 2]) { for (const j of [1]) { continue a } }\n6", 6],
  // declarations
  ["const x = 1, y = x + 1; y", 2, "x y"],
  ["let x; x", undefined, "x"],
  ["let x\nlet y = 2;\n[x, y]", [undefined, 2], "x y"],
  ["var x = 1; var x = 2; x", 2, "x"],
  ["const { a, b: { c = 3 }, ...rest } = { a: 1, b: {}, d: 4 }; [a, c, rest]", [1, 3, { d: 4 }], "a c rest"],
  ["const [a, , [b] = [2], ...c] = [1, 0, undefined, 3, 4]\n;[a, b, c]", [1, 2, [3, 4]], "a b c"],
  ["const { [`k${1}`]: v } = { k1: 9 }; v", 9, "v"],
  ["const\n  x\n  =\n  1\nx", 1, "x"],
  ["const {\n  a,\n  b,\n} = { a: 1, b: 2 }\na + b", 3, "a b"],
  ["let a = 1, { b } = { b: 2 }, [c] = [3]; a + b + c", 6, "a b c"],
  ["const f = () => 1; f.name", "f", "f"],
  ["const f = function () {}; f.name", "f", "f"],
  ["const f = function g() { return g.name }; f()", "g", "f"],
  ["const A = class {}; A.name", "A", "A"],
  ["if (true) { var v = 1 }\nv", 1, "v"],
  ["for (var i = 0; i < 3; i++) {}\ni", 3, "i"],
  ["for (var i = 0, n = 2; i < n; i++);\ni", 2, "i n"],
  ["for (var k in { a: 1 }) {}\nk", "a", "k"],
  ["for (var [p, q] of [[1, 2]]) {}\np + q", 3, "p q"],
  ["for (var { a, b = 2 } of [{ a: 1 }]) {}\na + b", 3, "a b"],
  ["if (1) var v = 1\nelse var w = 2\nv", 1, "v w"],
  ["switch (1) { case 1: var s = 2 }\ns", 2, "s"],
  ["try { var t = 1; throw 0 } catch { var u = 2 }\nt + u", 3, "t u"],
  ["{ var { d } = { d: 4 } }\nd", 4, "d"],
  ["for (let i = 0; i < 2; i++) {}\ntypeof i", "undefined"],
  [
    "{ let z = 1; const y = 2; class C {} function fn() {} }\ntypeof z + typeof C + typeof fn",
    "undefinedundefinedundefined",
  ],
  ["const fs = []; for (let i = 0; i < 3; i++) fs.push(() => i); fs.map(f => f())", [0, 1, 2], "fs"],
  // functions and classes
  ["f()\nfunction f() { return g() }\nfunction g() { return 2 }", 2, "f g"],
  ["function f() { return 1 }\nf.name", "f", "f"],
  ["f.name\nfunction f() { return 1 }", "f", "f"],
  ["const y = f.name\nfunction f() { return 1 }\ny", "f", "y f"],
  ["function f(n) { return n < 2 ? n : f(n - 1) + f(n - 2) }\nf(10)", 55, "f"],
  [
    "function fib(n) { calls++; return n < 2 ? n : fib(n - 1) + fib(n - 2) }\nlet calls = 0, slow = fib, memo = {}\nfib = n => memo[n] ??= slow(n)\nfib(20), calls",
    21,
    "fib calls slow memo",
  ],
  ["async function f() { return 1 }\nawait f()", 1, "f"],
  ["function* g() { yield 1; yield 2 }\n[...g()]", [1, 2], "g"],
  [
    "async function* g() { yield 1; yield 2 }\nconst out = []; for await (const x of g()) out.push(x); out",
    [1, 2],
    "g out",
  ],
  ["function f() { return arguments.length }\n(f(1, 2))", 2, "f"],
  ["function f() { 'x' }\n[1].length", 1, "f"],
  [
    "class A { #p = 1; get p() { return this.#p } static make() { return new A() } static { this.s = 2 } }\nA.make().p + A.s",
    3,
    "A",
  ],
  ["class A { v() { return 1 } }\nclass B extends A { v() { return super.v() + 1 } }\nnew B().v()", 2, "A B"],
  ["class A {}\n(new A()).constructor.name", "A", "A"],
  [
    "class A { async *[Symbol.asyncIterator]() { yield 1 } }\nlet n = 0; for await (const x of new A()) n += x; n",
    1,
    "A n",
  ],
  ["const o = { m() { return this.x }, x: 1, get g() { return 2 } }; o.m() + o.g", 3, "o"],
  // async
  ["await Promise.resolve(3)", 3],
  ["const x = await 1; x", 1, "x"],
  ["for await (const x of [Promise.resolve(1)]) var last = x\nlast", 1, "last"],
  ["const [a, b] = await Promise.all([1, 2]); a + b", 3, "a b"],
  ["(async () => 1)()", 1],
  // separators, comments, directives
  ["const a = 1\nconst { b } = { b: 2 }\n;[a, b]", [1, 2], "a b"],
  ["let a = 1\nlet b = a\n++b\nb", 2, "a b"],
  ["'use strict'\nconst a = 1\na", 1, "a"],
  ["/* before */ const a /* in */ = /* here */ 1 // after\na // end", 1, "a"],
  ["const a = 1 // no semicolon\nconst [b] = [a]\nb", 1, "a b"],
  ["let e\n[1].length", 1, "e"],
  ["const t = `\n  const x = 1\n`\nt.length", 15, "t"],
  ["const r = /[/]'\"`/.source; r.length", 6, "r"],
  ["// only a comment before\n\n\n1", 1],
  ["const s = 'a\\u2028b'; s.length", 3, "s"],
  ["var a = 1, b = 2\nvar c\n(a + b)", 3, "a b c"],
  ["(function () { return typeof this })()", "undefined"],
  ["undefinedName = 1", ReferenceError],
  ["throw new TypeError('x')", TypeError],
  ["null.x", TypeError],
  // using
  ["const log = []; { using r = { [Symbol.dispose]() { log.push('d') } }; log.push('b') }\nlog", ["b", "d"], "log"],
  ["const log = []\nusing r = { [Symbol.dispose]() { log.push('d') } }\nlog.push('b')\nlog.length", 1, "log"],
  ["await using r = { async [Symbol.asyncDispose]() {} }\n1", 1],
  // data literals
  ["{ a: 1 }", { a: 1 }],
  ['{ "a": [1, { b: null }] }', { a: [1, { b: null }] }],
  ["{}", {}],
  ["{ let q = 1; q }", undefined],
  ["[1, 'a', -2]", [1, "a", -2]],
  // TypeScript
  ["const x: number = 1; x", 1, "x"],
  ["interface A { b: string }\ntype C = A | null\nconst a: C = null; a", null, "a"],
  ["interface A { b: string }", undefined],
  ["type A = 1; declare const z: number; declare function q(): void", undefined],
  ["enum E { A, B = 5, C }\n[E.A, E.C, E[5]]", [0, 6, "B"], "E"],
  ["const enum E { A = 'x' }\nE.A", "x", "E"],
  ["enum E { A }", undefined, "E"],
  ["const f = <T,>(x: T): T => x; f<number>(2)", 2, "f"],
  ["function f<T extends object>(x: T, y?: string): x is T { return true }\nf({})", true, "f"],
  ["function f(a: number): number\nfunction f(a: string): string\nfunction f(a: any) { return a }\nf(1)", 1, "f"],
  [
    "class P { constructor(private readonly x: number, public y = 2) {} sum() { return this.x + this.y } }\nnew P(1).sum()",
    3,
    "P",
  ],
  [
    "abstract class A { abstract v(): number; w() { return this.v() } }\nclass B extends A { override v() { return 1 } }\nnew B().w()",
    1,
    "A B",
  ],
  ["class A<T> { declare q: string; #v?: T; static n: number = 1 }\nA.n", 1, "A"],
  ["const x = { a: 1 } satisfies Record<string, number>; x.a as unknown as number", 1, "x"],
  ["const x = ([1] as const)[0]!; x", 1, "x"],
  ["let x: number\nx = 1\nx", 1, "x"],
  ["const { a, ...r }: { a: number; b: number } = { a: 1, b: 2 }; [a, r]", [1, { b: 2 }], "a r"],
  ["declare namespace Q { const z: number }\nconst v: number = 1; v", 1, "v"],
  ["using r: Disposable = { [Symbol.dispose]() {} }\n1", 1],
];

Deno.test("prepareBlock() corpus: values and the names that stay", async () => {
  assert.ok(CORPUS.length >= 80);
  for (const [source, expected, names = ""] of CORPUS) {
    using runner = new BlockRunner();
    const { value, error, block } = await runner.run(source);
    if (typeof expected === "function") assert.ok(error instanceof expected, source);
    else {
      assert.equal(error, null, `${source}\n${block.code}`);
      assert.deepEqual(value, expected, source);
    }
    const found = block.declarations.map(({ name }) => name).sort();
    assert.deepEqual(found, names.split(" ").filter((name) => name !== "").sort(), source);
  }
});

Deno.test("prepareBlock() several blocks share one scope", async () => {
  const cases: readonly (readonly [readonly string[], unknown])[] = [
    [["const x = 1", "x + 1"], 2],
    [["const x = 1", "const x = 'again'", "x"], "again"],
    [["const x = 1", "function x() { return 2 }", "x()"], 2],
    [["function x() {}", "class x {}", "const x = 3", "x"], 3],
    [["let n = 0; function inc() { return ++n }", "inc(); inc()", "n"], 2],
    [["let n = 1; const get = () => n", "n = 2", "get()"], 2],
    [["const k = 1; const get = () => k", "const k = 2", "get()"], 2],
    [["const data = [3, 1]", "const data = data.toSorted()", "data"], undefined],
    [["enum E { A, B }", "enum E { C }", "[E.C, E.B]"], [0, undefined]],
    [["var v = 1", "var v", "v"], 1],
    [["function f() { return g() }", "function g() { return 1 }", "f()"], 1],
    [["function f() { return 1 }; const old = f", "function f() { return 2 }", "[old(), f()]"], [1, 2]],
    [["class A { static make() { return new A() } }; const a = A.make()", "class A {}", "a instanceof A"], false],
  ];
  for (const [sources, expected] of cases) {
    using runner = new BlockRunner();
    const value = await runner.value(...sources);
    assert.deepEqual(value, expected ?? [1, 3], sources.join(" | "));
  }
});

interface Refusal {
  readonly source: string;
  readonly says: RegExp;
  readonly at: readonly [number, number];
  readonly excerpt?: string;
}

const REFUSALS: readonly Refusal[] = [
  { source: '"just prose"', says: /only a string/, at: [1, 1] },
  { source: "`prose without holes`;", says: /only a string/, at: [1, 1] },
  { source: "'a'\n'b'", says: /only a string/, at: [1, 1] },
  { source: "// nothing\n/* at all */", says: /nothing to run/, at: [1, 1] },
  { source: "", says: /nothing to run/, at: [1, 1] },
  { source: ";;", says: /nothing to run/, at: [1, 1] },
  {
    source: "const a = 1\nconst b = a +* 2",
    says: /Unexpected token \*/,
    at: [2, 14],
    excerpt: "const b = a +* 2\n             ^",
  },
  { source: "const a: number = 1\nconst b: string = a +* 2", says: /Unexpected token \*/, at: [2, 22] },
  { source: "foo(\n  1,,\n)", says: /Unexpected token ,/, at: [2, 5] },
  { source: "const a = 1; const a = 2", says: /already been declared/, at: [1, 20] },
  { source: "let x = 'abc", says: /Unterminated string/, at: [1, 9] },
  { source: "const x = `abc", says: /Unterminated template/, at: [1, 12] },
  { source: "Here is the answer you wanted", says: /Unexpected token/, at: [1, 6] },
  { source: "import fs from 'node:fs'", says: /no module/, at: [1, 1] },
  { source: "1\nimport { a, type B } from 'x'", says: /no module/, at: [2, 1] },
  { source: "export const x = 1", says: /no module/, at: [1, 1] },
  { source: "export default 1", says: /no module/, at: [1, 1] },
  { source: "const m = await import('node:fs')", says: /import\(\) is not available/, at: [1, 17] },
  { source: "function f() {\n  return import(`data:,`)\n}", says: /import\(\) is not available/, at: [2, 10] },
  { source: "import.meta.url", says: /no module/, at: [1, 1] },
  { source: "@dec class A {}", says: /Decorators are not available/, at: [1, 1] },
  { source: "class A { @dec m() {} }", says: /Decorators are not available/, at: [1, 11] },
  { source: "namespace N { export const a = 1 }\nN.a", says: /Namespaces are not available/, at: [1, 1] },
  { source: "const s: string = 'namespace X {'\nmodule M.N { }", says: /Namespaces are not available/, at: [2, 1] },
  { source: "const undefined = 1", says: /undefined cannot be declared/, at: [1, 1] },
  { source: "with (a) {}", says: /Unexpected token with/, at: [1, 1] },
  { source: "let eval = 1", says: /eval/, at: [1, 5] },
  { source: "await = 1", says: /Unexpected token|await/, at: [1, 7] },
  { source: "function f() { await x }", says: /await/, at: [1, 16] },
  { source: "break", says: /break/, at: [1, 1] },
  { source: "x = { a: 1, ...", says: /end of the block/, at: [1, 16] },
];

Deno.test("prepareBlock() refusals say why and where", () => {
  for (const { source, says, at, excerpt } of REFUSALS) {
    const block = prepare(source);
    assert.ok(!block.ok, source);
    assert.match(block.error.message, says, `${source}: ${block.error.message}`);
    assert.deepEqual([block.error.line, block.error.column], at, `${source}: ${block.error.message}`);
    assert.equal(block.outcome, "refused");
    if (excerpt !== undefined) assert.equal(block.error.excerpt, excerpt);
  }
});

Deno.test("prepareBlock() never throws, however odd the text", () => {
  const deep = "(".repeat(100_000),
    many = "a+".repeat(200_000) + "1",
    nested = `${"[".repeat(50_000)}${"]".repeat(50_000)}`;
  for (const source of [deep, many, nested, "\0", "\ud800", "```", "&lt;", "{", "}", "#!x", "<!--", "\u2028"]) {
    assert.equal(typeof prepare(source).ok, "boolean");
  }
});

Deno.test("prepareBlock() does not load the stripper for plain JavaScript", async () => {
  const { prepareBlock } = await import("../../../src/sandbox/child/prepare_block.ts");
  const never = (): never => {
    throw new Error("loaded");
  };
  assert.ok(prepareBlock("const x = { a: 1 }; class A { #b = 1 }", { loadSucrase: never }).ok);
});

Deno.test("prepareBlock() keeps lines, and columns of what it does not change", () => {
  const block = prepare("const a = 1\nfunction f(x) {\n  return x.y\n}\nlet { b } = a\n  f(b)");
  assert.ok(block.ok);
  const lines = block.code.split("\n");
  assert.equal(lines[1]?.slice(0, 14), "f=function(x) ");
  assert.equal(lines[2], "  return x.y");
  assert.equal(lines[5]?.indexOf("f(b)"), 2);
});

Deno.test("prepareBlock() reads: free names without the language's own", () => {
  const block = prepare("const a = b + Math.max(c); function f(d) { return d + e } ; [1].map(x => x + a)");
  assert.ok(block.ok);
  assert.deepEqual(block.reads, ["b", "c", "e"]);
});

Deno.test("prepareBlock() declarations: comment, source, statement and what they require", () => {
  const block = prepare(
    "/**\n * Parses one line.\n * More.\n */\nfunction parse(line) { return split(line, sep) }\nconst sep = ',' // not a doc\nconst n = parse('a')",
  );
  assert.ok(block.ok);
  const [parse, sep, n] = block.declarations;
  assert.equal(parse?.doc, "Parses one line.");
  assert.equal(parse?.source, "function parse(line) { return split(line, sep) }");
  assert.deepEqual(parse?.requires, ["split", "sep"]);
  assert.equal(sep?.source, "");
  assert.equal(n?.doc, "");
  assert.equal(n?.statement, "const n = parse('a')");
  assert.deepEqual(n?.requires, ["parse"]);
});

Deno.test("prepareBlock() literal: data alone", () => {
  const yes = ["1", "-1", "[1, [2]]", "{ a: 1, 'b': [null, true] }", "null", "({ a: `x` })"];
  const no = ["1 + 1", "[f()]", "{ a: b }", "{ [a]: 1 }", "const x = 1", "[...a]", "f", "`${a}`", "1; 2"];
  for (const source of yes) assert.equal(literalOf(source), true, source);
  for (const source of no) assert.equal(literalOf(source), false, source);
});

function literalOf(source: string): boolean | undefined {
  const block = prepare(source);
  return block.ok ? block.literal : undefined;
}
