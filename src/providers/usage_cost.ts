import type { Usage } from "../domain/usage.ts";
import type { Capabilities } from "./provider.ts";

/** US dollars of one call, cached input at its own price; null where the price is not known. */
export function costOf(usage: Usage, price: Capabilities["price"]): number | null {
  if (price === null) return null;
  const cached = Math.min(usage.cached, usage.input);
  const perMillion = (usage.input - cached) * price.input + cached * price.cached + usage.output * price.output;
  return perMillion / 1_000_000;
}
