import type { PositionMap } from "./position_map.ts";

export interface SourceEdit {
  readonly start: number;
  readonly end: number;
  readonly text: string;
  /** Where errors in the inserted text belong; `start` if absent. */
  readonly at?: number;
}

/** Applies edits that do not overlap; edits at the same position keep their order. The map leads from the result to the
 * original. */
export function applyEdits(
  text: string,
  edits: readonly SourceEdit[],
): { readonly text: string; readonly map: PositionMap } {
  const sorted = edits.toSorted((a, b) => a.start - b.start || a.end - b.end);
  const map: number[] = [];
  let out = "", at = 0;
  for (const edit of sorted) {
    map.push(out.length, at, edit.start - at);
    out += text.slice(at, edit.start);
    map.push(out.length, edit.at ?? edit.start, Math.min(edit.text.length, edit.end - edit.start));
    out += edit.text;
    at = edit.end;
  }
  map.push(out.length, at, text.length - at + 1);
  return { text: out + text.slice(at), map };
}
