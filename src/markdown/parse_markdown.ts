import {
  inlineText,
  type MarkdownBlock,
  type MarkdownInline,
  type MarkdownItem,
  type MarkdownList,
  type MarkdownTable,
} from "./tree.ts";
import MarkdownIt, { type Token } from "markdown-it";

const MAX_CHARS = 200_000;

interface Reading {
  readonly tokens: readonly Token[];
  readonly clean: (text: string) => string;
  at: number;
}

/** HTML stays text, and only http, https and mailto addresses become links. Texts pass through `clean`, which removes
 * or escapes characters that the target must not show. */
export function parseMarkdown(
  text: string,
  { clean }: { readonly clean: (text: string) => string },
): readonly MarkdownBlock[] {
  const whole = text.toWellFormed();
  const parsed = blocks({ tokens: markdownTokens(whole.slice(0, MAX_CHARS)), clean, at: 0 });
  if (whole.length <= MAX_CHARS) return parsed;
  return [...parsed, { kind: "paragraph", inlines: [{ kind: "text", text: clean(whole.slice(MAX_CHARS)) }] }];
}

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

type Clean = (text: string) => string;

const MAX_DEPTH = 20;
const LINK = /^(?:https?:\/\/|mailto:)/i;
const STYLES = { em: "emphasis", strong: "strong", s: "strikethrough", link: "link" } as const;

interface Open {
  readonly token: Token | null;
  readonly inlines: MarkdownInline[];
}

function inlinesOf(tokens: readonly Token[], clean: Clean): readonly MarkdownInline[] {
  const open: Open[] = [{ token: null, inlines: [] }];
  let left = 0;
  const top = (): Open => open[open.length - 1] as Open;
  for (const token of tokens) {
    if (token.nesting === 1) {
      if (open.length > MAX_DEPTH) left++;
      else open.push({ token, inlines: [] });
    } else if (token.nesting === 0) { for (const one of leaf(token, clean)) add(top().inlines, one); }
    else if (left > 0) left--;
    else {
      const { token: opened, inlines } = top();
      open.pop();
      for (const one of styled(opened as Token, { inlines, clean })) add(top().inlines, one);
    }
  }
  return top().inlines;
}

function add(to: MarkdownInline[], one: MarkdownInline): void {
  const last = to[to.length - 1];
  if (one.kind === "text" && one.text === "") return;
  if (one.kind !== "text" || last?.kind !== "text") to.push(one);
  else to[to.length - 1] = { kind: "text", text: last.text + one.text };
}

function leaf(token: Token, clean: Clean): readonly MarkdownInline[] {
  switch (token.type) {
    case "code_inline":
      return [{ kind: "code", text: clean(token.content) }];
    case "softbreak":
      return [{ kind: "text", text: "\n" }];
    case "hardbreak":
      return [{ kind: "break" }];
    case "image":
      return image(token, clean);
    default:
      return [{ kind: "text", text: clean(token.content) }];
  }
}

function image(token: Token, clean: Clean): readonly MarkdownInline[] {
  const { address: src, title } = attributes(token, { name: "src", clean });
  const alt = inlineText(inlinesOf(token.children ?? [], clean)).replaceAll("\n", " ");
  if (isLink(src)) return [{ kind: "image", src, title, alt }];
  return [{ kind: "text", text: alt }, ...shownTarget(src, alt)];
}

function styled(
  token: Token,
  { inlines, clean }: { readonly inlines: readonly MarkdownInline[]; readonly clean: Clean },
): readonly MarkdownInline[] {
  const kind = STYLES[token.type.slice(0, token.type.indexOf("_")) as keyof typeof STYLES];
  if (kind !== "link") return [{ kind, inlines }];
  const { address: href, title } = attributes(token, { name: "href", clean });
  const label = inlineText(inlines);
  if (!isLink(href)) return [...inlines, ...shownTarget(href, label)];
  if (label.trim() === "") return [{ kind, href, title, inlines: [{ kind: "text", text: href }] }];
  const shown = [...inlines];
  for (const one of otherHost(href, label)) add(shown, one);
  return [{ kind, href, title, inlines: shown }];
}

function attributes(
  token: Token,
  { name, clean }: { readonly name: "href" | "src"; readonly clean: Clean },
): { readonly address: string; readonly title: string } {
  return { address: clean(String(token.attrGet(name) ?? "")), title: clean(String(token.attrGet("title") ?? "")) };
}

function isLink(target: string): boolean {
  return LINK.test(target) && URL.canParse(target);
}

/** No channel can open a target that is no link, such as an anchor, so the text shows the target after the label. */
function shownTarget(target: string, label: string): readonly MarkdownInline[] {
  if (target === "" || target === label) return [];
  return [{ kind: "text", text: label === "" ? target : ` (${target})` }];
}

/** A label that looks like another address must not hide the target of the link. */
function otherHost(href: string, label: string): readonly MarkdownInline[] {
  const { host } = new URL(href);
  return /\w\.\w/.test(label) && !label.includes(host) ? [{ kind: "text", text: ` (${host})` }] : [];
}

/** Deeper quotes and lists stay as written. A list counts as two levels. */
const MAX_LEVEL = 40;

const parser = new MarkdownIt({ html: false, linkify: true });

// A target that becomes no link stays text, so the parser accepts every target.
parser.validateLink = () => true;
parser.linkify.add("ftp:", null).add("//", null).add("www.", {
  validate: (text, at, self) => /^[\w-]/.test(text.slice(at, at + 1)) ? hostAndPath(text, at, self) : 0,
  normalize: (match) => {
    match.url = `http://${match.url}`;
  },
});

function hostAndPath(text: string, at: number, self: typeof parser.linkify): number {
  // The package matches only addresses with a scheme.
  const rest = text.slice(at, at + 2_000);
  const found = self.matchAtStart(`http://www.${rest}`);
  return found === null ? 0 : found.lastIndex - "http://www.".length;
}

// The package drops elements that are deeper than its limit, so this function keeps these elements as text.
const tokenize = parser.block.tokenize;
parser.block.tokenize = function (state, start, end): void {
  if (state.level < MAX_LEVEL) return tokenize.call(this, state, start, end);
  let line = start;
  while (line < end && (state.isEmpty(line) || (state.sCount[line] ?? 0) >= state.blkIndent)) line++;
  const text = state.getLines(start, line, state.blkIndent, false).trim();
  state.line = line;
  state.push("paragraph_open", "p", 1);
  const inline = state.push("inline", "", 0);
  inline.content = text;
  inline.children = [Object.assign(new state.Token("text", "", 0), { content: text })];
  inline.type = "as_written";
  state.push("paragraph_close", "p", -1);
};

function markdownTokens(text: string): readonly Token[] {
  return parser.parse(text, {});
}

function fenceLanguage(info: string): string {
  return parser.utils.unescapeAll(info).trim().split(/\s+/, 1)[0] ?? "";
}
