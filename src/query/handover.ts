import { clip } from "../domain/text/clip.ts";
import type { PreviousTurn } from "../persistence/store/query_store.ts";
import type { ContextParts } from "../prompt/context/context_parts.ts";

/** Limits, in characters, for interrupted blocks. The text that they share is cut in the middle when the handover is
 * rendered. */
const CUT = { blocks: 5, chars: 300 };

/** What the first context of a query reports about the previous query. */
export function handoverOf(before: PreviousTurn | null): ContextParts["handover"] {
  if (!before) return null;
  const { text, thinkings, answer, status, images = 0, pending = [], notes = [] } = before;
  const seen = images === 0 ? "" : `\n[with ${images} ${images === 1 ? "image" : "images"}, not shown again]`;
  return {
    request: text + seen,
    thinkings,
    answer: [answer, ...notes.map((note) => `[${note}]`), ...cutBlocks(pending)].join("\n"),
    ...(status === "done" ? {} : { unfinished: true }),
  };
}

/** What was running when the process ended. The model must check whether it has to be repeated. */
export function cutBlocks(pending: readonly string[]): string[] {
  if (pending.length === 0) return [];
  const [these, they] = pending.length === 1 ? ["this block", "it"] : [`these ${pending.length} blocks`, "they"];
  const shown = pending.slice(0, CUT.blocks).map((code, at) => `[${at + 1}] ${clip(code, CUT.chars)}`);
  return [
    `It ended while ${these} ran. What ${they} defined or changed is gone; what ${they} did outside may have happened:`,
    ...shown,
  ];
}
