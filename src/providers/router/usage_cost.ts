import type { Usage } from "../../domain/query/usage.ts";
import type { Capabilities } from "../provider.ts";

/** US dollars of one call, with separate prices for input that was read from the cache or written to it; null if the
 * price is unknown. */
export function costOf(usage: Usage, price: Capabilities["price"]): number | null {
  if (price === null) return null;
  const cached = Math.min(usage.cached, usage.input);
  const written = Math.min(usage.cacheWrite ?? 0, usage.input - cached);
  const input = (usage.input - cached - written) * price.input + written * (price.cacheWrite ?? price.input);
  return (input + cached * price.cached + usage.output * price.output) / 1_000_000;
}
