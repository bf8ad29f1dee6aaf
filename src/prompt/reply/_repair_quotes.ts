/** Field names that precede a value; they distinguish the end of a string from a quote inside it. */
const NAMES = "thinking|code|next|final|expr|time_?ms|model|reasoning|answer|answer_?type|confidence";
/** What may follow the quote that ends a value. */
const ENDS = new RegExp(
  `"\\s{0,99}(?:[}\\]]\\s{0,99}(?:[,}\\]]|$)|,\\s{0,99}(?:"(?:${NAMES})"\\s{0,9}:|\\{\\s{0,99}")|$)`,
  "iy",
);
const ENDS_NAME = /"\s{0,99}:/y;

/** Escapes quotes that a model left bare inside a string: `{"expr": "search.find("a", "b")"}`. It takes linear time,
 * unlike the repair library, and knows the names that may follow. */
export function repairQuotes(text: string): string {
  let out = "";
  let from = 0;
  let before = "";
  for (let at = text.indexOf('"'); at !== -1; at = text.indexOf('"', from)) {
    out += text.slice(from, at + 1);
    before = lastSign(text.slice(from, at)) || before;
    const end = closing(text, { from: at + 1, name: before === "{" || before === "," });
    if (end === -1) return out + text.slice(at + 1);
    out += text.slice(at + 1, end).replace(/\\[\s\S]|"/g, (token) => token === '"' ? '\\"' : token) + '"';
    from = end + 1;
    before = "";
  }
  return out + text.slice(from);
}

function lastSign(text: string): string {
  return text.trimEnd().at(-1) ?? "";
}

/** Index of the quote that ends the string, or -1. */
function closing(text: string, { from, name }: { readonly from: number; readonly name: boolean }): number {
  for (let at = from; at < text.length; at++) {
    const char = text[at];
    if (char === "\\") at++;
    else if (char === '"' && ends(text, { at, name })) return at;
  }
  return -1;
}

function ends(text: string, { at, name }: { readonly at: number; readonly name: boolean }): boolean {
  ENDS.lastIndex = ENDS_NAME.lastIndex = at;
  return ENDS.test(text) || name && ENDS_NAME.test(text);
}
