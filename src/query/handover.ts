import type { PreviousTurn } from "../persistence/store.ts";
import type { ContextParts } from "../prompt/context_parts.ts";

/** What the first context of a query says of the one before. */
export function handoverOf(before: PreviousTurn | null): ContextParts["handover"] {
  if (!before) return null;
  const { text, thinkings, answer, images = 0 } = before;
  const seen = images === 0 ? "" : `\n[with ${images} ${images === 1 ? "image" : "images"}, not shown again]`;
  return { request: text + seen, thinkings, answer };
}
