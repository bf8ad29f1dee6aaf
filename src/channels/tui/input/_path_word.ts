const BLANK = /[ \t\n]/;
/** Characters that a backslash escapes; before others the backslash is part of the path. */
const GUARDED = /[^\p{L}\p{N}_]/u;

/** No path is longer; an unclosed quote is searched no further. */
const MOST_CHARS = 4_096;

/** A word in shell syntax, with quotes and escaped blanks, starting at a position: its value and its end. Null if a
 * quote is left open or it is too long. */
export function pathWord(text: string, from: number): { readonly word: string; readonly end: number } | null {
  let word = "";
  let quote = "";
  let at = from;
  for (; at < text.length && at - from < MOST_CHARS; at++) {
    const [char = "", next = ""] = [text[at], text[at + 1]];
    if (quote === "" && BLANK.test(char)) break;
    if (char === quote) quote = "";
    else if (quote === "" && (char === '"' || char === "'")) quote = char;
    else if (char === "\\" && quote !== "'" && GUARDED.test(next)) {
      word += next;
      at++;
    } else word += char;
  }
  return quote === "" && at - from < MOST_CHARS ? { word, end: at } : null;
}
