import assert from "node:assert/strict";
import fc from "fast-check";
import { shape } from "../../../../src/sandbox/child/view/summary.ts";

class Point {
  x = 1;
}
const circular: Record<string, unknown> = { a: 1 };
circular.self = circular;

const CASES: readonly (readonly [value: unknown, full: string, terse: string])[] = [
  ["abc", "string", "string"],
  [null, "null", "null"],
  [[], "Array(0)", "Array(0)"],
  [[1, 2], "Array(2) of number", "Array(2) of number"],
  [[1, "a", null], "Array(3) of (number | string | null)", "Array(3) of (number | string | null)"],
  [
    [{ path: "a", line: 1 }, { path: "b", line: 2, text: null }],
    "Array(2) of {path: string, line: number, text?: null}",
    "Array(2) of {path,line,text?}",
  ],
  [{ a: { b: [true] }, "c d": 1 }, '{a: {b: Array(1) of boolean}, "c d": number}', '{a,"c d"}'],
  [
    [...Array(900).fill("a"), { error: "b" }, null, 1],
    "Array(903) of (string | null | number | {error: string})",
    "Array(903) of (string | null | number | {error})",
  ],
  [[[1], [2, 3]], "Array(2) of Array of number", "Array(2) of Array of number"],
  [new Map([["a", { x: 1 }]]), "Map(1) of string => {x: number}", "Map(1) of string => {x}"],
  [new Set([1]), "Set(1) of number", "Set(1) of number"],
  [new Point(), "Point {x: number}", "Point {x}"],
  [
    [new Date(), /a/, () => 1, class {}],
    "Array(4) of (Date | RegExp | function | class)",
    "Array(4) of (Date | RegExp | function | class)",
  ],
  [new Uint8Array(4), "Uint8Array(4)", "Uint8Array(4)"],
  [circular, "{a: number, self: circular}", "{a,self}"],
  [
    {
      get a() {
        throw new Error("ran");
      },
    },
    "{a: getter}",
    "{a}",
  ],
  [
    new Proxy({}, {
      ownKeys() {
        throw new Error("ran");
      },
    }),
    "Proxy",
    "Proxy",
  ],
  [
    Object.fromEntries(Array.from({ length: 25 }, (_, i) => [`k${i}`, i === 0 ? "" : i])),
    /.*k19: number, \.\.\. 5 more\}$/.source,
    "",
  ],
];

Deno.test("shape() describes the parts of a value", () => {
  for (const [value, full, terse] of CASES) {
    if (terse === "") assert.match(shape(value), new RegExp(full));
    else assert.deepEqual([shape(value), shape(value, { terse: true })], [full, terse]);
  }
});

Deno.test("shape() is bounded and never throws", () => {
  const tree = (level: number): unknown =>
    level === 0 ? 1 : Object.fromEntries(Array.from({ length: 15 }, (_, i) => [`k${i}`, tree(level - 1)]));
  assert.ok(shape(tree(4)).length <= 2000);
  let deep: unknown = 1;
  for (let i = 0; i < 50_000; i++) deep = [deep];
  assert.match(shape(deep), /\.\.\./);
  fc.assert(
    fc.property(fc.anything({ withMap: true, withSet: true, withTypedArray: true, withSparseArray: true }), (value) => {
      assert.ok(shape(value, { chars: 200, terse: true }).length <= 200);
    }),
  );
});
