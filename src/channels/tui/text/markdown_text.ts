import { visibleWidth } from "@earendil-works/pi-tui";
import { visibleText } from "../../../domain/kit/text.ts";
import { parseMarkdown } from "../../../markdown/parse_markdown.ts";
import { markdownLines } from "../../../markdown/terminal/markdown_lines.ts";
import type { Theme } from "./theme.ts";
import { cutWide } from "./wrapped.ts";

/** Draws some paragraphs. Returns the same array if nothing changed. */
type Part = (width: number) => readonly string[];

/** Markdown that grows: everything before the last paragraph is drawn once, so that appending costs the same for a long
 * answer. */
export class MarkdownText {
  readonly #theme: Theme;
  readonly #done: Part[] = [];
  #tail = "";
  #open: Part | null = null;

  constructor(theme: Theme) {
    this.#theme = theme;
  }

  append(text: string): void {
    this.#tail += text;
    this.#open = null;
  }

  lines(width: number): readonly string[] {
    for (let cut = boundary(this.#tail); cut > 0; cut = boundary(this.#tail)) {
      this.#done.push(partOf(this.#tail.slice(0, cut), this.#theme));
      this.#tail = this.#tail.slice(cut);
    }
    this.#open ??= partOf(this.#tail, this.#theme);
    const parts = [...this.#done, this.#open].map((part) => part(width)).filter((lines) => lines.length > 0);
    return parts.flatMap((lines, index) => index === 0 ? lines : ["", ...lines]);
  }
}

function partOf(text: string, theme: Theme): Part {
  const blocks = parseMarkdown(text.replace(/^\n+|\s+$/g, ""), { clean: visibleText });
  let drawn = { width: 0, lines: [] as readonly string[] };
  return (width) => {
    if (drawn.width === width) return drawn.lines;
    const lines = markdownLines(blocks, { width, paint: theme.markdown, columns: visibleWidth });
    drawn = { width, lines: cutWide(lines, width) };
    return drawn.lines;
  };
}

const FENCE = /^ {0,3}(`{3,}|~{3,})/;

/** Returns a place that splits the text without changing its meaning: after an empty line outside of fences, with no
 * list or indented text continuing. Returns 0 if there is no such place. */
function boundary(text: string): number {
  let fence = "";
  let at = 0;
  let empty = false;
  while (true) {
    const end = text.indexOf("\n", at);
    if (end === -1) return 0; // the last line may still grow
    const line = text.slice(at, end);
    const mark = FENCE.exec(line)?.[1] ?? "";
    if (fence === "" && empty && at > 0 && /^\S/.test(line) && !/^(?:[-*+]|\d+[.)])(?:\s|$)/.test(line)) return at;
    if (fence === "") fence = mark;
    else if (mark.startsWith(fence) && line.trim() === mark) fence = "";
    empty = fence === "" && mark === "" && line.trim() === "";
    at = end + 1;
  }
}
