import assert from "node:assert/strict";
import { deadline } from "../../src/iteration/run_iteration.ts";
import { startEngine } from "../helpers/engine.ts";
import { replyJson } from "../helpers/scripted_provider.ts";

const BOUNDS = { defaultMs: 120_000, minMs: 3_000, maxMs: 1_800_000 };

Deno.test("deadline() keeps the model's estimate within the operator's bounds", () => {
  const cases: [number | null, number][] = [
    [null, 120_000],
    [NaN, 120_000],
    [Infinity, 120_000],
    [-5, 3_000],
    [0, 3_000],
    [2_999, 3_000],
    [3_000, 3_000],
    [60_000, 60_000],
    [1e12, 1_800_000],
  ];
  for (const [told, expected] of cases) assert.equal(deadline(told, BOUNDS), expected);
  assert.equal(deadline(null, { ...BOUNDS, defaultMs: 1_000 }), 3_000);
  assert.equal(deadline(null, { ...BOUNDS, maxMs: 4_000 }), 4_000);
});

Deno.test("executeBlocks() runs all blocks of a reply in order, also after a failed one", async () => {
  await using engine = await startEngine([
    replyJson(["const a = [1]", "throw new Error('no')", "a.push(2)", "a.join() + results.length"]),
    replyJson([], { final: "That is all" }),
  ]);
  const { queryId } = await engine.ask("x");
  const [iteration] = await engine.store.iterations(queryId);
  const previews = iteration?.blocks.map(({ result }) => result.ok ? result.preview : result.error?.message);
  assert.deepEqual(previews?.slice(1), ["no", "2", '"1,20"'], "no rows were shown before this reply");
});

Deno.test("executeBlocks() stores the blocks that a cancel kept from running as cancelled", async () => {
  const controller = new AbortController();
  await using engine = await startEngine([replyJson(["const a = 1", "await new Promise(() => {})", "const b = 2"])]);
  const running = engine.ask("x", { signal: controller.signal });
  while (engine.events.filter(({ type }) => type === "block_started").length < 2) {
    await new Promise((resolve) => setTimeout(resolve, 2));
  }
  controller.abort();
  const { queryId, reason } = await running;
  assert.equal(reason, "cancelled");
  const [iteration] = await engine.store.iterations(queryId);
  assert.deepEqual(iteration?.blocks.map(({ code, result }) => [code, result.outcome]), [
    ["const a = 1", "value"],
    ["await new Promise(() => {})", "cancelled"],
    ["const b = 2", "cancelled"],
  ]);
  assert.equal(engine.events.filter(({ type }) => type === "block_started").length, 2);
  const names = (await engine.store.variables(engine.branch.branchId)).map(({ name }) => name);
  assert.deepEqual([names.includes("a"), names.includes("b")], [true, false]);
});
