import assert from "node:assert/strict";
import { valueChanges } from "../../../src/environment/version_diff.ts";

const lines = (before: unknown, after: unknown): string[] =>
  valueChanges(before, after).changes.map(({ change, path, before, after }) => `${change} ${path} ${before} ${after}`);

Deno.test("valueChanges() names added, removed and changed parts by path", () => {
  const before = { name: "till", old: 1, deep: { "a b": [1, { x: 1n }] }, keep: new Date(5) };
  const after = { name: "shop", deep: { "a b": [1, { x: 2n, y: undefined }] }, keep: new Date(5), fresh: [] };
  assert.deepEqual(lines(before, after), [
    'changed .name "till" "shop"',
    "removed .old 1 null",
    'changed .deep["a b"][1].x 1n 2n',
    'added .deep["a b"][1].y null undefined',
    "added .fresh null []",
  ]);
  assert.deepEqual(lines(before, structuredClone(before)), []);
});

Deno.test("valueChanges() finds an item that was put into a list or taken out of it", () => {
  const rows = Array.from({ length: 50 }, (_, n) => ({ n }));
  assert.deepEqual(lines(rows, rows.toSpliced(20, 0, { n: -1 })), ['added [20] null {"n": -1}']);
  assert.deepEqual(lines(rows, rows.toSpliced(20, 2)), ['removed [20] {"n": 20} null', 'removed [21] {"n": 21} null']);
  assert.deepEqual(lines(new Uint8Array([1, 2, 3]), new Uint8Array([1, 9, 3])), ["changed [1] 2 9"]);
  assert.deepEqual(lines(new Uint8Array([1, 2]).buffer, new Uint8Array([1, 3]).buffer), ["changed [1] 2 3"]);
});

Deno.test("valueChanges() knows maps, sets, kinds, -0, NaN and holes of a value in itself", () => {
  assert.deepEqual(
    lines(new Map<unknown, number>([["a", 1], [{}, 2], [{}, 3]]), new Map<unknown, number>([["a", 2]])),
    [
      'changed .get("a") 1 2',
      "removed .get({}) 2 null",
      "removed .get({})#2 3 null",
    ],
  );
  assert.deepEqual(lines(new Set([1, 2]), new Set([2, 3])), ["removed .has(1) true null", "added .has(3) null true"]);
  assert.deepEqual(lines([], {}), ["changed  [] {}"]);
  assert.deepEqual(lines(0, -0), ["changed  0 -0"]);
  assert.deepEqual(lines(NaN, NaN), []);
  assert.deepEqual(lines(/a/g, /b/g), ["changed  /a/g /b/g"]);
  const [one, two]: { self?: unknown; n: number }[] = [{ n: 1 }, { n: 2 }];
  one!.self = one;
  two!.self = two;
  assert.deepEqual(lines(one, two), ["changed .n 1 2"]);
});

Deno.test("valueChanges() is bounded in work and size, and runs no code of the values", () => {
  const much = valueChanges(Array.from({ length: 5000 }, (_, n) => n), Array.from({ length: 5000 }, (_, n) => -n - 1));
  assert.deepEqual([much.changes.length, much.more], [200, true]);
  const wide = valueChanges(new Float64Array(3_000_000), new Float64Array(3_000_000).fill(1, 2_999_999));
  assert.equal(wide.more, true);
  const long = valueChanges({ ["k".repeat(9000)]: "v".repeat(9000) }, {});
  assert.ok(JSON.stringify(long).length < 2000);
  const trap = Object.defineProperty({}, "x", { enumerable: true, get: () => assert.fail("a getter ran") });
  valueChanges(trap, { x: 1 });
  const hostile = JSON.parse('{"__proto__":{"a":1},"toString":1,"toJSON":2}');
  assert.deepEqual(lines(hostile, {}).length, 3);
});
