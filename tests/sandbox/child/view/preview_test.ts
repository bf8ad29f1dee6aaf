import assert from "node:assert/strict";
import fc from "fast-check";
import { preview } from "../../../../src/sandbox/child/view/preview.ts";
import { cpuMs } from "../../../helpers/cpu_ms.ts";
import { runs } from "../../../helpers/long_part.ts";

class Foo {
  #hidden = 1;
  x = 1;
  get g(): number {
    return this.#hidden;
  }
}
class Bar extends Foo {
  y = [1];
}
class Own extends Error {
  code = 5;
}
const circular: Record<string, unknown> = { a: 1 };
circular.self = circular;
circular.deep = { list: [circular] };
const sparse: unknown[] = [1, , , 4];
const huge: unknown[] = [];
huge[4e9] = 1;
const symbol = Symbol("key");
const rejected = Promise.reject(new Error("no"));
rejected.catch(() => {});

const SHOWN: readonly (readonly [value: unknown, text: string | RegExp])[] = [
  [1, "1"],
  [-0, "-0"],
  [NaN, "NaN"],
  [10n, "10n"],
  [2n ** 5000n, "[BigInt of more than 1233 digits]"],
  [null, "null"],
  [undefined, "undefined"],
  [true, "true"],
  ["a\n\u001b[1m\0\ud800", '"a\\n\\u001b[1m\\u0000\\ud800"'],
  ["a\nb", '"""\na\nb"""'],
  ["\tif (a) {\n\t}\n", '"""\n\tif (a) {\n\t}\n"""'],
  ['a "q" \\n\n`b`', '"""\na "q" \\n\n`b`"""'],
  ["a\r\nb\r\n", '"""\na\nb\n""" (lines end in \\r\\n)'],
  [["a\nb"], '[ "a\\nb" ]'],
  [{ text: "a\nb" }, '{ text: "a\\nb" }'],
  [
    { path: "a.ts", diff: `--- a/a.ts\n+++ b/a.ts\n@@ -1 +1 @@\n-${"x".repeat(20)}\n+"${"y".repeat(20)}"\n` },
    `{\n path: "a.ts",\n diff: """\n--- a/a.ts\n+++ b/a.ts\n@@ -1 +1 @@\n-${"x".repeat(20)}\n+"${
      "y".repeat(20)
    }"\n"""\n}`,
  ],
  [[`${"x".repeat(70)}\n`], `[ "${"x".repeat(70)}\\n" ]`],
  [Symbol("x"), "Symbol(x)"],
  [[], "[]"],
  [[1, "a", null], '[ 1, "a", null ]'],
  [sparse, "[ 1, <2 empty items>, 4 ]"],
  [[,], "[ <1 empty item> ]"],
  [huge, /^\[ <10000 empty items>, \.\.\. 3999990001 more items \]$/],
  ["abc".match(/b/), '[ "b", index: 1, input: "abc", groups: undefined ]'],
  [{}, "{}"],
  [{ a: 1, "b-c": { d: [{}] }, [symbol]: 2 }, '{ a: 1, "b-c": { d: [ {} ] }, [Symbol(key)]: 2 }'],
  [Object.create(null), "[Object: null prototype] {}"],
  [{
    get a() {
      return 1;
    },
    set b(_: number) {
      throw new Error("ran");
    },
    get c() {
      return 1;
    },
    set c(_: number) {
      throw new Error("ran");
    },
  }, "{ a: [Getter], b: [Setter], c: [Getter/Setter] }"],
  [circular, "<ref *1> { a: 1, self: [Circular *1], deep: { list: [ [Circular *1] ] } }"],
  [new Foo(), "Foo { x: 1 }"],
  [new Bar(), "Bar { x: 1, y: [ 1 ] }"],
  [new (class extends Array {})(), "Array(0) []"],
  [Bar, "[class Bar extends Foo]"],
  [Foo, "[class Foo]"],
  [class {}, "[class (anonymous)]"],
  [function named() {}, "[Function: named]"],
  [() => 1, "[Function (anonymous)]"],
  [async () => {}, "[AsyncFunction (anonymous)]"],
  [function* gen() {}, "[GeneratorFunction: gen]"],
  [Object.assign(() => 1, { a: 1 }), "[Function (anonymous)] { a: 1 }"],
  [(function* () {})(), "Object [Generator] {}"],
  [[1].values(), "Object [Array Iterator] {}"],
  [new Map<unknown, unknown>([[{ a: 1 }, "x"], [1, 2]]), 'Map(2) { { a: 1 } => "x", 1 => 2 }'],
  [new Set([1, "a"]), 'Set(2) { 1, "a" }'],
  [new WeakMap(), "WeakMap { <items unknown> }"],
  [new WeakSet(), "WeakSet { <items unknown> }"],
  [new Date(0), "1970-01-01T00:00:00.000Z"],
  [new Date(NaN), "Invalid Date"],
  [/a\/b/gi, "/a\\/b/gi"],
  [new Error("boom", { cause: { a: 1 } }), "Error: boom { [cause]: { a: 1 } }"],
  [[new TypeError("x")], "[ [TypeError: x] ]"],
  [new Own("m"), "Own: m { code: 5 }"],
  [new AggregateError([new Error("a")], "m"), "AggregateError: m { [errors]: [ [Error: a] ] }"],
  [new DOMException("m", "AbortError"), "AbortError: m"],
  [new Uint8Array([1, 2]), "Uint8Array(2) [ 1, 2 ]"],
  [new BigInt64Array(1), "BigInt64Array(1) [ 0n ]"],
  [new ArrayBuffer(8), "ArrayBuffer { byteLength: 8 }"],
  [new SharedArrayBuffer(8), "SharedArrayBuffer { byteLength: 8 }"],
  [new DataView(new ArrayBuffer(4)), "DataView { byteLength: 4 }"],
  [new URL("http://a/b"), 'URL { href: "http://a/b" }'],
  [Object(1), "[Number: 1]"],
  [Object("s"), '[String: "s"]'],
  [Object(symbol), "[Symbol: Symbol(key)]"],
  [
    (function (..._: number[]) {
      return arguments;
    })(1, 2),
    "[Arguments] [ 1, 2 ]",
  ],
  [new Intl.NumberFormat(), "NumberFormat [Intl.NumberFormat] {}"],
  [Math, "Object [Math] {}"],
  [Promise.resolve(1), "Promise { 1 }"],
  [new Promise(() => {}), "Promise { <pending> }"],
  [[rejected], "[ Promise { <rejected> [Error: no] } ]"],
  [(async () => await new Promise(() => {}))(), "Promise { <pending> }"],
  [new WeakRef({}), "WeakRef {}"],
  [new Proxy({}, {}), "[Proxy]"],
  [{ a: { b: { c: { d: { e: { f: 1 } } } } } }, "{ a: { b: { c: { d: { e: [Object] } } } } }"],
];

