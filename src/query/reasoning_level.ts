import type { ReasoningLevel } from "../providers/provider.ts";

const LEVELS: readonly ReasoningLevel[] = ["quick", "balanced", "deep"];

/** What the user told, else the model's own wish for one iteration, else balanced and one step up for each error in a
 * row. */
export function reasoningLevel(
  { told = null, asked, consecutiveErrors }: {
    readonly told?: ReasoningLevel | null;
    readonly asked: ReasoningLevel | null;
    readonly consecutiveErrors: number;
  },
): ReasoningLevel {
  const wanted = told ?? asked;
  if (wanted) return wanted;
  return LEVELS[Math.min(LEVELS.length - 1, 1 + consecutiveErrors)] ?? "balanced";
}
