/** The text of one paragraph, cell or heading while it is being read. */
export class InlineText {
  #parts: string[] = [];
  /** Characters that are seen. */
  #ink = 0;
  #spaceAtEnd = true;

  /** Runs of white space count as one. */
  add(text: string): void {
    const collapsed = text.replace(/[\s\u200b]+/g, " ");
    const shown = this.#spaceAtEnd ? collapsed.replace(/^ /, "") : collapsed;
    if (shown !== "") this.raw(shown);
  }

  raw(text: string): void {
    this.#parts.push(text);
    if (text.trim() !== "") this.#ink += text.length;
    this.#spaceAtEnd = /\s$/.test(text);
  }

  get length(): number {
    return this.#ink;
  }

  /** Begins what `marked` or `linked` ends. */
  begin(marker = ""): Mark {
    const mark = { at: this.#parts.length, ink: this.#ink, spaceBefore: this.#spaceAtEnd };
    if (marker !== "") this.#parts.push(marker);
    return mark;
  }

  /** Ends what is marked; the marks go where there is nothing between them. */
  marked(mark: Mark, marker: string): void {
    if (this.#ink === mark.ink) return void this.#cut(mark);
    const last = this.#parts.at(-1) ?? "";
    this.#parts[this.#parts.length - 1] = last.trimEnd();
    this.#parts.push(marker, ...(last.trimEnd() === last ? [] : [" "]));
  }

  /** Puts a link around the text since the mark; gives that text. */
  linked(mark: Mark, href: string | null): string {
    if (this.#ink === mark.ink || this.#parts.length < mark.at) return "";
    const parts = this.#parts.splice(mark.at);
    const text = parts.join("");
    const label = text.trim();
    if (href === null) this.#parts.push(text);
    else this.#parts.push(`${/^\s/.test(text) ? " " : ""}[${label}](${href})${/\s$/.test(text) ? " " : ""}`);
    return label;
  }

  /** All of it, and begins anew. */
  take(): string {
    const text = this.#parts.join("").replace(/ *\n */g, "\n").trim();
    this.#parts = [];
    this.#ink = 0;
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
