import assert from "node:assert/strict";
import { NO_USAGE } from "../../src/domain/query/model_call.ts";
import { costOf } from "../../src/providers/provider.ts";

const PRICE = { input: 3, output: 15, cached: 0.3 };

Deno.test("costOf() is null where the price is not known", () => {
  assert.equal(costOf(NO_USAGE, null), null);
});

Deno.test("costOf() counts cached input at its own price", () => {
  const usage = { input: 1_000_000, output: 100_000, cached: 900_000, reasoning: 50_000, calls: 1 };
  assert.equal(costOf(usage, PRICE), (100_000 * 3 + 900_000 * 0.3 + 100_000 * 15) / 1e6);
  assert.equal(costOf(NO_USAGE, PRICE), 0);
});

Deno.test("costOf() never counts more cached input than input", () => {
  assert.equal(costOf({ ...NO_USAGE, input: 10, cached: 1000 }, PRICE), 10 * 0.3 / 1e6);
});

Deno.test("costOf() counts input written to the cache at its own price, or at the price of input", () => {
  const usage = { ...NO_USAGE, input: 1_000_000, cached: 500_000, cacheWrite: 300_000 };
  const cost = (cacheWrite?: number) => costOf(usage, cacheWrite === undefined ? PRICE : { ...PRICE, cacheWrite });
  assert.equal(cost(), (500_000 * 3 + 500_000 * 0.3) / 1e6);
  assert.equal(cost(3.75), (200_000 * 3 + 300_000 * 3.75 + 500_000 * 0.3) / 1e6);
  assert.equal(costOf({ ...usage, cacheWrite: 9_000_000 }, PRICE), cost());
});

Deno.test("costOf() counts all of a long call at the prices of long calls", () => {
  const price = { ...PRICE, above: { tokens: 200_000, input: 6, output: 22.5, cached: 0.6 } };
  const usage = { ...NO_USAGE, input: 200_000, output: 1_000, cached: 50_000 };
  assert.equal(costOf(usage, price), (150_000 * 3 + 50_000 * 0.3 + 1_000 * 15) / 1e6);
  assert.equal(
    costOf({ ...usage, input: 200_001 }, price),
    (150_001 * 6 + 50_000 * 0.6 + 1_000 * 22.5) / 1e6,
  );
});
