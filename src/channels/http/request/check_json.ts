import { Problem } from "../response/problem.ts";

/** Deeper JSON would exceed the stack of its readers. */
const MAX_DEPTH = 200;
/** More values would take many times the memory of the body. */
const MAX_VALUES = 2_000_000;
const QUOTE = 34, COMMA = 44, BACKSLASH = 92, ARRAY = 91, ARRAY_END = 93, OBJECT = 123, OBJECT_END = 125;

/** Checks JSON before it is parsed. Throws `Problem` if it is too deep (400) or has too many values (413). */
export function checkJson(text: string): void {
  let depth = 0, values = 0;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) at = endOfString(text, at);
    else if (code === ARRAY_END || code === OBJECT_END) depth--;
    else if (code === ARRAY || code === OBJECT || code === COMMA) {
      values++;
      if (code !== COMMA && ++depth > MAX_DEPTH) {
        throw new Problem(`Cannot read the body: it is deeper than ${MAX_DEPTH} levels`, { kind: "bad-request" });
      }
      if (values > MAX_VALUES) {
        throw new Problem(`Cannot read the body: it has more than ${MAX_VALUES} values`, { kind: "too-large" });
      }
    }
  }
}

/** Index of the closing quote, or of the end of the text if there is none. */
function endOfString(text: string, from: number): number {
  for (let at = from + 1; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === BACKSLASH) at++;
    else if (code === QUOTE) return at;
  }
  return text.length;
}
