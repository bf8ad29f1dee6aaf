import { harmlessText } from "../../domain/kit/text.ts";
import { parseMarkdown } from "../../markdown/parse_markdown.ts";
import {
  inlineText,
  type MarkdownBlock,
  type MarkdownInline,
  type MarkdownItem,
  type MarkdownList,
  type MarkdownTable,
} from "../../markdown/tree.ts";
import type { MessageEntity } from "./bot_api.ts";

/** Runs share an entity only if they share the style object. */
type TextStyle =
  | { readonly type: "bold" | "italic" | "strikethrough" | "code" | "blockquote" }
  | { readonly type: "pre"; readonly language?: string }
  | { readonly type: "text_link"; readonly url: string };

interface StyledText {
  readonly text: string;
  readonly spans: readonly TextStyle[];
}

export interface RichMessage {
  readonly text: string;
  readonly entities: readonly MessageEntity[];
}

/** Telegram ignores entities beyond this number. */
const MAX_ENTITIES = 100;

export class RichText {
  readonly #runs: StyledText[] = [];

  get runs(): readonly StyledText[] {
    return this.#runs;
  }

  get length(): number {
    return this.#runs.reduce((sum, { text }) => sum + text.length, 0);
  }

  /** Telegram combines code with no style except a quote. */
  add(text: string, spans: readonly TextStyle[] = []): this {
    if (text === "") return this;
    const code = spans.find(({ type }) => type === "code" || type === "pre");
    const kept = code ? spans.filter((span) => span === code || span.type === "blockquote") : spans;
    this.#runs.push({ text, spans: kept });
    return this;
  }

  /** The offsets count UTF-16 units, as Telegram requires. */
  message(): RichMessage {
    const open = new Map<TextStyle, number>();
    const found: { readonly span: TextStyle; readonly offset: number; readonly length: number }[] = [];
    let at = 0;
    const close = (still: readonly TextStyle[]): void => {
      for (const [span, offset] of open) {
        if (still.includes(span)) continue;
        found.push({ span, offset, length: at - offset });
        open.delete(span);
      }
    };
    for (const { text, spans } of this.#runs) {
      close(spans);
      for (const span of spans) if (!open.has(span)) open.set(span, at);
      at += text.length;
    }
    close([]);
    const sorted = found.sort((a, b) => a.offset - b.offset || b.length - a.length);
    return {
      text: this.#runs.map(({ text }) => text).join(""),
      entities: sorted.slice(0, MAX_ENTITIES).map(({ span, offset, length }) => ({ ...span, offset, length })),
    };
  }
}

/** A phone would break the columns of a wider table. */
const TABLE_CHARS = 60;
const STYLES = { emphasis: "italic", strong: "bold", strikethrough: "strikethrough" } as const;

type Spans = readonly TextStyle[];

export function renderMarkdown(markdown: string): RichText {
  const into = new RichText();
  addBlocks(parseMarkdown(markdown, { clean: harmlessText }), { into, spans: [], gap: "\n\n" });
  return into;
}

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

/** Telegram has no quote within a quote, so the lines of an inner quote begin with `>`. */
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

interface Cut {
  readonly mark: string;
  readonly least: number;
  readonly place: "apart" | "before" | "anywhere";
}

const CUTS: readonly Cut[] = [
  { mark: "\n\n", least: 0.5, place: "apart" },
  { mark: "\n", least: 0.5, place: "apart" },
  { mark: "\n", least: 0.1, place: "before" },
  { mark: "\n\n", least: 0.5, place: "anywhere" },
  { mark: "\n", least: 0.25, place: "anywhere" },
  { mark: " ", least: 0.25, place: "anywhere" },
];

interface Block {
  readonly start: number;
  readonly end: number;
}

export function splitRichText(whole: RichText, limit: number): readonly RichText[] {
  const text = whole.runs.map((run) => run.text).join("");
  const blocks = blocksOf(whole.runs);
  const parts: RichText[] = [];
  for (let from = 0; from < text.length;) {
    const end = text.length - from <= limit ? text.length : cutBefore(text, { from, limit, blocks });
    const part = sliced(whole.runs, { from, end });
    if (part.runs.some((run) => run.text.trim() !== "")) parts.push(part);
    from = end;
    while (from < text.length && text[from] === "\n") from++;
    if (text[end] === " ") from = Math.max(from, end + 1);
  }
  return parts;
}

function cutBefore(
  text: string,
  { from, limit, blocks }: { readonly from: number; readonly limit: number; readonly blocks: readonly Block[] },
): number {
  const edge = from + limit;
  const crossing = blocks.find(({ start, end }) => start < edge && end > edge);
  const fits = crossing !== undefined && crossing.end - crossing.start <= limit;
  for (const { mark, least, place } of CUTS) {
    if (place === "before" && !fits) continue;
    const at = lastMark(text, { mark, edge, blocks: place === "anywhere" ? [] : blocks });
    if (at > from + limit * least) return at;
  }
  return isHighSurrogate(text.charCodeAt(edge - 1)) && limit > 1 ? edge - 1 : edge;
}

function lastMark(
  text: string,
  { mark, edge, blocks }: { readonly mark: string; readonly edge: number; readonly blocks: readonly Block[] },
): number {
  let at = text.lastIndexOf(mark, edge);
  for (let n = blocks.length - 1; n >= 0 && at >= 0; n--) {
    const { start = 0, end = 0 } = blocks[n] ?? {};
    if (at >= end) return at;
    if (at >= start) at = start === 0 ? -1 : text.lastIndexOf(mark, start - 1);
  }
  return at;
}

function blocksOf(runs: readonly StyledText[]): readonly Block[] {
  const found = new Map<object, Block>();
  let at = 0;
  for (const { text, spans } of runs) {
    const span = spans.find(({ type }) => type === "pre");
    if (span) found.set(span, { start: found.get(span)?.start ?? at, end: at + text.length });
    at += text.length;
  }
  return [...found.values()];
}

function isHighSurrogate(unit: number): boolean {
  return unit >= 0xd800 && unit <= 0xdbff;
}

function sliced(runs: readonly StyledText[], { from, end }: { readonly from: number; readonly end: number }): RichText {
  const part = new RichText();
  let at = 0;
  for (const { text, spans } of runs) {
    part.add(text.slice(Math.max(0, from - at), Math.max(0, end - at)), spans);
    at += text.length;
  }
  return part;
}
