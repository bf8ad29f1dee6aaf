import type { Token } from "markdown-it";
import { inlinesOf } from "./_inlines.ts";
import { fenceLanguage, markdownTokens } from "./_tokens.ts";
import type { MarkdownBlock, MarkdownInline, MarkdownItem, MarkdownList, MarkdownTable } from "./tree.ts";

/** What follows in a longer text is shown as written. */
const MAX_CHARS = 200_000;

interface Reading {
  readonly tokens: readonly Token[];
  readonly clean: (text: string) => string;
  at: number;
}

/** Parses CommonMark with GitHub's tables, strikethrough, task lists and bare addresses. HTML stays text; only http,
 * https and mailto addresses become links. Depth and time are bounded for any text, and no part of it is left out.
 *
 * `clean` is applied to every text in the tree after entities are decoded: it removes or escapes what the target must
 * not show, such as control characters. */
export function parseMarkdown(
  text: string,
  { clean }: { readonly clean: (text: string) => string },
): readonly MarkdownBlock[] {
  const whole = text.toWellFormed();
  const parsed = blocks({ tokens: markdownTokens(whole.slice(0, MAX_CHARS)), clean, at: 0 });
  if (whole.length <= MAX_CHARS) return parsed;
  return [...parsed, { kind: "paragraph", inlines: [{ kind: "text", text: clean(whole.slice(MAX_CHARS)) }] }];
}

/** The blocks up to the end of the element they are in. */
function blocks(reading: Reading): readonly MarkdownBlock[] {
  const found: MarkdownBlock[] = [];
  for (let token = reading.tokens[reading.at]; token !== undefined && token.nesting !== -1;) {
    const block = blockOf(token, reading);
    if (block !== null) found.push(block);
    token = reading.tokens[reading.at];
  }
  reading.at++;
  return found;
}

/** Reads a block and moves behind it. */
function blockOf(token: Token, reading: Reading): MarkdownBlock | null {
  reading.at++;
  switch (token.type) {
    case "fence":
    case "code_block": {
      const language = reading.clean(fenceLanguage(token.info));
      return { kind: "code", language, text: reading.clean(token.content.replace(/\n$/, "")) };
    }
    case "hr":
      return { kind: "rule" };
    case "heading_open":
      return { kind: "heading", level: Number(token.tag.slice(1)), inlines: inlines(reading) };
    case "blockquote_open":
      return { kind: "quote", blocks: blocks(reading) };
    case "bullet_list_open":
    case "ordered_list_open":
      return list(token, reading);
    case "table_open":
      return table(reading);
    default: {
      const content = inlines(reading);
      return content.length === 0 ? null : { kind: "paragraph", inlines: content };
    }
  }
}

/** The content of a paragraph, heading or cell that has begun. */
function inlines(reading: Reading): readonly MarkdownInline[] {
  const token = reading.tokens[reading.at];
  reading.at += 2;
  return inlinesOf(token?.children ?? [], reading.clean);
}

function list(token: Token, reading: Reading): MarkdownList {
  const start = token.type === "bullet_list_open" ? null : Number(token.attrGet("start") ?? 1);
  const items: MarkdownItem[] = [];
  const from = reading.at;
  while (reading.tokens[reading.at]?.type === "list_item_open") {
    reading.at++;
    items.push(itemOf(blocks(reading)));
  }
  const inside = reading.tokens.slice(from, reading.at);
  reading.at++;
  const loose = inside.some(({ type, level, hidden }) => {
    return type === "paragraph_open" && level === token.level + 2 && !hidden;
  });
  return { kind: "list", start, loose, items };
}

/** A task begins with a box: [ ] or [x]. */
function itemOf(content: readonly MarkdownBlock[]): MarkdownItem {
  const [first, ...others] = content;
  if (first?.kind !== "paragraph") return { done: null, blocks: content };
  const [begin, ...rest] = first.inlines;
  const box = begin?.kind === "text" ? /^\[([ xX])\]\s+(?=\S|$)/.exec(begin.text) : null;
  if (begin?.kind !== "text" || box === null || (box[0].length === begin.text.length && rest.length === 0)) {
    return { done: null, blocks: content };
  }
  const text = begin.text.slice(box[0].length);
  const left: readonly MarkdownInline[] = text === "" ? rest : [{ kind: "text", text }, ...rest];
  return { done: box[1] !== " ", blocks: [{ kind: "paragraph", inlines: left }, ...others] };
}

function table(reading: Reading): MarkdownTable {
  const sides: MarkdownTable["sides"][number][] = [];
  const rows: (readonly MarkdownInline[])[][] = [];
  for (; reading.tokens[reading.at]?.type !== "table_close"; reading.at++) {
    const token = reading.tokens[reading.at];
    if (token?.type === "tr_open") rows.push([]);
    if (token?.type !== "th_open" && token?.type !== "td_open") continue;
    if (token.type === "th_open") sides.push(sideOf(String(token.attrGet("style") ?? "")));
    reading.at++;
    rows.at(-1)?.push(inlines(reading));
    reading.at--;
  }
  reading.at++;
  const [head = [], ...body] = rows;
  return { kind: "table", sides, head, rows: body };
}

function sideOf(style: string): MarkdownTable["sides"][number] {
  const side = /left|center|right/.exec(style)?.[0];
  return side === "left" || side === "center" || side === "right" ? side : null;
}
