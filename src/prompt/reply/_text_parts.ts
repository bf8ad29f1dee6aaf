/* Where fenced code and JSON values of a text begin and end. */

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

/** The extent of a JSON value. */
interface Scan {
  /** Index after its end; -1 if the text ends first. */
  readonly end: number;
  /** The text up to its last complete part, with everything open closed; "" if nothing is complete. */
  readonly closed: () => string;
}

/** Finds the end of the object or array at `start` in one pass, without recursion. Recognises strings; a bracket of the
 * wrong kind closes what it can. */
export function scanJson(text: string, start: number): Scan {
  const stack: ("}" | "]")[] = [];
  const open = { "}": 0, "]": 0 };
  let key = false;
  let safe = start;
  let at = start;
  while (at < text.length) {
    const char = text[at];
    if (char === '"') {
      const end = stringEnd(text, at);
      if (end === -1) break;
      at = end;
      if (!key) safe = at;
      continue;
    }
    at++;
    if (char === "{" || char === "[") {
      const closer = char === "{" ? "}" : "]";
      stack.push(closer);
      open[closer]++;
      key = char === "{";
      safe = at;
    } else if (char === "}" || char === "]") {
      // Each step pops, so the whole pass takes linear time.
      while (open[char] > 0) {
        const closer = stack.pop();
        if (closer === undefined) break;
        open[closer]--;
        if (closer === char) break;
      }
      key = false;
      safe = at;
      if (stack.length === 0) return { end: at, closed: () => text.slice(start, at) };
    } else if (char === ",") {
      if (!key) safe = at - 1;
      key = stack.at(-1) === "}";
    } else if (char === ":") key = false;
  }
  return { end: -1, closed: () => text.slice(start, safe) + stack.toReversed().join("") };
}

/** Index after the closing quote of the string that opens at `at`, or -1. */
function stringEnd(text: string, at: number): number {
  for (let i = at + 1; i < text.length; i++) {
    const char = text[i];
    if (char === "\\") i++;
    else if (char === '"') return i + 1;
  }
  return -1;
}
