import assert from "node:assert/strict";
import { NO_USAGE } from "../../src/domain/usage.ts";
import { costOf } from "../../src/providers/usage_cost.ts";

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
