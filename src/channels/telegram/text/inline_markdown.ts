import type { RichText, TextStyle } from "./rich_text.ts";

/** Longer paragraphs are shown unformatted: the cost of the patterns below grows with the square of the length. */
const MAX_CHARS = 4_000;
const MAX_DEPTH = 6;

const ESCAPED = /\\([!-/:-@[-`{-~])/y;
const CODE = /(`+)(?!`)([\s\S]*?[^`])\1(?!`)/y;
const IMAGE_OR_LINK = /!?\[([^[\]]*)\]\(<?([^\s()<>]*(?:\([^\s()<>]*\)[^\s()<>]*)*)>?(?:\s+"[^"]*")?\)/y;
const ADDRESS = /<(https?:\/\/[^\s<>]+)>/y;
const BOLD = /(\*\*|__)(?=\S)((?:(?!\1)[\s\S]|[*_](?=\1))*?\S)\1(?:(?<=\*)(?!\*)|(?<=_)(?!_))/y;
const STRIKE = /~~(?=\S)([\s\S]*?\S)~~/y;
const ITALIC = /\*(?![\s*])((?:\*\*(?:(?!\*\*)[\s\S])+\*\*|[^*])*?)(?<!\s)\*(?!\*)/y;
const UNDERSCORE = /_(?![\s_])([^_]*?)(?<!\s)_(?![\p{L}\p{N}_])/uy;
const WORD_BEFORE = /[\p{L}\p{N}_]$/u;
/** Link schemes that cannot run anything. */
const LINK = /^(?:https?:\/\/|mailto:|tg:\/\/|tel:)/i;
const MARKS = /[\\`!\[<*_~]/g;

interface Place {
  readonly spans: readonly TextStyle[];
  readonly depth: number;
}

/** Adds a paragraph with its emphasis, code and links. Unmatched marks stay text. */
export function inlineMarkdown(
  text: string,
  { into, spans = [] }: { readonly into: RichText; readonly spans?: readonly TextStyle[] },
): void {
  if (text.length > MAX_CHARS) into.add(text, spans);
  else add(text, { into, place: { spans, depth: 0 } });
}

function add(text: string, { into, place }: { readonly into: RichText; readonly place: Place }): void {
  let plain = "";
  for (let at = 0; at < text.length;) {
    MARKS.lastIndex = at;
    const mark = place.depth > MAX_DEPTH ? null : MARKS.exec(text);
    if (mark === null) {
      plain += text.slice(at);
      break;
    }
    plain += text.slice(at, mark.index);
    const found = matched(text, mark.index);
    if (found === null) plain += text[mark.index];
    else if (found.span === null) plain += found.inner;
    else {
      into.add(plain, place.spans);
      plain = "";
      const spans = [...place.spans, found.span];
      if (found.span.type === "code") into.add(found.inner, spans);
      else add(found.inner, { into, place: { spans, depth: place.depth + 1 } });
    }
    at = mark.index + (found?.length ?? 1);
  }
  into.add(plain, place.spans);
}

interface Found {
  /** Null for plain text. */
  readonly span: TextStyle | null;
  readonly inner: string;
  readonly length: number;
}

function matched(text: string, at: number): Found | null {
  const attempt = (pattern: RegExp): RegExpExecArray | null => {
    pattern.lastIndex = at;
    return pattern.exec(text);
  };
  const styled = (pattern: RegExp, span: TextStyle, group = 1): Found | null => {
    const found = attempt(pattern);
    return found && { span, inner: found[group] ?? "", length: found[0].length };
  };
  switch (text[at]) {
    case "\\":
      return plainOf(attempt(ESCAPED));
    case "`":
      return codeOf(attempt(CODE), text.slice(at));
    case "~":
      return styled(STRIKE, { type: "strikethrough" });
    case "<":
      return linkOf(attempt(ADDRESS), { label: 1, url: 1 });
    case "[":
    case "!":
      return linkOf(attempt(IMAGE_OR_LINK), { label: 1, url: 2 });
    case "_":
      if (WORD_BEFORE.test(text.slice(Math.max(0, at - 2), at))) return null;
      return styled(BOLD, { type: "bold" }, 2) ?? styled(UNDERSCORE, { type: "italic" });
    default:
      return styled(BOLD, { type: "bold" }, 2) ?? styled(ITALIC, { type: "italic" });
  }
}

function plainOf(found: RegExpExecArray | null): Found | null {
  return found && { span: null, inner: found[1] ?? "", length: found[0].length };
}

/** A run of backticks without a closing one is plain text. */
function codeOf(found: RegExpExecArray | null, rest: string): Found | null {
  if (found === null) {
    const ticks = /^`+/.exec(rest)?.[0] ?? "`";
    return { span: null, inner: ticks, length: ticks.length };
  }
  const inner = (found[2] ?? "").replace(/^ (.*\S.*) $/s, "$1").replaceAll("\n", " ");
  return { span: { type: "code" }, inner, length: found[0].length };
}

function linkOf(
  found: RegExpExecArray | null,
  at: { readonly label: number; readonly url: number },
): Found | null {
  if (found === null) return null;
  const url = found[at.url] ?? "", label = found[at.label]?.trim() || url;
  const length = found[0].length;
  if (label === "") return null;
  if (LINK.test(url) && URL.canParse(url)) return { span: { type: "text_link", url }, inner: label, length };
  return { span: null, inner: url === "" || url === label ? label : `${label} (${url})`, length };
}
