import type { MarkdownInline, MarkdownTable } from "../tree.ts";
import type { TerminalPaint } from "./paint.ts";
import { type Run, type Wrapping, wrapRuns } from "./wrap.ts";

interface Drawing extends Wrapping {
  readonly paint: TerminalPaint;
  readonly runsOf: (cell: readonly MarkdownInline[]) => readonly Run[];
}

/** Between two columns. */
const GAP = 3;
/** Columns of a table are not made narrower. */
const LEAST_COLUMN = 4;

/** Draws a table: cells are wrapped where it is wider than the terminal, and shown one below the other where even that
 * does not fit. */
export function tableLines({ sides, head, rows }: MarkdownTable, drawing: Drawing): readonly string[] {
  const { width, columns, paint, runsOf } = drawing;
  const bold = (runs: readonly Run[]): readonly Run[] =>
    runs.map((run) => ({ ...run, paint: (text: string) => paint.strong(run.paint(text)) }));
  const cells = [head.map((cell) => bold(runsOf(cell))), ...rows.map((row) => row.map((cell) => runsOf(cell)))];
  const natural = head.map((_, at) => {
    return cells.reduce((most, row) => Math.max(most, widthOf(row[at] ?? [], columns)), 1);
  });
  const widths = fitted(natural, width - GAP * (head.length - 1));
  if (widths === null) return records(cells, drawing);
  const border = paint.mark(" │ ");
  const lines = cells.map((row) => {
    const wrapped = row.map((cell, at) => padded(cell, { width: widths[at] ?? 1, side: sides[at] ?? null, columns }));
    const height = Math.max(1, ...wrapped.map((cell) => cell.length));
    return Array.from({ length: height }, (_, line) => {
      return wrapped.map((cell, at) => cell[line] ?? " ".repeat(widths[at] ?? 1)).join(border).trimEnd();
    });
  });
  const rule = paint.mark(widths.map((one) => "─".repeat(one)).join("─┼─"));
  return [...lines[0] ?? [], rule, ...lines.slice(1).flat()];
}

function widthOf(cell: readonly Run[], columns: (text: string) => number): number {
  const lines = cell.map(({ text }) => text).join("").split("\n");
  return Math.max(...lines.map(columns));
}

/** Widths that fit into the room: the widest columns give way. Null if there is no room for all. */
function fitted(natural: readonly number[], room: number): readonly number[] | null {
  const sum = (most: number): number => natural.reduce((all, one) => all + Math.min(one, most), 0);
  if (sum(Infinity) <= room) return natural;
  if (sum(LEAST_COLUMN) > room) return null;
  let most = room;
  while (sum(most) > room) most--;
  return natural.map((one) => Math.min(one, most));
}

function padded(
  cell: readonly Run[],
  { width, side, columns }: Wrapping & { readonly side: MarkdownTable["sides"][number] },
): readonly string[] {
  const plain = cell.map(({ text }) => ({ text, paint: (one: string) => one }));
  const bare = wrapRuns(plain, { width, columns });
  return wrapRuns(cell, { width, columns }).map((line, at) => {
    const free = Math.max(0, width - columns(bare[at] ?? ""));
    const left = side === "right" ? free : side === "center" ? Math.floor(free / 2) : 0;
    return " ".repeat(left) + line + " ".repeat(free - left);
  });
}

/** Each row as its cells below each other, with their heads; empty cells are left out. */
function records(
  cells: readonly (readonly (readonly Run[])[])[],
  { width, columns, paint }: Drawing,
): readonly string[] {
  const [head = [], ...rows] = cells;
  const colon = { text: ": ", paint: (text: string) => text };
  if (rows.length === 0) return head.flatMap((name) => wrapRuns(name, { width, columns }));
  return rows.flatMap((row, number) => {
    const lines = head.flatMap((name, at) => {
      const cell = row[at] ?? [];
      return cell.length === 0 ? [] : wrapRuns([...name, colon, ...cell], { width, columns });
    });
    return number === 0 ? lines : [paint.mark("─".repeat(Math.min(width, 20))), ...lines];
  });
}
