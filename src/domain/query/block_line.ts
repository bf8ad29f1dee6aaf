import { oneLine } from "../text/clip.ts";
import type { BlockResult } from "./block_result.ts";
import type { StepBlock } from "./query_progress.ts";

/** Code before a result. */
const CODE_CHARS = 60;

/** Why a block failed, for people: what a function refused needs no name of a class. */
export function blockFailure({ error, outcome }: BlockResult): string {
  if (!error) return outcome;
  return error.name === "HostCallError" ? error.message : `${error.name}: ${error.message}`;
}

/** A block that has ended, for one line: what its calls did, or its code with the result. `ok`: it ended without an
 * error, and so did all that it called. `width`: what the line should take at most. */
export function blockLine(
  { code, tally, result }: Pick<StepBlock, "code" | "tally" | "result">,
  width = Infinity,
): { readonly text: string; readonly isCode: boolean; readonly ok: boolean } {
  const ok = (result?.ok ?? false) && !tally.failed;
  if (tally.text !== "") return { text: tally.textWithin(width), isCode: false, ok };
  const hasValue = result?.ok && result.outcome === "value";
  return { text: hasValue ? `${oneLine(code, CODE_CHARS)} → ${result.preview}` : code, isCode: true, ok };
}