Deno.test("preview() shows every kind of value", () => {
  for (const [value, text] of SHOWN) {
    if (typeof text === "string") assert.equal(preview(value), text);
    else assert.match(preview(value), text);
  }
});

Deno.test("preview() breaks lines, and omits and counts the excess", () => {
  const rows = Array.from({ length: 1000 }, (_, i) => ({ path: `src/file${i}.ts`, line: i, text: "x".repeat(30) }));
  const text = preview(rows);
  assert.match(text, /^\[\n \{path: "src\/file0.ts", line: 0, text: "x+"\},\n/);
  assert.match(text, /\.\.\. 9\d\d more items\n\]$/);
  assert.ok(text.length < 12_200);
  const lines = Array.from({ length: 1000 }, (_, i) => `line ${i}`).join("\n");
  const file = preview(lines, { chars: 300 });
  assert.match(
    file,
    /^"""\nline 0\nline 1\n[^]*\n\.\.\. 963 lines left out, 8593 characters \.\.\.\n[^]*\nline 998\nline 999"""$/,
  );
  assert.ok(file.length < 360);
  const long = preview("ab".repeat(10_000), { chars: 300 });
  assert.match(long, /^"(ab)+"\.\.\. 19700 characters \.\.\."(ab)+"$/);
  assert.match(
    preview({ text: "x".repeat(9000), n: 1 }),
    /^\{\n text: "x+"\.\.\. 4500 characters \.\.\."x+",\n n: 1\n\}$/,
  );
  assert.match(preview(Array.from({ length: 300 }, (_, i) => i)), /^\[\n 0, 1, 2, .*\n/);
});

Deno.test("preview() runs nothing of the value", () => {
  const ran: string[] = [];
  const trap = (name: string) => (): never => {
    ran.push(name);
    throw new Error(name);
  };
  const handler = Object.fromEntries(
    ["get", "has", "ownKeys", "getPrototypeOf", "getOwnPropertyDescriptor", "apply", "construct"].map((
      name,
    ) => [name, trap(name)]),
  );
  const custom = Symbol.for("Deno.customInspect"), node = Symbol.for("nodejs.util.inspect.custom");
  const hostile = {
    get a() {
      return trap("getter")();
    },
    toString: trap("toString"),
    toJSON: trap("toJSON"),
    valueOf: trap("valueOf"),
    [Symbol.toPrimitive]: trap("toPrimitive"),
    [Symbol.iterator]: trap("iterator"),
    [custom]: trap("inspect"),
    [node]: trap("inspect"),
    get [Symbol.toStringTag]() {
      return trap("tag")();
    },
  };
  const values = [
    hostile,
    Object.create(hostile),
    new Proxy({}, handler),
    new Proxy(() => {}, handler),
    Object.setPrototypeOf({}, new Proxy({}, handler)),
    Object.setPrototypeOf([], new Proxy([], handler)),
    Object.assign(new Map([[hostile, hostile]]), { [Symbol.iterator]: trap("iterator"), forEach: trap("forEach") }),
    Object.defineProperty([], "0", { get: trap("index"), enumerable: true }),
    Object.defineProperty(new Error(), "stack", { get: trap("stack") }),
    Object.defineProperty(new Error(), "message", { get: trap("message") }),
    Object.defineProperty(() => {}, "name", { get: trap("name") }),
    Object.defineProperty(/a/, "flags", { get: trap("flags") }),
    { constructor: new Proxy(class {}, handler) },
    Object.create({
      get constructor() {
        return trap("constructor")();
      },
    }),
  ];
  for (const value of values) assert.equal(typeof preview([value]), "string");
  assert.deepEqual(ran, []);
});

Deno.test("preview() stays bounded in length and time for huge, deep, wide and infinite values", () => {
  let deep: unknown = 0;
  for (let i = 0; i < 100_000; i++) deep = { deep };
  const wide = Object.fromEntries(Array.from({ length: 50_000 }, (_, i) => [`k${i}`, { i }]));
  const infinite = {
    *[Symbol.iterator]() {
      while (true) yield 1;
    },
  };
  const map = new Map(Array.from({ length: 100_000 }, (_, i) => [i, { i }]));
  const tree = (level: number): unknown => level === 0 ? "leaf" : Array.from({ length: 30 }, () => tree(level - 1));
  const key = { ["k".repeat(1_000_000)]: 1, [Symbol("s".repeat(1_000_000))]: 2 };
  const named = Object.defineProperty(() => {}, "name", { value: "n".repeat(1_000_000) });
  const error = new Error("m".repeat(1_000_000));
  for (
    const value of [deep, wide, infinite, map, tree(3), key, named, error, "x".repeat(10_000_000), new Uint8Array(1e7)]
  ) {
    const begun = cpuMs();
    const text = preview(value, { chars: 2000 });
    assert.ok(text.length <= 4203, `${text.length}`);
    assert.ok(cpuMs() - begun < 1000);
  }
});

Deno.test("preview() never throws and stays bounded over arbitrary values", () => {
  fc.assert(
    fc.property(
      fc.anything({
        withBigInt: true,
        withBoxedValues: true,
        withDate: true,
        withMap: true,
        withSet: true,
        withTypedArray: true,
        withSparseArray: true,
        withNullPrototype: true,
        maxDepth: 6,
      }),
      fc.nat(500),
      (value, chars) => {
        const text = preview(value, { chars });
        assert.ok(text.length <= chars * 2 + 203);
      },
    ),
    { numRuns: runs(125, 500) },
  );
});
