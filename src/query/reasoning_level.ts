import type { ReasoningLevel } from "../providers/provider.ts";

const LEVELS: readonly ReasoningLevel[] = ["quick", "balanced", "deep"];

/** The user's setting, else the model's own choice for one iteration, else balanced, one step higher for each
 * consecutive error. */
export function reasoningLevel(
  { configured = null, asked, consecutiveErrors }: {
    readonly configured?: ReasoningLevel | null;
    readonly asked: ReasoningLevel | null;
    readonly consecutiveErrors: number;
  },
): ReasoningLevel {
  const wanted = configured ?? asked;
  if (wanted) return wanted;
  return LEVELS[Math.min(LEVELS.length - 1, 1 + consecutiveErrors)] ?? "balanced";
}
