import type { Usage } from "../../domain/query/query_schemas.ts";
import type { Capabilities, Price } from "../provider.ts";

/** The rates of a call with so much input: long ones may cost more per token. */
export function ratesFor(price: Price, inputTokens: number): Pick<Price, "input" | "output" | "cached" | "cacheWrite"> {
  return price.above && inputTokens > price.above.tokens ? price.above : price;
}

/** US dollars of one call, with separate prices for input that was read from the cache or written to it; null if the
 * price is unknown. */
export function costOf(usage: Usage, price: Capabilities["price"]): number | null {
  if (price === null) return null;
  const rates = ratesFor(price, usage.input);
  const cached = Math.min(usage.cached, usage.input);
  const written = Math.min(usage.cacheWrite ?? 0, usage.input - cached);
  const input = (usage.input - cached - written) * rates.input + written * (rates.cacheWrite ?? rates.input);
  return (input + cached * rates.cached + usage.output * rates.output) / 1_000_000;
}
