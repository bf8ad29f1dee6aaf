const LONG_CELL = 400, MAX_ROWS = 2_000, MAX_CELLS = 50, MAX_REPEATED = 100_000;

/** A table that is being read. A table used only for layout becomes paragraphs. */
export class TableText {
  readonly #rows: string[][] = [];
  /** The cells as the page has them, each once. */
  readonly #cells: string[] = [];
  /** By column, a cell that reaches into the next rows. */
  readonly #reaching: { readonly text: string; rows: number }[] = [];
  #caption = "";
  #left = 0;
  #repeated = 0;

  caption(text: string): void {
    this.#caption ||= text;
  }

  row(): void {
    if (this.#rows.length === MAX_ROWS) return void this.#left++;
    this.#rows.push([]);
    this.#fill();
  }

  /** The text of a cell that takes several rows stands in each of them. */
  cell(text: string, attributes: ReadonlyMap<string, string>): void {
    if (this.#rows.length === 0) this.row();
    const row = this.#rows.at(-1);
    if (!row || this.#left > 0) return;
    this.#cells.push(text);
    const across = spanOf(attributes.get("colspan")), down = spanOf(attributes.get("rowspan"));
    for (let column = 0; column < across && row.length < MAX_CELLS; column++) {
      const shown = column === 0 ? text : "";
      this.#reaching[row.length] = { text: shown, rows: down - 1 };
      row.push(shown);
    }
    this.#fill();
  }

  blocks(): readonly string[] {
    const rows = this.#rows.filter((row) => row.some((cell) => cell !== ""));
    const width = Math.max(0, ...rows.map((row) => row.length));
    const around = (blocks: readonly string[]): readonly string[] =>
      [this.#caption, ...blocks, this.#left > 0 ? `[${this.#left} more rows]` : ""].filter((text) => text !== "");
    if (width <= 1 || rows.length === 1 || rows.some((row) => row.some((cell) => cell.length > LONG_CELL))) {
      return around(this.#cells);
    }
    const [head = [], ...rest] = rows.map((row) => lineOf(row, width));
    return around([[head, lineOf(Array<string>(width).fill("---"), width), ...rest].join("\n")]);
  }

  /** Takes over the cells of earlier rows that come next in this one. */
  #fill(): void {
    const row = this.#rows.at(-1) ?? [];
    for (let above = this.#reaching[row.length]; above && above.rows > 0; above = this.#reaching[row.length]) {
      above.rows--;
      this.#repeated += above.text.length;
      row.push(this.#repeated > MAX_REPEATED ? "" : above.text);
    }
  }
}

function spanOf(value = ""): number {
  return /^\d{1,4}$/.test(value) ? Number(value) || 1 : 1;
}

function lineOf(row: readonly string[], width: number): string {
  const cells = Array.from(
    { length: width },
    (_, at) => (row[at] ?? "").replace(/\s*\n\s*/g, " ").replaceAll("|", "\\|"),
  );
  return `| ${cells.join(" | ")} |`;
}
