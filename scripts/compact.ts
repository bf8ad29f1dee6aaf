import { type Comment, type Program, tokTypes } from "acorn";
import { type ModuleToken, type ModuleTokens, moduleTokens } from "./module_tokens.ts";
import { tokenDifference } from "./token_difference.ts";

/** A stack trace must show the function and a short line, so names and line breaks stay. Throws if the result is not
 * the same program. */
export function compact(code: string): string {
  return compactModule(code).code;
}

export interface CompactModule {
  readonly code: string;
  readonly program: Program;
}

export function compactModule(code: string): CompactModule {
  const read = moduleTokens(code);
  const result = written(code, read);
  const again = moduleTokens(result);
  const fault = tokenDifference(read, again);
  if (fault !== null) throw new Error(`Cannot make a module compact: ${fault.slice(0, 50)} would change its meaning`);
  return { code: result, program: again.program };
}

function written(code: string, { tokens, comments }: ModuleTokens): string {
  const kept = comments.filter((one) => isKept(one, code));
  const parts: string[] = [];
  let next = 0;
  let before: ModuleToken | null = null;
  for (const token of tokens) {
    const first = next;
    while ((kept[next]?.start ?? Infinity) < token.start) next++;
    const line = token.onNewLine || !before ? "\n" : "";
    if (next > first) parts.push(line, kept.slice(first, next).map((one) => textOf(one, code)).join(line), line);
    else if (line || (before && needsSpace(before, token))) parts.push(line || " ");
    parts.push(token.text);
    before = token;
  }
  for (const one of kept.slice(next)) parts.push("\n", textOf(one, code));
  return parts.join("").trim() + "\n";
}

function isKept({ type, value, start }: Comment, code: string): boolean {
  if (/^!|@license|@preserve|copyright/i.test(value)) return true;
  return type === "Line" && (start === 0 || code[start - 1] === "\n") && /^ \S+\.\w{1,5}$/.test(value);
}

function textOf({ start, end }: Comment, code: string): string {
  return code.slice(start, end);
}

function needsSpace(left: ModuleToken, right: ModuleToken): boolean {
  if (left.end === right.start) return false;
  const last = left.text.at(-1) ?? "", first = right.text[0] ?? "";
  if (left.type === tokTypes.regexp) return isWord(first);
  if (left.type === tokTypes.num && first === ".") return true;
  return isWord(last) ? isWord(first) : isOperator(last) && isOperator(first);
}

function isWord(char: string): boolean {
  return /[\w$\\#@]|[^\0-\x7f]/.test(char);
}

function isOperator(char: string): boolean {
  return /[-+*/%<>=!&|^?.~]/.test(char);
}
