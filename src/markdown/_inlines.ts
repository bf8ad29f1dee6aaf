import type { Token } from "markdown-it";
import { inlineText } from "./inline_text.ts";
import type { MarkdownInline } from "./tree.ts";

type Clean = (text: string) => string;

/** Styles that are nested more deeply are left out, their text is not. */
const MAX_DEPTH = 20;
const LINK = /^(?:https?:\/\/|mailto:)/i;
const STYLES = { em: "emphasis", strong: "strong", s: "strikethrough", link: "link" } as const;

/** An element that is still open. */
interface Open {
  readonly token: Token | null;
  readonly inlines: MarkdownInline[];
}

/** The inlines of a paragraph. Every text in them has passed `clean`. */
export function inlinesOf(tokens: readonly Token[], clean: Clean): readonly MarkdownInline[] {
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

/** Neighbouring texts become one. */
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

/** What cannot be opened is shown behind the label: a file, an anchor, or an address that would run something. */
function shownTarget(target: string, label: string): readonly MarkdownInline[] {
  if (target === "" || target === label) return [];
  return [{ kind: "text", text: label === "" ? target : ` (${target})` }];
}

/** A label that looks like another address must not hide where the link leads. */
function otherHost(href: string, label: string): readonly MarkdownInline[] {
  const { host } = new URL(href);
  return /\w\.\w/.test(label) && !label.includes(host) ? [{ kind: "text", text: ` (${host})` }] : [];
}
