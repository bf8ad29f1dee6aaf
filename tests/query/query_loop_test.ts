import assert from "node:assert/strict";
import { reasoningLevel } from "../../src/query/query_loop.ts";
import { startEngine } from "../helpers/engine.ts";
import { replyJson } from "../helpers/scripted_provider.ts";

Deno.test("reasoningLevel() begins balanced and goes up with the errors in a row", () => {
  const levels = [0, 1, 2, 5].map((consecutiveErrors) => reasoningLevel({ asked: null, consecutiveErrors }));
  assert.deepEqual(levels, ["balanced", "deep", "deep", "deep"]);
});

Deno.test("reasoningLevel() takes the level that the model requested", () => {
  assert.equal(reasoningLevel({ asked: "quick", consecutiveErrors: 4 }), "quick");
});

Deno.test("runQuery() asks as `next` says for one call, also after an iteration that ran nothing", async () => {
  await using engine = await startEngine([
    replyJson("1", { next: { reasoning: "quick" } }),
    replyJson([], { next: { reasoning: "deep" } }),
    replyJson("2"),
    replyJson([], { final: "It is 2" }),
  ]);
  await engine.ask("count");
  assert.deepEqual(engine.provider.requests.map(({ reasoning }) => reasoning), [
    "balanced",
    "quick",
    "deep",
    "balanced",
  ]);
});
