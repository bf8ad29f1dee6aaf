import { visibleWidth } from "@earendil-works/pi-tui";

// deno-lint-ignore no-control-regex
const NARROW = /^[\x1b\x20-\x7e]*$/;
/** Colours and links: nothing else that begins with an escape is in a line. */
// deno-lint-ignore no-control-regex
const CODES = /(\x1b\[[\d;]*m|\x1b\]8;[^\x07\x1b]*(?:\x07|\x1b\\))/;
const GRAPHEMES = new Intl.Segmenter();
/** Makes a one-column sign an emoji of two columns. */
const WIDENS = "\ufe0f";

/** Cuts lines that were wrapped between characters, so that none is too wide: a character with more columns than a line
 * has (a letter with any number of combining marks) continues on the next one. A single code point of two columns stays
 * whole. Returns the same array if every line fits. */
export function cutWide(lines: readonly string[], width: number): readonly string[] {
  const fits = (line: string): boolean => NARROW.test(line) || visibleWidth(line) <= width;
  return lines.every(fits) ? lines : lines.flatMap((line) => fits(line) ? [line] : cut(line, width));
}

/** Colours and links continue on the lines that are cut off. */
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

/** Never less than the columns that it adds to a line. */
function columnsOf(text: string): number {
  return visibleWidth(text) + (text.startsWith(WIDENS) ? 1 : 0);
}
