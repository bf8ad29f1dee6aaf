import type { ReasoningLevel } from "../providers/provider.ts";

const LEVELS: readonly ReasoningLevel[] = ["quick", "balanced", "deep"];

/** The model's own wish for one iteration, else balanced and one step up for each error in a row. */
export function reasoningLevel(
  { asked, consecutiveErrors }: { readonly asked: ReasoningLevel | null; readonly consecutiveErrors: number },
): ReasoningLevel {
  if (asked) return asked;
  return LEVELS[Math.min(LEVELS.length - 1, 1 + consecutiveErrors)] ?? "balanced";
}
