import { harmlessText } from "../../../domain/kit/text.ts";
import { inlineText } from "../../../markdown/inline_text.ts";
import { parseMarkdown } from "../../../markdown/parse_markdown.ts";
import type {
  MarkdownBlock,
  MarkdownInline,
  MarkdownItem,
  MarkdownList,
  MarkdownTable,
} from "../../../markdown/tree.ts";
import { RichText, type TextStyle } from "./rich_text.ts";

/** Wider tables are shown one row per line: a phone would break their columns. */
const TABLE_CHARS = 60;
const STYLES = { emphasis: "italic", strong: "bold", strikethrough: "strikethrough" } as const;

type Spans = readonly TextStyle[];

/** Renders a Markdown answer for Telegram; what Telegram has no format for becomes readable text. */
export function renderMarkdown(markdown: string): RichText {
  const into = new RichText();
  addBlocks(parseMarkdown(markdown, { clean: harmlessText }), { into, spans: [], gap: "\n\n" });
  return into;
}

/** Where blocks are added: `gap` separates paragraphs. */
interface Place {
  readonly into: RichText;
  readonly spans: Spans;
  readonly gap: string;
}

function addBlocks(blocks: readonly MarkdownBlock[], place: Place): void {
  for (const [at, block] of blocks.entries()) {
    const before = blocks[at - 1];
    if (before) place.into.add(isApart(before, block) ? "\n" : place.gap, place.spans);
    addBlock(block, place);
  }
}

/** Telegram itself sets code and quotes apart. */
function isApart(one: MarkdownBlock, other: MarkdownBlock): boolean {
  const isSet = ({ kind }: MarkdownBlock): boolean => kind === "code" || kind === "quote";
  return isSet(one) || isSet(other) || (one.kind === "list" && other.kind === "list");
}

function addBlock(block: MarkdownBlock, place: Place): void {
  const { into, spans } = place;
  switch (block.kind) {
    case "paragraph":
      return addInlines(block.inlines, { into, spans });
    case "heading":
      return addInlines(block.inlines, { into, spans: [...spans, { type: "bold" }] });
    case "code": {
      const { language, text } = block;
      return void into.add(text, [...spans, language === "" ? { type: "pre" } : { type: "pre", language }]);
    }
    case "quote":
      return addQuote(block.blocks, place);
    case "list":
      return addList(block, place);
    case "table":
      return addTable(block, place);
    case "rule":
      return void into.add("———", spans);
  }
}

/** Telegram has no quote within a quote: the lines of an inner one get a mark. */
function addQuote(blocks: readonly MarkdownBlock[], { into, spans }: Place): void {
  const isInner = spans.some(({ type }) => type === "blockquote");
  if (!isInner) return addBlocks(blocks, { into, spans: [...spans, { type: "blockquote" }], gap: "\n\n" });
  const inner = new RichText();
  addBlocks(blocks, { into: inner, spans, gap: "\n" });
  addLines(inner, { into, spans, first: "> ", others: "> " });
}

function addList({ start, loose, items }: MarkdownList, { into, spans }: Place): void {
  const gap = loose ? "\n\n" : "\n";
  for (const [at, item] of items.entries()) {
    if (at > 0) into.add(gap, spans);
    const mark = markOf(item, start === null ? null : start + at);
    const inner = new RichText();
    addBlocks(item.blocks, { into: inner, spans, gap });
    addLines(inner, { into, spans, first: `${mark} `, others: " ".repeat(mark.length + 1) });
  }
}

function markOf({ done }: MarkdownItem, number: number | null): string {
  const box = done === null ? "" : done ? "☑" : "☐";
  if (number === null) return box === "" ? "•" : box;
  return box === "" ? `${number}.` : `${number}. ${box}`;
}

/** Adds a text with a beginning for each of its lines; code stays as it is. */
function addLines(
  inner: RichText,
  { into, spans, first, others }: {
    readonly into: RichText;
    readonly spans: Spans;
    readonly first: string;
    readonly others: string;
  },
): void {
  into.add(inner.runs.length > 0 ? first : first.trimEnd(), spans);
  let isNewLine = false;
  for (const run of inner.runs) {
    const isCode = run.spans.some(({ type }) => type === "pre");
    if (isNewLine && !isCode && !run.text.startsWith("\n")) into.add(others, spans);
    into.add(isCode ? run.text : run.text.replace(/\n(?!\n|$)/g, `\n${others}`), run.spans);
    isNewLine = run.text.endsWith("\n");
  }
}

function addInlines(
  inlines: readonly MarkdownInline[],
  { into, spans }: { readonly into: RichText; readonly spans: Spans },
): void {
  for (const inline of inlines) {
    switch (inline.kind) {
      case "text":
        into.add(inline.text, spans);
        break;
      case "code":
        into.add(inline.text, [...spans, { type: "code" }]);
        break;
      case "break":
        into.add("\n", spans);
        break;
      case "image":
        into.add(inline.alt || inline.src, [...spans, { type: "text_link", url: inline.src }]);
        break;
      case "link":
        addInlines(inline.inlines, { into, spans: [...spans, { type: "text_link", url: inline.href }] });
        break;
      default:
        addInlines(inline.inlines, { into, spans: [...spans, { type: STYLES[inline.kind] }] });
    }
  }
}

function addTable({ sides, head, rows }: MarkdownTable, { into, spans }: Place): void {
  // Cells without their styles, since the widths of columns count characters.
  const lines = [head, ...rows].map((row) => row.map((cell) => inlineText(cell).replaceAll("\n", " ")));
  const widths = head.map((_, column) => lines.reduce((most, row) => Math.max(most, row[column]?.length ?? 0), 0));
  const isNarrow = widths.reduce((sum, width) => sum + width + 2, 0) <= TABLE_CHARS;
  if (!isNarrow) return void into.add(lines.map((row) => row.join(" · ").trimEnd()).join("\n"), spans);
  const shown = lines.map((row) => row.map((cell, at) => padded(cell, { width: widths[at] ?? 0, side: sides[at] })));
  const [first = [], ...others] = [...shown, []].map((row) => row.join("  ").trimEnd());
  const rule = widths.map((width) => "─".repeat(width)).join("  ");
  into.add([first, rule, ...others].join("\n").trimEnd(), [...spans, { type: "pre" }]);
}

function padded(
  text: string,
  { width, side }: { readonly width: number; readonly side: MarkdownTable["sides"][number] | undefined },
): string {
  const left = side === "right" ? width : side === "center" ? Math.floor((width + text.length) / 2) : 0;
  return text.padStart(left).padEnd(width);
}
