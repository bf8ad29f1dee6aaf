import { matchesKey, wrapTextWithAnsi } from "@earendil-works/pi-tui";
import { counted, visibleText } from "../../../domain/kit/text.ts";
import { diffLines } from "../../../markdown/terminal/diff_lines.ts";
import { terminalPaint } from "../../../markdown/terminal/paint.ts";
import { paint } from "../text/one_line.ts";
import type { PanelParts, PanelTheme } from "./panel.ts";
import { LineInput, type Movement, movement } from "./widgets.ts";

const LEAST_ROWS = 6;

export class Reader {
  readonly text: TextView;
  #asking: LineInput | null = null;
  #needle = "";
  #told = "";

  constructor(theme?: PanelParts["theme"]) {
    this.text = new TextView(theme);
  }

  handle(data: string): boolean {
    if (this.#asking !== null) {
      if (matchesKey(data, "enter")) this.#search(this.#asking.value);
      else this.#asking.handle(data);
      return true;
    }
    this.#told = "";
    const moved = movement(data);
    if (moved !== null) this.text.move(moved);
    else if (data === " ") this.text.move("pageDown");
    else if (data === "/") this.#asking = new LineInput({ prompt: "/", placeholder: "find in this text" });
    else if (data === "n") this.#find(1);
    else if (data === "N") this.#find(-1);
    else return false;
    return true;
  }

  find(words: string): void {
    if (words === "") this.handle("/");
    else this.#search(words);
  }

  back(): boolean {
    if (this.#asking === null && this.#needle === "") return false;
    this.#asking = null;
    this.#forget();
    return true;
  }

  render(width: number, height: number): string[] {
    const rows = Math.max(1, height - 1);
    const shown = this.text.render(width, rows);
    while (shown.length < (this.text.fits ? Math.min(rows, LEAST_ROWS) : rows)) shown.push("");
    return [...shown, ...this.#asking?.render(width) ?? [paint.dim(this.#line())]];
  }

  #line(): string {
    const { line, lines } = this.text.where;
    const where = this.text.fits ? [] : [`line ${line.toLocaleString("en")} of ${lines.toLocaleString("en")}`];
    return [...this.#told === "" ? [] : [this.#told], ...where].join(" · ");
  }

  #search(needle: string): void {
    this.#asking = null;
    this.#needle = needle;
    if (needle === "") this.#forget();
    else this.#tell(this.text.find(needle, { by: 1, again: false }));
  }

  #find(by: 1 | -1): void {
    if (this.#needle !== "") this.#tell(this.text.find(this.#needle, { by, again: true }));
  }

  #tell(found: boolean): void {
    const count = this.text.matches;
    const keys = count > 1 ? " (n next, N previous)" : "";
    this.#told = found ? `“${this.#needle}” in ${counted(count, "line")}${keys}` : `no “${this.#needle}”`;
  }

  #forget(): void {
    [this.#needle, this.#told] = ["", ""];
    this.text.find("", { by: 1, again: false });
  }
}

export interface TextPart {
  readonly head?: string;
  readonly text: string;
  readonly look?: Look;
  readonly hang?: number;
}

export function diffPart(diff: string): TextPart {
  const paint = terminalPaint({ color: false, weights: false });
  const [head = "", ...lines] = diffLines(diff, { width: Infinity, paint, most: Infinity });
  return { head, text: lines.join("\n"), look: "change" };
}

type Look = "plain" | "dim" | "diff" | "change" | "drawn" | "table";

interface Line {
  readonly text: string;
  readonly look: Look | "head";
  readonly part: number;
  readonly hang?: number | undefined;
}

/** Measuring a huge line as a whole is slow, so the view wraps longer lines in pieces. */
const PIECE = 4_000;
const KEPT_LINES = 2_000;
const TABLE_COLUMN = 12;
const CHANGE_MARGIN = /^ *\d+ [ +-] /;
const LEAST_ROOM = 12;

export class TextView {
  readonly #theme: PanelParts["theme"];
  #lines: readonly Line[] = [];
  #top = { line: 0, row: 0 };
  #height = 1;
  #width = 0;
  readonly #rows = new Map<number, readonly string[]>();
  #needle = "";
  #pinned = false;

