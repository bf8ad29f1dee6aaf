import type { Usage } from "../../domain/query/query_schemas.ts";

/** Prices of tokens are US dollars per million tokens. */
export interface Price extends Rates {
  /** The price is in US dollars for one web search by the service. By default, a search has no price of its own. */
  readonly search?: number;
  readonly above?: Rates & { readonly tokens: number };
}

interface Rates {
  readonly input: number;
  readonly output: number;
  readonly cached: number;
  /** Without this price, input that the service writes to its cache has the price of input. */
  readonly cacheWrite?: number;
}

export function ratesFor(price: Price, inputTokens: number): Rates {
  return price.above && inputTokens > price.above.tokens ? price.above : price;
}

/** Returns US dollars, or null if the price is unknown. */
export function costOf(usage: Usage, price: Price | null): number | null {
  if (price === null) return null;
  const rates = ratesFor(price, usage.input);
  const cached = Math.min(usage.cached, usage.input);
  const written = Math.min(usage.cacheWrite ?? 0, usage.input - cached);
  const input = (usage.input - cached - written) * rates.input + written * (rates.cacheWrite ?? rates.input);
  const tokens = (input + cached * rates.cached + usage.output * rates.output) / 1_000_000;
  return tokens + (usage.searches ?? 0) * (price.search ?? 0);
}
