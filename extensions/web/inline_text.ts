/** The text of a paragraph, cell or heading that is being read. */
export class InlineText {
  #parts: string[] = [];
  /** Number of visible characters. */
  #ink = 0;
  #spaceAtEnd = true;
  #size = 0;

  /** At least the number of characters that were added since `take`, addresses included. */
  get size(): number {
    return this.#size;
  }

  /** Collapses white space. */
  add(text: string): void {
    const collapsed = text.replace(/[\s\u200b]+/g, " ");
    const shown = this.#spaceAtEnd ? collapsed.replace(/^ /, "") : collapsed;
    if (shown !== "") this.raw(shown);
  }

  raw(text: string): void {
    this.#parts.push(text);
    this.#size += text.length;
    if (text.trim() !== "") this.#ink += text.length;
    this.#spaceAtEnd = /\s$/.test(text);
  }

  get length(): number {
    return this.#ink;
  }

  /** Starts a range for `marked` or `linked`. */
  begin(marker = ""): Mark {
    const mark = { at: this.#parts.length, ink: this.#ink, spaceBefore: this.#spaceAtEnd };
    if (marker !== "") this.#parts.push(marker);
    this.#size += marker.length;
    return mark;
  }

  /** Ends a marked range; removes the marks if it is empty. */
  marked(mark: Mark, marker: string): void {
    if (this.#ink === mark.ink) return void this.#cut(mark);
    const last = this.#parts.at(-1) ?? "";
    this.#size += marker.length + 1;
    this.#parts[this.#parts.length - 1] = last.trimEnd();
    this.#parts.push(marker, ...(last.trimEnd() === last ? [] : [" "]));
  }

  /** Turns the text since the mark into a link; returns that text. */
  linked(mark: Mark, href: string | null): string {
    if (this.#ink === mark.ink || this.#parts.length < mark.at) return "";
    const parts = this.#parts.splice(mark.at);
    const text = parts.join("");
    const label = text.trim();
    this.#size += href?.length ?? 0;
    if (href === null) this.#parts.push(text);
    else this.#parts.push(`${/^\s/.test(text) ? " " : ""}[${label}](${href})${/\s$/.test(text) ? " " : ""}`);
    return label;
  }

  /** Returns the text and starts again. */
  take(): string {
    const text = this.#parts.join("").replace(/ *\n */g, "\n").trim();
    this.#parts = [];
    this.#ink = 0;
    this.#size = 0;
    this.#spaceAtEnd = true;
    return text;
  }

  #cut(mark: Mark): void {
    const blank = this.#parts.length > mark.at + 1;
    this.#parts.length = Math.min(this.#parts.length, mark.at);
    this.#spaceAtEnd = mark.spaceBefore;
    if (blank) this.add(" ");
  }
}

export interface Mark {
  readonly at: number;
  readonly ink: number;
  readonly spaceBefore: boolean;
}
