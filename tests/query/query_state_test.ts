import assert from "node:assert/strict";
import type { IterationFault } from "../../src/iteration/iteration.ts";
import { Faults } from "../../src/query/query_state.ts";

/** Returns the state after each of these, in order. Null means an iteration with a result. */
function ends(...faults: readonly (IterationFault | null)[]): readonly (string | null)[] {
  const counted = new Faults();
  return faults.map((fault, at) => {
    if (fault !== null) return counted.add(fault, { text: fault === "call" ? "same" : `${at}`, model: "m" });
    counted.clear();
    return null;
  });
}

Deno.test("Faults.add() ends at the third of the same kind in a row", () => {
  assert.deepEqual(ends("text", "text", "text"), [null, null, "unusable_replies"]);
  assert.deepEqual(ends("call", "call", "call"), [null, null, "provider"]);
  assert.deepEqual(ends("text", null, "text", "text"), [null, null, null, null]);
  assert.deepEqual(ends("call", null, "call", "call"), [null, null, null, null]);
});

Deno.test("Faults.add() ends at the fifth unusable reply in a row, whatever the fault of each", () => {
  assert.equal(ends("text", "json", "text", "empty", "text").at(-1), "unusable_replies");
  assert.equal(ends("text", "json", "broken", "text", "empty", "text").at(-1), "unusable_replies");
  assert.equal(ends("text", "json", "text", "empty").at(-1), null);
});

Deno.test("Faults.add() bears five replies in a row that broke off", () => {
  assert.deepEqual(ends("broken", "broken", "broken", "broken", "broken"), [null, null, null, null, "provider"]);
});

Deno.test("Faults.add() distinguishes calls with different errors", () => {
  const counted = new Faults();
  for (const text of ["a", "b", "a", "b"]) assert.equal(counted.add("call", { text, model: "m" }), null);
});

Deno.test("Faults.unusable names each model with its faults and their number", () => {
  const counted = new Faults();
  for (const fault of ["tools", "tools", "tools"] as const) counted.add(fault, { text: "", model: "m" });
  assert.deepEqual(counted.unusable, { model: "m", count: 3, fault: "tools" });
});
