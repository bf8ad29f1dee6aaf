import { codeSpans } from "../code_spans.ts";
import {
  inlineText,
  type MarkdownBlock,
  type MarkdownInline,
  type MarkdownLink,
  type MarkdownList,
  type MarkdownTable,
} from "../tree.ts";
import type { TerminalPaint } from "./paint.ts";
import { cutRuns, type Run, textColumns, type Wrapping, wrapRuns } from "./wrap.ts";

const COLOURED_CHARS = 20_000;
const LEAST_WIDTH = 10;

interface TerminalPlace {
  readonly width: number;
  readonly paint: TerminalPaint;
  readonly columns: (text: string) => number;
}

/** The texts of the tree must contain no control sequences. */
export function markdownLines(
  blocks: readonly MarkdownBlock[],
  { width, paint, columns = textColumns }: Omit<TerminalPlace, "columns"> & Partial<TerminalPlace>,
): readonly string[] {
  return blockLines(blocks, { width: Math.max(1, width), paint, columns });
}

function blockLines(blocks: readonly MarkdownBlock[], place: TerminalPlace, gap = true): readonly string[] {
  const lines: string[] = [];
  for (const [at, block] of blocks.entries()) {
    const before = blocks[at - 1];
    if (before && (gap || before.kind === "paragraph" && block.kind === "paragraph")) lines.push("");
    for (const line of linesOf(block, place)) lines.push(line);
  }
  return lines;
}

function linesOf(block: MarkdownBlock, place: TerminalPlace): readonly string[] {
  const { width, paint } = place;
  switch (block.kind) {
    case "paragraph":
      return wrapRuns(runsOf(block.inlines, { place }), place);
    case "heading": {
      const outer = block.level > 2 ? paint.strong : paint.heading;
      return wrapRuns(runsOf(block.inlines, { place, outer }), place);
    }
    case "code":
      return code(block.text, { language: block.language, place });
    case "quote":
      return behind(place, "│ ", (inner) => blockLines(block.blocks, inner));
    case "list":
      return list(block, place);
    case "table":
      return tableLines(block, { ...place, runsOf: (cell) => runsOf(cell, { place }) });
    case "rule":
      return [paint.mark("─".repeat(Math.min(width, 80)))];
  }
}

function code(
  text: string,
  { language, place }: { readonly language: string; readonly place: TerminalPlace },
): readonly string[] {
  const { paint, width } = place;
  const spans = text.length > COLOURED_CHARS ? [{ kind: "plain" as const, text }] : codeSpans(text, language);
  const runs = spans.map((span) => ({ text: span.text.replaceAll("\t", "    "), paint: paint.spans[span.kind] }));
  const indent = width > LEAST_WIDTH ? "  " : "";
  const lines = cutRuns(runs, { ...place, width: width - indent.length });
  return lines.map((line) => line === "" ? "" : indent + line);
}

function behind(
  place: TerminalPlace,
  mark: string,
  draw: (inner: TerminalPlace) => readonly string[],
): readonly string[] {
  const room = place.width - place.columns(mark);
  if (room < LEAST_WIDTH) return draw(place);
  return draw({ ...place, width: room }).map((line) => `${place.paint.mark(mark)}${line}`);
}

function list({ start, loose, items }: MarkdownList, place: TerminalPlace): readonly string[] {
  return items.flatMap(({ done, blocks }, at) => {
    const bullet = start === null ? "- " : `${start + at}. `;
    const mark = done === null ? bullet : `${bullet}[${done ? "x" : " "}] `;
    const room = place.width - mark.length;
    const isNarrow = room < LEAST_WIDTH;
    const inner = blockLines(blocks, isNarrow ? place : { ...place, width: room }, loose);
    const lines = isNarrow ? [mark.trimEnd(), ...inner] : inner.map((line, n) => {
      return n === 0 ? place.paint.mark(mark) + line : line === "" ? "" : " ".repeat(mark.length) + line;
    });
    const shown = lines.length === 0 ? [place.paint.mark(mark.trimEnd())] : lines;
    return loose && at > 0 ? ["", ...shown] : shown;
  });
}

function runsOf(
  inlines: readonly MarkdownInline[],
  { place, outer = (text) => text }: { readonly place: TerminalPlace; readonly outer?: Run["paint"] },
): readonly Run[] {
  const { paint } = place;
  return inlines.flatMap((inline): readonly Run[] => {
    switch (inline.kind) {
      case "text":
        return [{ text: inline.text.replaceAll("\t", "    "), paint: outer }];
      case "code":
        return [{ text: inline.text, paint: (text) => outer(paint.code(text)) }];
      case "break":
        return [{ text: "\n", paint: outer }];
      case "image": {
        const label = { kind: "text", text: inline.alt || inline.src } as const;
        return link({ kind: "link", href: inline.src, title: "", inlines: [label] }, { place, outer });
      }
      case "link":
        return link(inline, { place, outer });
      default: {
        const style = paint[inline.kind];
        return runsOf(inline.inlines, { place, outer: (text) => outer(style(text)) });
      }
    }
  });
}

function link(
  { href, inlines }: MarkdownLink,
  { place, outer }: { readonly place: TerminalPlace; readonly outer: Run["paint"] },
): readonly Run[] {
  const { paint } = place;
  const { open } = paint;
  const style = (text: string): string => outer(paint.link(text));
  if (open !== null) return runsOf(inlines, { place, outer: (text) => open(style(text), href) });
  const shown = runsOf(inlines, { place, outer: style });
  const label = inlineText(inlines);
  const isSaid = [label, `http://${label}`, `mailto:${label}`].includes(href);
  return isSaid ? shown : [...shown, { text: ` (${href})`, paint: (text) => outer(paint.mark(text)) }];
}

interface Drawing extends Wrapping {
  readonly paint: TerminalPaint;
  readonly runsOf: (cell: readonly MarkdownInline[]) => readonly Run[];
}

const GAP = 3;
const LEAST_COLUMN = 4;

function tableLines({ sides, head, rows }: MarkdownTable, drawing: Drawing): readonly string[] {
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
