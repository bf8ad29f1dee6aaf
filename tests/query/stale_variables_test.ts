import assert from "node:assert/strict";
import type { VariableHead } from "../../src/persistence/store.ts";
import { staleVariables } from "../../src/query/stale_variables.ts";
import { startEngine } from "../helpers/engine.ts";
import { replyJson } from "../helpers/scripted_provider.ts";

function head(
  name: string,
  fields: { readonly at: number; readonly doc?: string; readonly scope?: VariableHead["scope"] },
) {
  const summary = {
    declaration: "const",
    type: "number",
    size: null,
    shape: "number",
    inline: null,
    doc: fields.doc ?? "",
  };
  const { at: createdAt, scope = "live" } = fields;
  return { name, kind: "data", versions: 1, scope, summary, reason: "", code: "", createdAt } as const;
}
const at = (...times: readonly number[]) => times.map((createdAt) => ({ createdAt }));

Deno.test("staleVariables() names what the last queries did not define", () => {
  const heads = [head("old", { at: 15 }), head("edge", { at: 20 }), head("fresh", { at: 35 })];
  assert.deepEqual(staleVariables(heads, { queries: at(10, 20, 30), after: 2 }), ["old"]);
  assert.deepEqual(staleVariables(heads, { queries: at(10, 20, 30), after: 1 }), ["old", "edge"]);
});

Deno.test("staleVariables() keeps what has a comment, what is forgotten already and system variables", () => {
  const heads = [
    head("documented", { at: 1, doc: "Rows of the report" }),
    head("gone", { at: 1, scope: "forgotten" }),
    head("$answer", { at: 1, scope: "system" }),
  ];
  assert.deepEqual(staleVariables(heads, { queries: at(10, 20), after: 1 }), []);
});

Deno.test("staleVariables() names nothing before so many queries were asked", () => {
  assert.deepEqual(staleVariables([head("old", { at: 1 })], { queries: at(10, 20), after: 3 }), []);
  assert.deepEqual(staleVariables([], { queries: [], after: 3 }), []);
});

const AFTER_ONE = { settings: { autoForgetAfter: 1 } };

/** A clock that moves on by itself, so that no two things happen at the same time. */
function ticking(): () => number {
  const clock = { now: Date.now() };
  return () => clock.now += 5;
}

Deno.test("prepare() forgets stale variables when a query begins, in scope, index and store", async () => {
  const path = await Deno.makeTempFile({ suffix: ".db" });
  try {
    await using first = await startEngine([
      replyJson("const tmp = 1\n// Rows of the report\nconst rows = [1, 2]\nfunction twice(n) { return n * 2 }", {
        final: "a",
      }),
      replyJson("const fresh = 2", { final: "b" }),
      replyJson("[typeof tmp, typeof twice, rows.length, fresh].join()"),
      replyJson('await restoreVar("tmp"); const again = tmp', { final: "{{again}}" }),
    ], { ...AFTER_ONE, path });
    await first.ask("one");
    await first.ask("two");
    assert.equal((await first.ask("three")).answer, "1");
    assert.match(first.context(2), /forgotten: (?:twice\(v1\) tmp\(v1\)|tmp\(v1\) twice\(v1\))/);
    assert.match(first.context(3), /undefined,undefined,2,2/);
    await first.close();
    await using second = await startEngine([
      replyJson("[typeof twice, rows.length, again].join()"),
      replyJson([], { final: "as before" }),
    ], { ...AFTER_ONE, path });
    await second.ask("four");
    assert.match(second.context(1), /undefined,2,1/);
    assert.match(second.context(0), /forgotten: .*twice\(v1\)/);
  } finally {
    await Deno.remove(path);
  }
});

Deno.test("prepare() forgets nothing unless it is told to", async () => {
  await using engine = await startEngine([
    replyJson("const tmp = 1", { final: "a" }),
    ...Array.from({ length: 4 }, () => replyJson([], { final: "{{tmp}}" })),
  ], { now: ticking() });
  for (let query = 0; query < 4; query++) await engine.ask("again");
  assert.equal((await engine.ask("again")).answer, "1");
});
