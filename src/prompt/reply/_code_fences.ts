/** One fenced part of a text; outermost fences only. */
export interface Fence {
  /** Lower case; "" if none is given. */
  readonly language: string;
  readonly content: string;
  /** From the first character of the opening line to the one after the closing line. */
  readonly start: number;
  readonly end: number;
  readonly closed: boolean;
}

const LINE = /^[ \t]*(`{3,}|~{3,})[ \t]*([\w.+#-]*)[^\n`]*$/gm;
const CODE = new Set(["ts", "tsx", "typescript", "js", "jsx", "javascript", "mjs", "mts", "deno", "node"]);
const LOOKS_LIKE_REPLY = /^\s*\{\s*"(?:thinking|code|next|final)"\s*:/;
const LOOKS_LIKE_CODE = /\b(?:await|const|let|var|function|class|return)\b|=>|console\.|\w\(.*\)/;

/** Finds fences line by line. A fence with a language inside another one is nested and must be closed first. */
export function findFences(text: string): Fence[] {
  const fences: Fence[] = [];
  let open: { mark: string; language: string; start: number; from: number; depth: number } | null = null;
  for (const match of text.matchAll(LINE)) {
    const [line, mark = "", info = ""] = match;
    const next = match.index + line.length + 1;
    if (open === null) {
      open = { mark, language: info.toLowerCase(), start: match.index, from: next, depth: 1 };
      continue;
    }
    if (mark[0] !== open.mark[0] || mark.length < open.mark.length) continue;
    if (info !== "") {
      open.depth++;
      continue;
    }
    if (--open.depth > 0) continue;
    const { language, start, from } = open;
    fences.push({ language, content: text.slice(from, match.index), start, end: next, closed: true });
    open = null;
  }
  if (open !== null) {
    const { language, start, from } = open;
    fences.push({ language, content: text.slice(from), start, end: text.length, closed: false });
  }
  return fences;
}

/** True for a fence marked as TypeScript or JavaScript, or unmarked with content that looks like it; false if it
 * contains a reply. */
export function isCode({ language, content }: Fence): boolean {
  if (LOOKS_LIKE_REPLY.test(content)) return false;
  if (language !== "") return CODE.has(language);
  return !/^\s*[{[]/.test(content) && LOOKS_LIKE_CODE.test(content.slice(0, 4_000));
}
