import assert from "node:assert/strict";
import { VariableIndex } from "../../src/environment/variables.ts";
import type { VariableHead } from "../../src/persistence/store.ts";
import { dataImage } from "./_fakes.ts";

function head(name: string, fields: Partial<VariableHead> = {}): VariableHead {
  const { kind, summary, reason } = dataImage(name, 1);
  return {
    name,
    kind,
    summary,
    reason,
    versions: 1,
    scope: "live",
    code: `const ${name} = 1`,
    createdAt: 0,
    ...fields,
  };
}

const names = (index: VariableIndex): string[] => index.all().map(({ name }) => name);

Deno.test("VariableIndex keeps the newest first", () => {
  const index = new VariableIndex([head("b"), head("a")], () => 5);
  assert.deepEqual(names(index), ["b", "a"]);
  index.saved(dataImage("a", 2), "a = 2");
  index.saved(dataImage("c", 3), "const c = 3");
  assert.deepEqual(names(index), ["c", "a", "b"]);
  const a = index.get("a");
  assert.deepEqual([a?.versions, a?.code, a?.createdAt, a?.summary.inline], [2, "a = 2", 5, "2"]);
  assert.equal(index.get("nothing"), undefined);
});

Deno.test("VariableIndex counts live variables of the user", () => {
  const index = new VariableIndex([head("a"), head("b", { scope: "forgotten" })], Date.now);
  index.system("$answer", "text");
  assert.equal(index.userCount(), 1);
  index.setScope("b", "live");
  assert.equal(index.userCount(), 2);
  index.setScope("a", "forgotten");
  index.saved(dataImage("a", 2), "");
  assert.equal(index.userCount(), 2);
});

Deno.test("VariableIndex system variables are of a fixed list, have versions and cannot be forgotten", () => {
  const index = new VariableIndex([], Date.now);
  index.system("$query", "one");
  index.system("$query", "three");
  assert.deepEqual([index.get("$query")?.versions, index.get("$query")?.summary.shape], [2, "string(5)"]);
  index.setScope("$query", "forgotten");
  assert.equal(index.get("$query")?.scope, "system");
  assert.throws(() => index.system("$other", "x"), RangeError);
});

Deno.test("VariableIndex lost() marks a live variable with the reason", () => {
  const index = new VariableIndex([head("a"), head("b", { scope: "forgotten" })], Date.now);
  index.lost("a", "a closure");
  index.lost("b", "a closure");
  index.lost("c", "a closure");
  assert.deepEqual([index.get("a")?.kind, index.get("a")?.reason], ["lost", "a closure"]);
  assert.equal(index.get("b")?.kind, "data");
  index.saved(dataImage("a", 1), "");
  assert.deepEqual([index.get("a")?.kind, index.get("a")?.reason], ["data", ""]);
});

Deno.test("VariableIndex renders again only after a change", () => {
  const index = new VariableIndex([head("a")], Date.now);
  let times = 0;
  const render = (heads: readonly VariableHead[]): string => `${++times}: ${heads.map(({ name }) => name).join()}`;
  assert.equal(index.rendered(render), "1: a");
  assert.equal(index.rendered(render), "1: a");
  const revision = index.revision;
  for (
    const nothing of [() => index.setScope("a", "live"), () => index.lost("x", ""), () => index.setScope("x", "live")]
  ) {
    nothing();
    assert.equal(index.revision, revision);
  }
  index.saved(dataImage("b", 1), "");
  assert.equal(index.rendered(render), "2: b,a");
});
