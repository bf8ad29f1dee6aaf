import { visibleWidth } from "@earendil-works/pi-tui";
import { visibleText } from "../../../domain/text/visible_text.ts";
import { parseMarkdown } from "../../../markdown/parse_markdown.ts";
import { markdownLines } from "../../../markdown/terminal/markdown_lines.ts";
import type { MarkdownBlock } from "../../../markdown/tree.ts";
import { cutWide } from "./cut_wide.ts";
import type { Theme } from "./theme.ts";

/** Some paragraphs of Markdown. */
export class MarkdownPart {
  readonly #blocks: readonly MarkdownBlock[];
  readonly #theme: Theme;
  #drawn: { readonly width: number; readonly lines: readonly string[] } | null = null;

  constructor(text: string, theme: Theme) {
    this.#blocks = parseMarkdown(text.replace(/^\n+|\s+$/g, ""), { clean: visibleText });
    this.#theme = theme;
  }

  /** Returns the same array if nothing changed. */
  lines(width: number): readonly string[] {
    if (this.#drawn?.width !== width) {
      const lines = markdownLines(this.#blocks, { width, paint: this.#theme.markdown, columns: visibleWidth });
      this.#drawn = { width, lines: cutWide(lines, width) };
    }
    return this.#drawn.lines;
  }
}
