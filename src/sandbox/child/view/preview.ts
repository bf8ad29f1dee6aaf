import { look } from "../intrinsics/look.ts";
import { linesText } from "./lines_text.ts";
import { Previewer } from "./previewer.ts";

export interface PreviewBounds {
  /** Levels of objects in objects that are opened. */
  readonly depth?: number;
  /** Items or keys of one object that are shown. */
  readonly items?: number;
  /** Of the whole text, with a little over it for the marks of what is left out. */
  readonly chars?: number;
  /** Milliseconds after which the rest is left out. */
  readonly ms?: number;
}

/** Any value as text in the manner of `Deno.inspect`, text of several lines as it is, bounded while walking. No getter, trap, iterator or method of the
 * value runs. Never throws. */
export function preview(value: unknown, bounds: PreviewBounds = {}): string {
  const { depth = 5, items = 100, chars = 6000, ms = 50 } = bounds;
  try {
    const lines = typeof value === "string" ? linesText(value, chars) : null;
    if (lines !== null) return lines;
    const text = new Previewer({ depth, items, chars, ms }).text(value);
    const most = chars * 2 + 200; // indentation is not counted while walking
    return text.length <= most ? text : `${look.slice(text, 0, most)}...`;
  } catch {
    return "[Not shown]"; // the stack or the heap is at its end
  }
}
