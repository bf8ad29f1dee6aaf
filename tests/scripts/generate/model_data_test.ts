import assert from "node:assert/strict";
import { modelDataText, type SourceModel } from "../../../scripts/generate/model_data.ts";

const MODEL: SourceModel = {
  id: "m",
  api: "openai-completions",
  reasoning: false,
  input: ["text"],
  cost: { input: 2, output: 8, cacheRead: 0.5, cacheWrite: 0 },
  contextWindow: 128_000,
  maxTokens: 4_096,
};

function rowsOf(models: readonly SourceModel[], priced = true): Record<string, unknown> {
  return JSON.parse(modelDataText(models, { source: "s", priced })).models;
}

Deno.test("modelDataText() has a row for each model, by name", () => {
  const seeing = { ...MODEL, id: "a", reasoning: true, input: ["text", "image"], api: "openai-responses" };
  const text = modelDataText([MODEL, seeing], { source: "package 1", priced: true });
  assert.equal(JSON.parse(text).source, "package 1");
  assert.deepEqual(rowsOf([MODEL, seeing]), {
    a: [128_000, 4_096, 2, 8, 0.5, null, "ris"],
    m: [128_000, 4_096, 2, 8, 0.5, null, ""],
  });
  assert.ok(text.indexOf('"a"') < text.indexOf('"m"'));
});

Deno.test("modelDataText() takes a price of 0 for not known, unless the model is named free", () => {
  const cost = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 };
  const none = [128_000, 4_096, null, null, null, null, ""];
  assert.deepEqual(rowsOf([{ ...MODEL, cost }]), { m: none });
  assert.deepEqual(rowsOf([{ ...MODEL, id: "m:free", cost }]), { "m:free": [128_000, 4_096, 0, 0, 0, null, ""] });
  assert.deepEqual(rowsOf([{ ...MODEL, cost: { ...cost, input: -1, output: -1 } }]), { m: none });
  assert.deepEqual(rowsOf([MODEL], false), { m: none });
  const written = { ...MODEL, cost: { ...MODEL.cost, cacheWrite: 2.5 } };
  assert.deepEqual(rowsOf([written]), { m: [128_000, 4_096, 2, 8, 0.5, 2.5, ""] });
  assert.deepEqual(rowsOf([{ ...MODEL, cost: { ...MODEL.cost, cacheRead: 0 } }]), {
    m: [128_000, 4_096, 2, 8, 2, null, ""],
  });
});

Deno.test("modelDataText() omits everything but chat models, also under the name of one", () => {
  const chat = { ...MODEL, type: "chat" };
  assert.deepEqual(rowsOf([{ ...MODEL, type: "classifier", contextWindow: 1 }, chat]), rowsOf([MODEL]));
});

Deno.test("modelDataText() has the prices of long calls, if the context has room for one", () => {
  const tier = { inputTokensAbove: 100_000, input: 4, output: 12, cacheRead: 1, cacheWrite: 0 };
  const tiers = [{ ...tier, inputTokensAbove: 120_000, input: 9 }, tier];
  const long = [128_000, 4_096, 2, 8, 0.5, null, "", 100_000, 4, 12, 1, null];
  assert.deepEqual(rowsOf([{ ...MODEL, cost: { ...MODEL.cost, tiers } }]), { m: long });
  const beyond = { ...MODEL.cost, tiers: [{ ...tier, inputTokensAbove: 128_000 }] };
  assert.deepEqual(rowsOf([{ ...MODEL, cost: beyond }]), { m: long.slice(0, 7) });
});
