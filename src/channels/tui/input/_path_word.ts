const BLANK = /[ \t\n]/;
/** What a backslash stands before where it only guards the next character; elsewhere it is a part of a path. */
const GUARDED = /[^\p{L}\p{N}_]/u;

/** No path is longer; a quote that is left open is not looked for any further. */
const MOST_CHARS = 4_096;

/** A word as shells write it, with quotes and guarded blanks, from a place on: how it reads and where it ends. Null where
 * a quote is left open or it is too long. */
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
