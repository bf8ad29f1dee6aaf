import assert from "node:assert/strict";
import { summaryOf } from "../../../src/environment/input/summary_of.ts";

Deno.test("summaryOf() says what a value is, in one bounded line", () => {
  const shapes = (value: unknown): string => summaryOf(value).shape;
  assert.equal(shapes("abc"), "string(3)");
  assert.equal(shapes([{ id: 1, text: "a" }]), "Array(1) of {id,text}");
  assert.equal(shapes({ a: 1, b: 2 }), "{a,b}");
  assert.equal(shapes(new Map([[1, 2]])), "Map(1)");
  assert.equal(shapes(new Uint8Array(5)), "Uint8Array(5)");
  assert.equal(shapes(12n), "12n");
  assert.equal(shapes(new Date(0)), "Date");
  const wide = Object.fromEntries(Array.from({ length: 500 }, (_, at) => [`key number ${at}`, at]));
  assert.ok(shapes([wide]).length <= 200);
});

Deno.test("summaryOf() has short values whole and no long ones", () => {
  assert.deepEqual([summaryOf("ab").inline, summaryOf(7).inline, summaryOf(null).inline], ['"ab"', "7", "null"]);
  assert.deepEqual([summaryOf("a".repeat(121)).inline, summaryOf([1]).inline], [null, null]);
  assert.equal(summaryOf("\n".repeat(100)).inline, null, "its text is longer than it is");
});
