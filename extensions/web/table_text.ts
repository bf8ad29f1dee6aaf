const LONG_CELL = 400, MAX_ROWS = 2_000, MAX_CELLS = 50;

/** A table that is being read. A table used only for layout becomes paragraphs. */
export class TableText {
  readonly #rows: string[][] = [];

  row(): void {
    if (this.#rows.length < MAX_ROWS) this.#rows.push([]);
  }

  cell(text: string): void {
    if (this.#rows.length === 0) this.row();
    const row = this.#rows.at(-1);
    if (row && row.length < MAX_CELLS) row.push(text);
  }

  blocks(): readonly string[] {
    const rows = this.#rows.filter((row) => row.some((cell) => cell !== ""));
    const width = Math.max(0, ...rows.map((row) => row.length));
    if (width === 0) return [];
    if (width === 1 || rows.length === 1 || rows.some((row) => row.some((cell) => cell.length > LONG_CELL))) {
      return rows.flat().filter((cell) => cell !== "");
    }
    const [head = [], ...rest] = rows.map((row) => lineOf(row, width));
    return [[head, lineOf(Array<string>(width).fill("---"), width), ...rest].join("\n")];
  }
}

function lineOf(row: readonly string[], width: number): string {
  const cells = Array.from(
    { length: width },
    (_, at) => (row[at] ?? "").replace(/\s*\n\s*/g, " ").replaceAll("|", "\\|"),
  );
  return `| ${cells.join(" | ")} |`;
}