  constructor(theme?: PanelParts["theme"]) {
    this.#theme = theme;
  }

  show(parts: readonly TextPart[]): void {
    this.#lines = parts.flatMap((one, part): Line[] => [
      ...(part === 0 || one.head === undefined ? [] : [{ text: "", look: "plain", part: part - 1 } as const]),
      ...(one.head === undefined ? [] : [{ text: one.head, look: "head", part } as const]),
      ...linesOf(one.text).map((text) => ({ text, look: one.look ?? "plain", part, hang: one.hang })),
    ]);
    this.#rows.clear();
    this.#pinned = false;
    this.#top = { line: 0, row: 0 };
  }

  grow(parts: readonly TextPart[]): void {
    const [top, pinned] = [this.#top, this.#pinned];
    const atEnd = !pinned && !isBehind(this.#last(), top);
    this.show(parts);
    [this.#top, this.#pinned] = atEnd ? [this.#last(), false] : [top, pinned];
  }

  get part(): number {
    return this.#lines[this.#top.line]?.part ?? 0;
  }

  get fits(): boolean {
    const { line, row } = this.#last();
    return line === 0 && row === 0 && !this.#pinned;
  }

  get where(): { readonly line: number; readonly lines: number } {
    return { line: Math.min(this.#top.line + 1, this.#lines.length), lines: this.#lines.length };
  }

  move(movement: Movement): void {
    const page = Math.max(1, this.#height - 2);
    const down = movement === "down" || movement === "pageDown";
    if (this.#pinned && down && !isBehind(this.#last(), this.#top)) return;
    this.#pinned = false;
    if (movement === "home") this.#top = { line: 0, row: 0 };
    else if (movement === "end") this.#top = this.#last();
    else this.#scroll({ up: -1, down: 1, pageUp: -page, pageDown: page }[movement]);
  }

  go(part: number): void {
    const line = this.#lines.findIndex((one) => one.part === part);
    if (line < 0) return;
    this.#top = { line, row: 0 };
    this.#pinned = true;
  }

  find(needle: string, { by, again }: { readonly by: 1 | -1; readonly again: boolean }): boolean {
    this.#needle = needle.toLowerCase();
    const count = this.#lines.length;
    if (this.#needle === "" || count === 0) return true;
    for (let step = again ? 1 : 0; step <= count; step++) {
      const at = (this.#top.line + by * step + count * 2) % count;
      if (!safe(this.#lines[at]?.text ?? "").toLowerCase().includes(this.#needle)) continue;
      const row = this.#wrapped(at).findIndex((one) => one.toLowerCase().includes(this.#needle));
      this.#top = { line: at, row: Math.max(0, row) };
      this.#pinned = true;
      return true;
    }
    return false;
  }

  get matches(): number {
    if (this.#needle === "") return 0;
    return this.#lines.filter(({ text }) => safe(text).toLowerCase().includes(this.#needle)).length;
  }

  render(width: number, height: number): string[] {
    const last = this.#resized(width, height);
    const shown: string[] = [];
    if (!this.#pinned && isBehind(this.#top, last)) this.#top = last;
    this.#top.row = Math.min(this.#top.row, Math.max(0, this.#wrapped(this.#top.line).length - 1));
    for (let line = this.#top.line; line < this.#lines.length && shown.length < height; line++) {
      const rows = this.#wrapped(line).slice(line === this.#top.line ? this.#top.row : 0);
      const style = styleOf(this.#lines[line], this.#theme?.());
      shown.push(...rows.map((row) => style(this.#needle === "" ? row : marked(row, this.#needle))));
    }
    return shown.slice(0, height);
  }

  #resized(width: number, height: number): { line: number; row: number } {
    const before = this.#last();
    const atEnd = isBehind(before, { line: 0, row: 0 }) && !isBehind(before, this.#top);
    if (width !== this.#width) this.#rows.clear();
    [this.#width, this.#height] = [width, height];
    const last = this.#last();
    if (atEnd && !this.#pinned) this.#top = last;
    return last;
  }

  #scroll(by: number): void {
    let { line, row } = this.#top;
    for (let left = Math.abs(by); left > 0; left--) {
      if (by > 0) {
        if (row + 1 < this.#wrapped(line).length) row++;
        else if (line + 1 < this.#lines.length) [line, row] = [line + 1, 0];
      } else if (row > 0) row--;
      else if (line > 0) [line, row] = [line - 1, this.#wrapped(line - 1).length - 1];
    }
    const last = this.#last();
    this.#pinned = by < 0 && isBehind({ line, row }, last);
    this.#top = by > 0 && isBehind({ line, row }, last) ? last : { line, row };
  }

  #last(): { line: number; row: number } {
    let left = this.#height;
    for (let line = this.#lines.length - 1; line >= 0; line--) {
      const rows = this.#wrapped(line).length;
      if (rows >= left) return { line, row: rows - left };
      left -= rows;
    }
    return { line: 0, row: 0 };
  }

  #wrapped(at: number): readonly string[] {
    const known = this.#rows.get(at);
    if (known) return known;
    const line = this.#lines[at] ?? { text: "", look: "plain", part: 0 };
    const text = line.look === "drawn" ? line.text : safe(line.text);
    const rows = hanging(text, { width: this.#width, column: hangOf(line) });
    if (this.#rows.size >= KEPT_LINES) this.#rows.clear();
    this.#rows.set(at, rows);
    return rows;
  }
}

function hangOf({ text, look, hang }: Line): number {
  if (look === "change") return CHANGE_MARGIN.exec(text)?.[0].length ?? 0;
  const column = look === "table" ? TABLE_COLUMN : hang ?? 0;
  return text.length > column && /^[\x20-\x7e]*$/.test(text.slice(0, column)) ? column : 0;
}

function hanging(text: string, { width, column }: { readonly width: number; readonly column: number }): string[] {
  const room = width - column;
  if (column === 0 || room < LEAST_ROOM) return wrapTextWithAnsi(text, Math.max(2, width));
  const rows = wrapTextWithAnsi(text.slice(column), room);
  return rows.map((row, at) => (at === 0 ? text.slice(0, column) : " ".repeat(column)) + row);
}

function isBehind(a: { readonly line: number; readonly row: number }, b: typeof a): boolean {
  return a.line > b.line || a.line === b.line && a.row > b.row;
}

function safe(text: string): string {
  return visibleText(text.toWellFormed()).replaceAll("\t", "    ").replaceAll("\n", " ");
}

function linesOf(text: string): string[] {
  return text.split(/\r\n|\n/).flatMap((line) => line.length <= PIECE ? [line] : pieces(line));
}

function pieces(line: string): string[] {
  const found: string[] = [];
  for (let at = 0; at < line.length;) {
    let end = Math.min(line.length, at + PIECE);
    if (end < line.length && /[\ud800-\udbff]/.test(line[end - 1] ?? "")) end--;
    found.push(line.slice(at, end));
    at = end;
  }
  return found;
}

function styleOf(
  { look, text }: Pick<Line, "look" | "text"> = { look: "plain", text: "" },
  theme?: PanelTheme,
): (row: string) => string {
  if (look === "head") return paint.bold;
  if (look === "dim") return paint.dim;
  const sign = look === "diff" ? text[0] : look === "change" ? /^ *\d+ ([+-])/.exec(text)?.[1] : "";
  if (sign === "+") return theme?.ok ?? paint.bold;
  return sign === "-" ? theme?.bad ?? paint.dim : String;
}

function marked(row: string, needle: string): string {
  const low = row.toLowerCase();
  // Some letters get longer in lower case, which would shift the positions.
  if (low.length !== row.length) return row;
  let [text, from] = ["", 0];
  for (let at = low.indexOf(needle); at >= 0; at = low.indexOf(needle, from)) {
    text += row.slice(from, at) + paint.inverse(row.slice(at, at + needle.length));
    from = at + needle.length;
  }
  return text + row.slice(from);
}
