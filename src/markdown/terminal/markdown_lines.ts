import { codeSpans } from "../code_spans.ts";
import { inlineText } from "../inline_text.ts";
import type { MarkdownBlock, MarkdownInline, MarkdownLink, MarkdownList } from "../tree.ts";
import type { TerminalPaint } from "./paint.ts";
import { tableLines } from "./table_lines.ts";
import { textColumns } from "./text_columns.ts";
import { cutRuns, type Run, wrapRuns } from "./wrap.ts";

/** Longer code is shown without colours. */
const COLOURED_CHARS = 20_000;
/** Where no more is left, lists and quotes are not indented. */
const LEAST_WIDTH = 10;

export interface TerminalPlace {
  readonly width: number;
  readonly paint: TerminalPaint;
  readonly columns: (text: string) => number;
}

/** Draws Markdown as the lines of a terminal of this width. The texts of the tree must be clean of control sequences.
 * `columns` measures a text. */
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
      const mark = block.level > 2 ? [{ text: `${"#".repeat(block.level)} `, paint: paint.heading }] : [];
      return wrapRuns([...mark, ...runsOf(block.inlines, { place, outer: paint.heading })], place);
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
  const fence = wrapRuns([{ text: `\`\`\`${language}`, paint: paint.mark }], place);
  return [
    ...fence,
    ...lines.map((line) => line === "" ? "" : indent + line),
    ...wrapRuns([{
      text: "```",
      paint: paint.mark,
    }], place),
  ];
}

/** Draws what is inside with a mark before each line. */
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
