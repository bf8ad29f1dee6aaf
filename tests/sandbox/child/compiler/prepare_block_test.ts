import assert from "node:assert/strict";
import { errorForModel } from "../../../../src/domain/query/host_call.ts";
import { CORPUS } from "../block_corpus.ts";
import { MORE } from "../block_corpus_more.ts";
import { BlockRunner, prepare } from "../block_runner.ts";

Deno.test("prepareBlock() corpus: values and the names that stay", async () => {
  for (const [source, expected, names = ""] of [...CORPUS, ...MORE]) {
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
    [["enum E { A, B }", "enum E { C = 2 }", "[E.C, E.B]"], [2, undefined]],
    [["enum E { A }", "const E = 5", "E"], 5],
    [["const k = 1", "k = k + 1; const k = k + 1", "k"], 3],
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

Deno.test("prepareBlock() an assignment declares the plan, which the prompt asks for, and no other variable", async () => {
  using runner = new BlockRunner();
  const { block } = await runner.run('$plan = [{ task: "Read", done: false }]');
  assert.deepEqual(block.declarations.map(({ name, declaration }) => [name, declaration]), [["$plan", "let"]]);
  assert.equal(await runner.value("$plan = [...$plan, 'Write']; $plan.length"), 2);
  const { error } = await runner.run("$list = []");
  assert.ok(error instanceof ReferenceError);
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
    source: Array.from({ length: 1_001 }, (_, i) => `let v${i} = ${i}`).join("\n"),
    says: /Cannot declare 1001 variables in one block: the limit is 1000 variables; keep the values in an array/,
    at: [1, 1],
  },
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
  {
    source: "import fs from 'node:fs'",
    says: /import is not available, as a block is not a module: all names for blocks are in scope/,
    at: [1, 1],
  },
  { source: "1\nimport { a, type B } from 'x'", says: /not a module/, at: [2, 1] },
  { source: "export const x = 1", says: /not a module; leave out export/, at: [1, 1] },
  { source: "import fs = require('fs')\n1", says: /not a module/, at: [1, 1] },
  { source: "const a: number = 1\nexport = a", says: /not a module/, at: [2, 1] },
  { source: "class A { accessor x = 1 }", says: /accessor fields are not available; write a getter/, at: [1, 20] },
  { source: "class A<T> { accessor x: T | null = null }", says: /accessor fields are not available/, at: [1, 23] },
  { source: "1 + arguments.length", says: /arguments exists only inside a function/, at: [1, 5] },
  { source: "const f = () => arguments[0]", says: /arguments exists only inside a function/, at: [1, 17] },
  { source: "new.target", says: /new.target/, at: [1, 1] },
  { source: "const r = /abc", says: /Unterminated regular expression/, at: [1, 12] },
  { source: "const r = /(/", says: /Unterminated group/, at: [1, 12] },
  { source: "const r: RegExp = /abc", says: /Unterminated regular expression|Unterminated regex/, at: [1, 20] },
  { source: "function f(a: number {\n  return a\n}", says: /expected ","/, at: [1, 22] },
  { source: "type A = {\nlet y = 2", says: /expected ";"/, at: [2, 5] },
  { source: "class A { static { await 1 } }", says: /await/, at: [1, 20] },
  { source: "export default 1", says: /not a module/, at: [1, 1] },
  { source: "const m = await import('node:fs')", says: /import\(\) is not available/, at: [1, 17] },
  { source: "function f() {\n  return import(`data:,`)\n}", says: /import\(\) is not available/, at: [2, 10] },
  { source: "import.meta.url", says: /not a module/, at: [1, 1] },
  { source: "@dec class A {}", says: /Decorators are not available/, at: [1, 1] },
  { source: "class A { @dec m() {} }", says: /Decorators are not available/, at: [1, 11] },
  {
    source: "namespace Geo {\n  export const a = 1\n}",
    says: /^namespace is not available; write const Geo = \{ … \}, or only its members$/,
    at: [1, 1],
  },
  { source: "if (1) {\n  namespace N { export type A = 1 }\n}", says: /namespace is not available/, at: [2, 3] },
  { source: "const x: number = 1; module /* a */ A . /* b */ B // c\n{ }", says: /write const A = /, at: [1, 22] },
  { source: "export namespace N { export const a = 1 }", says: /namespace is not available/, at: [1, 8] },
  {
    source: "declare namespace A { namespace B {} }\nnamespace C { export const a = 1 }",
    says: /write const C = /,
    at: [2, 1],
  },
  { source: "namespace N {\n  const a: number = 1 +* 2\n}", says: /Unexpected token \*/, at: [2, 24] },
  { source: "namespace N {\n  import fs = require('fs')\n}", says: /not a module/, at: [2, 3] },
  {
    source: "const undefined = 1",
    says: /Cannot declare undefined \(line 1:7\): .* uses this name; choose another name, such as myUndefined/,
    at: [1, 7],
  },
  { source: "with (a) {}", says: /Unexpected token with/, at: [1, 1] },
  { source: "let eval = 1", says: /eval/, at: [1, 5] },
  { source: "await = 1", says: /Unexpected token|await/, at: [1, 7] },
  { source: "function f() { await x }", says: /await/, at: [1, 16] },
  { source: "break", says: /break/, at: [1, 1] },
  { source: "x = { a: 1, ...", says: /end of the block/, at: [1, 16] },
];

Deno.test("prepareBlock() refusals have the reason and the place", () => {
  for (const { source, says, at, excerpt } of REFUSALS) {
    const block = prepare(source);
    assert.ok(!block.ok, source);
    assert.match(errorForModel(block.error), says, `${source}: ${block.error.message}`);
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
  const { prepareBlock } = await import("../../../../src/sandbox/child/compiler/prepare.ts");
  const never = (): never => {
    throw new Error("loaded");
  };
  assert.ok(prepareBlock("const x = { a: 1 }; class A { #b = 1 }", { loadSucrase: never }).ok);
});

Deno.test("prepareBlock() keeps lines, and the columns of unchanged code", () => {
  const block = prepare("const a = 1\nfunction f(x) {\n  return x.y\n}\nlet { b } = a\n  f(b)");
  assert.ok(block.ok);
  const lines = block.code.split("\n");
  assert.equal(lines[1]?.slice(0, 14), "function f\u200d(x)");
  assert.equal(lines[2], "  return x.y");
  assert.equal(lines[5]?.indexOf("f(b)"), 2);
});

Deno.test("prepareBlock() reads: free names without the language's own", () => {
  const block = prepare("const a = b + Math.max(c); function f(d) { return d + e } ; [1].map(x => x + a)");
  assert.ok(block.ok);
  assert.deepEqual(block.reads, ["b", "c", "e"]);
});

Deno.test("prepareBlock() declarations: comment, source, statement and requirements", () => {
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
