import assert from "node:assert/strict";
import { namesOf, VariableIndex } from "../../src/environment/variables.ts";
import type { VariableHead } from "../../src/persistence/store.ts";

function head(name: string, code: string, kind: VariableHead["kind"] = "function"): VariableHead {
  const summary = { declaration: "function", type: kind, size: null, shape: name, inline: null, doc: "" };
  return { name, kind, versions: 1, scope: "live", summary, reason: "", code, createdAt: 1 };
}

const index = new VariableIndex([
  head("size", "function size() { return context.length }"),
  head("twice", "const twice = () => 2 * size()"),
  head("loop", "function loop() { return loop() }"),
  head("note", "const note = 'context'", "data"),
], () => 1);
const names = new Set(["context", "größe"]);

Deno.test("namesOf() finds a name in the block, whole words only", () => {
  assert.deepEqual(namesOf("context.slice(0, 4)", { names, index }), ["context"]);
  assert.deepEqual(namesOf("const contexts = mycontext + context2", { names, index }), []);
  assert.deepEqual(namesOf("größe.length + 1", { names, index }), ["größe"]);
});

Deno.test("namesOf() prefers a name in functions that the block mentions to other functions", () => {
  assert.deepEqual(namesOf("twice()", { names, index }), ["context"]);
  assert.deepEqual(namesOf("loop()", { names, index }), []);
  assert.deepEqual(namesOf("note + 1", { names, index }), [], "a value says nothing of what made it");
});

Deno.test("namesOf() takes everything for a block that can reach everything", () => {
  assert.deepEqual(namesOf("globalThis['con' + 'text']", { names, index }), ["context", "größe"]);
  assert.deepEqual(namesOf("context", { names: new Set(), index }), []);
});
