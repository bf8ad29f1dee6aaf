import assert from "node:assert/strict";
import { loadModelData, type ModelDataSet } from "../../../src/providers/models/model_data.ts";

const SETS: readonly ModelDataSet[] = [
  "openai",
  "anthropic",
  "google",
  "openrouter",
  "github-copilot",
  "zai",
  "alibaba",
];

Deno.test("loadModelData() has sensible facts of every model", async () => {
  for (const set of SETS) {
    const { models, source } = await loadModelData(set);
    assert.match(source, /pi-ai .*MIT.* \d{4}-\d{2}-\d{2}$/);
    assert.ok(models.length >= 5, set);
    for (const { name, contextTokens, price } of models) {
      assert.ok(contextTokens !== null && contextTokens >= 1000, `${set} ${name}`);
      if (price === null) continue;
      assert.ok(price.input >= 0 && price.output >= 0 && price.cached >= 0 && price.cached <= 2 * price.input, name);
    }
  }
});

Deno.test("loadModelData() finds a model by its name, also with a date behind it", async () => {
  const data = await loadModelData("anthropic");
  const model = data.find("claude-sonnet-5");
  assert.deepEqual(model?.price, { input: 2, output: 10, cached: 0.2, cacheWrite: 2.5 });
  assert.deepEqual([model?.nativeReasoning, model?.images, model?.contextTokens], [true, true, 1_000_000]);
  assert.deepEqual(data.find("claude-sonnet-5-20270101"), { ...model, name: "claude-sonnet-5-20270101" });
  for (const name of ["claude-sonnet-55", "claude", "", "constructor", "__proto__"]) {
    assert.equal(data.find(name), null);
  }
});

Deno.test("loadModelData() marks models that only the Responses API serves", async () => {
  const data = await loadModelData("github-copilot");
  assert.equal(data.find("gpt-6-luna")?.responses, true);
  assert.equal(data.find("claude-sonnet-5")?.responses, false);
});

Deno.test("loadModelData() gives no price of a subscription", async () => {
  for (const set of ["github-copilot", "alibaba"] as const) {
    assert.ok((await loadModelData(set)).models.every(({ price }) => price === null));
  }
});

Deno.test("loadModelData() has the prices of long calls where they are higher", async () => {
  const { above, ...rates } = (await loadModelData("google")).find("gemini-2.5-pro")?.price ?? assert.fail();
  assert.deepEqual(rates, { input: 1.25, output: 10, cached: 0.125 });
  assert.deepEqual(above, { tokens: 200_000, input: 2.5, output: 15, cached: 0.25 });
});
