import { Markdown } from "@earendil-works/pi-tui";
import { visibleText } from "../../../domain/text/visible_text.ts";
import { cutWide } from "./cut_wide.ts";
import type { Theme } from "./theme.ts";
import { wrapped } from "./wrapped.ts";

/** Limit of emphasis and link marks in one paragraph: the parser's time grows with their square. */
const MOST_MARKS = 800;
/** Deeply nested quotes and lists. */
const DEEP = /^(?:\s*>){12}|^ {48,}(?:[-*+]|\d+[.)])\s/m;
const FENCES = /^ {0,3}(`{3,}|~{3,})[^]*?(?:^ {0,3}\1|$(?![^]))/gm;
const PARAGRAPHS = /\n\s*\n|\n(?=\s*(?:[-*+]|\d+[.)])\s)/;

/** Some paragraphs of Markdown. What the parser would take seconds for, or fails on, is shown as written. */
export class MarkdownPart {
  readonly #text: string;
  readonly #markdown: Markdown | null;
  /** The parser's output after it was made to fit. */
  #drawn: { readonly from: readonly string[]; readonly lines: readonly string[] } | null = null;
  #plain: { readonly width: number; readonly lines: readonly string[] } | null = null;

  constructor(text: string, theme: Theme) {
    this.#text = visibleText(text.replace(/^\n+|\s+$/g, ""));
    this.#markdown = isModest(this.#text)
      ? new Markdown(this.#text, 0, 0, theme.markdown, undefined, {
        preserveOrderedListMarkers: true,
        renderLatex: false,
      })
      : null;
  }

  /** Returns the same array if nothing changed. */
  lines(width: number): readonly string[] {
    if (this.#plain?.width === width) return this.#plain.lines;
    try {
      if (this.#markdown !== null) return this.#fitted(this.#markdown.render(width), width);
    } catch (error) {
      if (!(error instanceof RangeError)) throw error; // nested too deeply for the parser
    }
    this.#plain = { width, lines: wrapped(this.#text, width) };
    return this.#plain.lines;
  }

  #fitted(from: readonly string[], width: number): readonly string[] {
    if (this.#drawn?.from !== from) this.#drawn = { from, lines: cutWide(from, width) };
    return this.#drawn.lines;
  }
}

function isModest(text: string): boolean {
  if (text.length <= MOST_MARKS) return true;
  if (DEEP.test(text)) return false;
  const paragraphs = text.replace(FENCES, "").split(PARAGRAPHS);
  return paragraphs.every((one) => one.length <= MOST_MARKS || count(one) <= MOST_MARKS);
}

function count(text: string): number {
  let marks = 0;
  for (const char of text) if ("*_[]`~<".includes(char)) marks++;
  return marks;
}
