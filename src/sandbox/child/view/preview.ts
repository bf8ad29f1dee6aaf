import { look } from "../intrinsics/look.ts";
import type { Bounds } from "./layout.ts";
import { linesText } from "./lines_text.ts";
import { Previewer } from "./previewer.ts";

/** Any value as text in the style of `Deno.inspect`, with multi-line text unchanged; bounded during traversal. Runs no
 * getter, trap, iterator or method of the value. Never throws. */
export function preview(value: unknown, bounds: Partial<Bounds> = {}): string {
  const { depth = 5, items = 100, chars = 6000, ms = 50 } = bounds;
  try {
    const lines = typeof value === "string" ? linesText(value, chars) : null;
    if (lines !== null) return lines;
    const text = new Previewer({ depth, items, chars, ms }).text(value);
    const most = chars * 2 + 200; // indentation is not counted during traversal
    return text.length <= most ? text : `${look.slice(text, 0, most)}...`;
  } catch {
    return "[Not shown]"; // the stack or the heap is exhausted
  }
}
