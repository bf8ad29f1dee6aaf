import { visibleWidth } from "@earendil-works/pi-tui";
import { visibleText } from "../../../domain/kit/text.ts";
import { parseMarkdown } from "../../../markdown/parse_markdown.ts";
import { markdownLines } from "../../../markdown/terminal/markdown_lines.ts";
import type { Theme } from "./theme.ts";
import { cutWide } from "./wrapped.ts";

type Part = (width: number) => readonly string[];

const LONG_LIST = 2_000;

/** Keeps the lines of finished paragraphs, so that `append` stays cheap. Without `whole`, earlier items
 * of a long list also count as finished. */
export class MarkdownText {
  readonly #theme: Theme;
  readonly #options: { readonly whole: boolean; readonly look: (line: string) => string };
  readonly #done: { readonly part: Part; readonly joins: boolean }[] = [];
  #tail = "";
  #joins = false;
  #open: Part | null = null;

  constructor(theme: Theme, { whole = true, look = (line: string) => line } = {}) {
    this.#theme = theme;
    this.#options = { whole, look };
  }

  append(text: string): void {
    this.#tail += text;
    this.#open = null;
  }

  lines(width: number): readonly string[] {
    for (let cut = this.#cut(); cut.at > 0; cut = this.#cut()) {
      this.#done.push({ part: this.#partOf(this.#tail.slice(0, cut.at)), joins: this.#joins });
      this.#tail = this.#tail.slice(cut.at);
      this.#joins = cut.joins;
    }
    this.#open ??= this.#partOf(this.#tail);
    const drawn = [...this.#done, { part: this.#open, joins: this.#joins }]
      .map(({ part, joins }) => ({ lines: part(width), joins }))
      .filter(({ lines }) => lines.length > 0);
    return drawn.flatMap(({ lines, joins }, index) => index === 0 || joins ? lines : ["", ...lines]);
  }

  #cut(): { readonly at: number; readonly joins: boolean } {
    const { paragraph, item } = boundaries(this.#tail);
    if (paragraph > 0) return { at: paragraph, joins: false };
    return { at: this.#options.whole || this.#tail.length < LONG_LIST ? 0 : item, joins: true };
  }

  #partOf(text: string): Part {
    const blocks = parseMarkdown(text.replace(/^\n+|\s+$/g, ""), { clean: visibleText });
    let drawn = { width: 0, lines: [] as readonly string[] };
    return (width) => {
      if (drawn.width === width) return drawn.lines;
      const lines = markdownLines(blocks, { width, paint: this.#theme.markdown, columns: visibleWidth });
      drawn = { width, lines: cutWide(lines, width).map(this.#options.look) };
      return drawn.lines;
    };
  }
}

const FENCE = /^ {0,3}(`{3,}|~{3,})/;
const ITEM = /^(?:[-*+]|\d+[.)])(?:\s|$)/;

function boundaries(text: string): { readonly paragraph: number; readonly item: number } {
  let fence = "";
  let at = 0;
  let item = 0;
  let empty = false;
  while (true) {
    const end = text.indexOf("\n", at);
    if (end === -1) return { paragraph: 0, item }; // The last line may still grow.
    const line = text.slice(at, end);
    const mark = FENCE.exec(line)?.[1] ?? "";
    if (fence === "" && empty && at > 0 && /^\S/.test(line) && !ITEM.test(line)) return { paragraph: at, item };
    if (fence === "" && !empty && at > 0 && ITEM.test(line)) item = at;
    if (fence === "") fence = mark;
    else if (mark.startsWith(fence) && line.trim() === mark) fence = "";
    empty = fence === "" && mark === "" && line.trim() === "";
    at = end + 1;
  }
}
