import { wrapTextWithAnsi } from "@earendil-works/pi-tui";
import { visibleText } from "../../domain/visible_text.ts";

const TAB = "    ";

/** A text from a model, a program or a database in lines of at most this many columns, nothing in it commands the
 * terminal. `most`: lines that are shown; the rest is told of. */
export function wrapped(text: string, width: number, { most = Infinity }: { readonly most?: number } = {}): string[] {
  const lines: string[] = [];
  const room = Math.max(1, width);
  const all = bounded(text, most * room * 2).replaceAll("\t", TAB);
  const parts = visibleText(all).split("\n");
  for (const [index, part] of parts.entries()) {
    if (lines.length >= most) {
      const rest = parts.length - index;
      return [...lines.slice(0, most), `… ${rest} more ${rest === 1 ? "line" : "lines"}`.slice(0, room)];
    }
    if (part.length <= room && /^[\x20-\x7e]*$/.test(part)) lines.push(part);
    else lines.push(...wrapTextWithAnsi(part, room));
  }
  return lines.length > most ? [...lines.slice(0, most), "…"] : lines;
}

/** Most of a text that can be seen, so that megabytes are not wrapped for a few lines. */
function bounded(text: string, chars: number): string {
  return text.length > chars ? `${text.slice(0, chars)}\n…` : text;
}
