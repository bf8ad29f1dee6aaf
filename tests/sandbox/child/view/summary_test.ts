import assert from "node:assert/strict";
import fc from "fast-check";
import { typeOf } from "../../../../src/sandbox/child/view/kinds.ts";
import { summarize } from "../../../../src/sandbox/child/view/summary.ts";

Deno.test("typeOf() type and size", () => {
  class Point {
    x = 1;
    y = 2;
  }
  const cases: readonly (readonly [unknown, string, number | null])[] = [
    ["abc", "string", 3],
    [1, "number", null],
    [null, "null", null],
    [[1, 2], "Array", 2],
    [{ a: 1 }, "Object", 1],
    [new Point(), "Point", 2],
    [new Map([[1, 2]]), "Map", 1],
    [new Set(), "Set", 0],
    [new Uint8Array(5), "Uint8Array", 5],
    [new ArrayBuffer(8), "ArrayBuffer", 8],
    [() => 1, "function", null],
    [class {}, "class", null],
    [new Date(), "Date", null],
    [new TypeError("x"), "TypeError", null],
    [new Proxy([], {}), "Proxy", null],
    [Object.create(null), "Object", 0],
  ];
  for (const [value, type, size] of cases) assert.deepEqual(typeOf(value), { type, size });
});

Deno.test("summarize() shape and inline text", () => {
  const facts = { declaration: "const", doc: "", name: "v" };
  const cases: readonly (readonly [value: unknown, shape: string, inline: string | null])[] = [
    [50, "number", "50"],
    ["abc", "string(3)", '"abc"'],
    ["x".repeat(4096), "string(4096)", null],
    [[{ a: 1 }], "Array(1) of {a}", "[ { a: 1 } ]"],
    [Array.from({ length: 7 }, () => ({ path: "x".repeat(30), line: 1 })), "Array(7) of {path,line}", null],
    [{ a: { b: { c: { d: { e: { f: { g: 1 } } } } } } }, "{a}", null],
    [function parse(_line: string) {}, "v(_line)", null],
    [async (a: number, { b }: { b: number }) => await (a + b), "v(a, { b })", null],
    [Object.defineProperty(() => 1, "name", { value: "n" }), "v()", null],
    [class A extends Map {}, "class A extends Map", null],
  ];
  for (const [value, shape, inline] of cases) {
    const summary = summarize(value, facts);
    assert.deepEqual([summary.shape, summary.inline], [shape, inline]);
  }
});

Deno.test("summarize() holds its bounds for arbitrary values", () => {
  fc.assert(fc.property(fc.anything({ withMap: true, withSparseArray: true }), fc.string(), (value, doc) => {
    const { shape, inline, doc: shown } = summarize(value, { declaration: "let", doc });
    assert.ok(shape.length <= 200 && shown.length <= 80 && (inline === null || inline.length <= 120));
  }));
});
