import { visibleText } from "../../../domain/kit/text.ts";
import { brokenLine } from "./broken_line.ts";
import { moreLines } from "./more_lines.ts";

const TAB = "    ";
/** Beyond this many characters, lines are not counted when only a few are shown. */
const COUNTED = 20_000;

/** Text from a model, a program or a database, wrapped at this many columns and free of control sequences. `most`: the
 * number of lines shown, followed by a note about the rest. */
export function wrapped(text: string, width: number, { most = Infinity }: { readonly most?: number } = {}): string[] {
  const room = Math.max(1, width);
  const bound = Math.max(COUNTED, most * room * 2);
  const parts = visibleText((text.length > bound ? text.slice(0, bound) : text).replaceAll("\t", TAB)).split("\n");
  const lines: string[] = [];
  let rest = 0;
  for (const [index, whole] of parts.entries()) {
    const part = whole.slice(0, (most - lines.length + 1) * room * 4);
    if (lines.length >= most) {
      rest = parts.length - index;
      break;
    }
    if (part.length <= room && /^[\x20-\x7e]*$/.test(part)) lines.push(part);
    else lines.push(...broken(part, room));
  }
  if (lines.length <= most && rest === 0 && text.length <= bound) return lines;
  return [...lines.slice(0, most), moreLines(text.length > bound ? null : rest, { most }).slice(0, room)];
}

/** The package leaves an empty line before a character wider than a line. */
function broken(part: string, width: number): readonly string[] {
  const lines = brokenLine(part, width);
  return part.trim() === "" ? lines : lines.filter((line) => line !== "");
}
