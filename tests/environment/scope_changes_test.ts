import assert from "node:assert/strict";
import { blockResult } from "../../src/domain/query/host_call.ts";
import { ScopeChanges, VariableIndex } from "../../src/environment/variables.ts";
import { dataImage, runReport } from "./_fakes.ts";

function changes(): { readonly scopes: ScopeChanges; readonly index: VariableIndex } {
  const index = new VariableIndex([], () => 1);
  for (const name of ["a", "b"]) index.saved(dataImage(name, 1), "");
  return { scopes: new ScopeChanges(index), index };
}

Deno.test("ScopeChanges forgets, except for variables that a block defines, and begins again when it is stored", () => {
  const { scopes, index } = changes();
  scopes.forget("a");
  scopes.forget("b");
  scopes.defined("b");
  assert.deepEqual([[...scopes.forgotten], index.get("a")?.scope], [["a"], "forgotten"]);
  scopes.stored(scopes.now);
  assert.equal(scopes.forgotten.size, 0);
});

Deno.test("ScopeChanges.stored() keeps changes that were made during the storing", () => {
  const { scopes } = changes();
  scopes.forget("a");
  const stored = scopes.now;
  scopes.forget("b");
  scopes.stored(stored);
  assert.deepEqual(scopes.now, { forgotten: ["b"], live: [] });
  scopes.clear();
  assert.deepEqual(scopes.now, { forgotten: [], live: [] });
});

Deno.test("ScopeChanges returns variables that a block restored and did not change", () => {
  const { scopes, index } = changes();
  scopes.forget("a");
  scopes.restore("a", { image: dataImage("a", 1), older: true });
  scopes.restore("b", { image: dataImage("b", 1), older: false });
  const again = scopes.takeRestored(runReport({ saved: [dataImage("b", 2)] }));
  assert.deepEqual(again.map(({ image, older }) => [image.name, older]), [["a", true]]);
  assert.deepEqual([[...scopes.forgotten], scopes.now.live, index.get("a")?.scope], [[], ["a", "b"], "live"]);
  assert.deepEqual(scopes.takeRestored(runReport()), [], "once");
});

Deno.test("ScopeChanges gives nothing back where the child ended under the block", () => {
  const { scopes, index } = changes();
  scopes.forget("a");
  scopes.restore("a", { image: dataImage("a", 1), older: true });
  assert.deepEqual(scopes.takeRestored(runReport({ result: blockResult({ ok: false, outcome: "killed" }) })), []);
  assert.deepEqual([[...scopes.forgotten], scopes.now.live.length, index.get("a")?.scope], [["a"], 0, "forgotten"]);
});
