import { visibleWidth, wrapTextWithAnsi } from "@earendil-works/pi-tui";
import { counted, visibleText } from "../../../domain/kit/text.ts";

const TAB = "    ";
const COUNTED = 20_000;

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

function broken(part: string, width: number): readonly string[] {
  const lines = brokenLine(part, width);
  return part.trim() === "" ? lines : lines.filter((line) => line !== "");
}

export function brokenLine(text: string, width: number): readonly string[] {
  return cutWide(wrapTextWithAnsi(text, width), width);
}

/** With at least this limit, the screen already shows all of a part, so the note about more lines names no key. */
const WHOLE = 1_000;

export function moreLines(count: number | null, { most }: { readonly most: number }): string {
  const rest = count === null || count === 0 ? "more" : counted(count, "more line");
  return `… ${rest}${most < WHOLE ? " (Ctrl-O)" : ""}`;
}

// deno-lint-ignore no-control-regex
const NARROW = /^[\x1b\x20-\x7e]*$/;
/** Matches colours and links, which are the only escape sequences in a line. */
// deno-lint-ignore no-control-regex
const CODES = /(\x1b\[[\d;]*m|\x1b\]8;[^\x07\x1b]*(?:\x07|\x1b\\))/;
const GRAPHEMES = new Intl.Segmenter();
/** This code point can turn the preceding sign into an emoji of two columns. */
const WIDENS = "\ufe0f";

export function cutWide(lines: readonly string[], width: number): readonly string[] {
  const fits = (line: string): boolean => NARROW.test(line) || visibleWidth(line) <= width;
  return lines.every(fits) ? lines : lines.flatMap((line) => fits(line) ? [line] : cut(line, width));
}

function cut(line: string, width: number): readonly string[] {
  const lines: string[] = [];
  const now = { style: "", text: "", columns: 0 };
  const add = (text: string, columns: number): void => {
    if (now.text !== now.style && now.columns + columns > width) {
      lines.push(now.text);
      Object.assign(now, { text: now.style, columns: 0 });
    }
    now.text += text;
    now.columns += columns;
  };
  for (const [index, part] of line.split(CODES).entries()) {
    if (index % 2 === 1) {
      now.style += part;
      now.text += part;
    } else {
      for (const { segment } of GRAPHEMES.segment(part)) {
        if (columnsOf(segment) <= width) add(segment, columnsOf(segment));
        else for (const point of segment) add(point, columnsOf(point));
      }
    }
  }
  return [...lines, now.text];
}

/** Returns at least as many columns as the text adds to a line. */
function columnsOf(text: string): number {
  return visibleWidth(text) + (text.startsWith(WIDENS) ? 1 : 0);
}
