import { DrawnEntry } from "./drawn_entry.ts";
import { MarkdownText } from "../text/markdown_text.ts";
import type { DisplayOptions } from "./shown.ts";
import { wrapped } from "../text/wrapped.ts";

/** The model's answer, while it streams and afterwards. */
export class AnswerEntry extends DrawnEntry {
  readonly #shown: () => DisplayOptions;
  #markdown: MarkdownText | null = null;
  #text = "";
  #plain = false;

  constructor(shown: () => DisplayOptions) {
    super();
    this.#shown = shown;
  }

  append(delta: string): void {
    this.#text += delta;
    this.#markdown?.append(delta);
    super.invalidate();
  }

  /** Sets the final text, which may differ from the streamed parts. */
  settle(text: string, { plain = false }: { readonly plain?: boolean } = {}): void {
    this.#plain = plain;
    if (text.startsWith(this.#text)) this.#markdown?.append(text.slice(this.#text.length));
    else this.#markdown = null;
    this.#text = text;
    super.invalidate();
  }

  override invalidate(): void {
    this.#markdown = null;
    super.invalidate();
  }

  protected draw(width: number): readonly string[] {
    if (this.#text === "") return [];
    if (this.#plain) return [...wrapped(this.#text, width), ""];
    if (this.#markdown === null) {
      this.#markdown = new MarkdownText(this.#shown().theme);
      this.#markdown.append(this.#text);
    }
    return [...this.#markdown.lines(width), ""];
  }
}
