import { jsonrepair } from "jsonrepair";
import { scanJson } from "./_text_parts.ts";

/** A value read from text that may not be valid JSON. */
export interface RepairedJson {
  readonly value: unknown;
  /** Index after the value in the text. */
  readonly end: number;
  readonly repairs: readonly string[];
  /** Set if the text ended inside the value: the incomplete part was dropped, or its last part is doubtful and must be
   * dropped. */
  readonly cutOff: "no" | "dropped" | "last-part-doubtful";
}

/** The repair library takes quadratic time for bare quotes: 20 000 characters of them take 80 ms, 180 000 take 6 s. */
const MAX_REPAIR_CHARS = 20_000;
const CUT_OFF = "the reply was cut off: its last, incomplete part was dropped";

/** Reads the object or array at `start`: as it is, then with repaired strings and quotes, closed if the text ended too
 * early, and finally with the repair library if `library` allows it. Null if all of that fails. */
export function readJson(
  text: string,
  { start, library }: { readonly start: number; readonly library: boolean },
): RepairedJson | null {
  const { end } = scanJson(text, start);
  if (end === -1) return readOpen(text, { start, library });
  const slice = text.slice(start, end);
  const strict = parse(slice);
  if (strict) return { ...strict, end, repairs: [], cutOff: "no" };
  const repaired = repairStrings(slice);
  const read = parse(repaired);
  if (read) return { ...read, end, repairs: ["escaped characters inside strings"], cutOff: "no" };
  return readToLastBracket(text, start) ?? (library ? repair(repaired, end) : null);
}

/** The same for a value whose end is missing, or hidden by a bare quote. */
function readOpen(
  text: string,
  { start, library }: { readonly start: number; readonly library: boolean },
): RepairedJson | null {
  const slice = text.slice(start);
  const repaired = repairStrings(slice);
  const finished = /[}\]]\s*(?:`{3,}\s*)?$/.test(slice.slice(-200));
  if (finished) {
    const last = Math.max(repaired.lastIndexOf("}"), repaired.lastIndexOf("]")) + 1;
    const whole = readToLastBracket(text, start) ?? (library ? repair(repaired.slice(0, last), text.length) : null);
    if (whole) return whole;
  }
  const closed = parse(scanJson(repaired, 0).closed());
  if (closed) return { ...closed, end: text.length, repairs: [CUT_OFF], cutOff: "dropped" };
  const guessed = library ? repair(repaired, text.length) : null;
  return guessed && { ...guessed, repairs: [...guessed.repairs, CUT_OFF], cutOff: "last-part-doubtful" };
}

/** Bare quotes hide where a value ends; its end is then the last bracket of the text. */
function readToLastBracket(text: string, start: number): RepairedJson | null {
  const end = Math.max(text.lastIndexOf("}"), text.lastIndexOf("]")) + 1;
  const read = end > start ? parse(repairStrings(repairQuotes(text.slice(start, end)))) : null;
  return read && { ...read, end, repairs: ["escaped bare quotes inside strings"], cutOff: "no" };
}

function repair(text: string, end: number): RepairedJson | null {
  if (text.length > MAX_REPAIR_CHARS) return null;
  try {
    const read = parse(jsonrepair(text));
    return read && { ...read, end, repairs: ["repaired the JSON"], cutOff: "no" };
  } catch {
    return null;
  }
}

function parse(text: string): { readonly value: unknown } | null {
  try {
    return { value: JSON.parse(text) };
  } catch {
    return null;
  }
}

const TOKEN = /\\(?:u[0-9a-fA-F]{4}|["\\/bfnrt])|\\\r?\n|\\(.?)|"|\r\n|\p{Cc}/gu;

/** Doubles backslashes that are invalid in JSON (`\d` in a pattern, a Windows path), which a repair library would drop,
 * and escapes control characters inside strings. */
function repairStrings(text: string): string {
  let inside = false;
  return text.replace(TOKEN, (token: string, escaped: string | undefined) => {
    if (token === '"') {
      inside = !inside;
      return token;
    }
    if (token.startsWith("\\")) {
      if (escaped === "'" && inside) return "'";
      if (escaped !== undefined) return `\\\\${escaped}`;
      return token.endsWith("\n") ? "\\n" : token;
    }
    if (!inside) return token;
    if (token === "\n" || token === "\r\n") return "\\n";
    if (token === "\t") return "\\t";
    return `\\u${token.charCodeAt(0).toString(16).padStart(4, "0")}`;
  });
}

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
function repairQuotes(text: string): string {
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
