import assert from "node:assert/strict";
import { briefValue } from "../../../src/environment/version_diff.ts";

Deno.test("briefValue() puts any value on one short line", () => {
  const cases: readonly [unknown, string][] = [
    ["a\nb", '"a\\nb"'],
    [12n, "12n"],
    [-0, "-0"],
    [undefined, "undefined"],
    [[1, [2, [3, [4]]]], "[1, [2, [3, [1 item]]]]"],
    [new Uint8Array([1, 2]), "Uint8Array[1, 2]"],
    [new ArrayBuffer(3), "3 bytes"],
    [new Map([[1, 2]]), "Map(1)"],
    [new Set(), "Set(0)"],
    [new Date(0), "1970-01-01T00:00:00.000Z"],
    [{ a: { b: { c: { d: 1 } } } }, '{"a": {"b": {"c": {1 key}}}}'],
    [[1, 2, 3, 4, 5, 6, 7], "[1, 2, 3, 4, 5, 6, … 7 items]"],
  ];
  for (const [value, shown] of cases) assert.equal(briefValue(value), shown);
  assert.ok(briefValue("😀".repeat(500)).length <= 160);
  assert.ok(briefValue({ ["k".repeat(500)]: new Array(1e6) }).length <= 160);
});
