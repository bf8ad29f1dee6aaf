import { advised, counted, Pace, shorten } from "@vis/extension";
import { withStraysOf } from "../text_format.ts";

export interface TextReplacement {
  readonly old: string;
  readonly new: string;
  readonly all?: boolean | undefined;
}

const MAX_SHOWN = 6;
const MAX_LINE = 120;
const MAX_TEXT = 16 << 20;

/** U+FFFD in the edit matches an invalid byte sequence. */
export async function replaceText(
  whole: string,
  edit: TextReplacement,
  { path, signal }: { readonly path: string; readonly signal: AbortSignal | undefined },
): Promise<string> {
  if (edit.old === "") {
    throw advised(new Error(`Cannot edit ${path}: old is empty`), "replace a whole file with fs.writeFile");
  }
  const text = whole.toWellFormed();
  const { wanted, places } = await placesOf(text, edit, { path, signal });
  if (places.length === 0) {
    const near = await nearestPlace(text, edit.old, { signal });
    const missing = near === "" ? sought(edit.old) : ` ${excerpt(edit.old)}`;
    throw new Error(`Cannot edit ${path}: the file does not contain the old text${missing}${near}`);
  }
  if (places.length > 1 && !edit.all) {
    const shown = places.slice(0, MAX_SHOWN).map((at) => `${lineOf(text, at)}: ${lineAt(text, at)}`).join("\n");
    const more = places.length > MAX_SHOWN ? `\n… ${places.length - MAX_SHOWN} more` : "";
    throw advised(
      new Error(
        `Cannot edit ${path}: the old text occurs ${places.length} times:\n${shown}${more}\nIt must occur once`,
      ),
      "add lines around it, or set all: true",
    );
  }
  const hasOwnEnds = wanted.old.includes("\n") || wanted.new.includes("\r") || !wanted.new.includes("\n");
  const size = text.length + places.length * (wanted.new.length - wanted.old.length);
  if (size > MAX_TEXT) {
    throw advised(
      new RangeError(`Cannot edit ${path}: the file would have ${size} characters, and the limit is ${MAX_TEXT}`),
      "replace less, or write several files",
    );
  }
  const parts: string[] = [];
  let done = 0;
  for (const at of places) {
    const end = at + wanted.old.length;
    const now = withStraysOf(whole.slice(at, end), wanted.new.toWellFormed(), `Cannot edit ${path}`);
    parts.push(whole.slice(done, at), hasOwnEnds ? now : withEndsOf(text, at, now));
    done = end;
  }
  return parts.join("") + whole.slice(done);
}

function withEndsOf(text: string, at: number, lines: string): string {
  const next = text.indexOf("\n", at);
  const end = next < 0 ? text.lastIndexOf("\n", at) : next;
  return end > 0 && text[end - 1] === "\r" ? lines.replaceAll("\n", "\r\n") : lines;
}

/** Models write line feeds, so Vis converts the edit to CRLF if a file with CRLF does not contain the old text. */
async function placesOf(
  text: string,
  edit: TextReplacement,
  options: { readonly path: string; readonly signal: AbortSignal | undefined },
): Promise<{ readonly wanted: TextReplacement; readonly places: readonly number[] }> {
  const places = await findText(text, edit.old, options);
  if (places.length > 0 || edit.old.includes("\r") || !text.includes("\r\n")) return { wanted: edit, places };
  const own = (part: string): string => part.replace(/\r?\n/g, "\r\n");
  const wanted = { old: own(edit.old), new: own(edit.new) };
  return { wanted, places: await findText(text, wanted.old, options) };
}

function lineOf(text: string, at: number): number {
  let line = 1;
  for (let end = text.indexOf("\n"); end >= 0 && end < at; end = text.indexOf("\n", end + 1)) line++;
  return line;
}

function lineAt(text: string, at: number): string {
  const end = text.indexOf("\n", at);
  return text.slice(text.lastIndexOf("\n", at - 1) + 1, end < 0 ? undefined : end).trim().slice(0, MAX_LINE);
}

function sought(text: string): string {
  const lines = text.replace(/^(?:[^\S\n]*\n)+/, "").trimEnd().split("\n");
  if (lines.length < 2) return ` ${excerpt(text)}`;
  const more = lines.length > MAX_SHOWN ? [`… ${counted(lines.length - MAX_SHOWN, "more line")}`] : [];
  return [":", ...lines.slice(0, MAX_SHOWN).map((line) => shorten(line, MAX_LINE)), ...more].join("\n");
}

function excerpt(text: string): string {
  const line = text.trim().split("\n")[0] ?? "";
  return JSON.stringify(shorten(line, MAX_LINE));
}

/** The worst-case time of `String.indexOf` grows with the product of the two lengths. */
const MAX_PRODUCT = 20_000_000;
const SLICE = 1 << 15;
const MAX_PLACES = 1_000_000;

export async function findText(
  text: string,
  part: string,
  { signal, path }: { readonly signal: AbortSignal | undefined; readonly path: string },
): Promise<number[]> {
  const found: number[] = [];
  if (part === "" || part.length > text.length) return found;
  if (part.length <= 16 || text.length * part.length <= MAX_PRODUCT) {
    for (let at = text.indexOf(part); at >= 0; at = text.indexOf(part, at + part.length)) {
      found.push(at);
      if (found.length > MAX_PLACES) throw tooMany(path);
    }
    return found;
  }
  const pace = new Pace(signal);
  await pace.rest();
  const fallback = await fallbackOf(part, pace);
  for (let at = 0, length = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    while (length > 0 && part.charCodeAt(length) !== code) length = fallback[length - 1] ?? 0;
    if (part.charCodeAt(length) === code) length++;
    if (length === part.length) {
      found.push(at - length + 1);
      length = 0;
    }
    if (at % SLICE === 0 && pace.due) await pace.rest();
  }
  return found;
}

function tooMany(path: string): RangeError {
  return advised(
    new RangeError(`Cannot edit ${path}: the old text occurs more than ${MAX_PLACES} times, the limit`),
    "use a longer text, or write the file",
  );
}

async function fallbackOf(part: string, pace: Pace): Promise<Int32Array> {
  const table = new Int32Array(part.length);
  for (let at = 1, length = 0; at < part.length; at++) {
    const code = part.charCodeAt(at);
    while (length > 0 && part.charCodeAt(length) !== code) length = table[length - 1] ?? 0;
    if (part.charCodeAt(length) === code) length++;
    table[at] = length;
    if (at % SLICE === 0 && pace.due) await pace.rest();
  }
  return table;
}

const MAX_STARTS = 200;
const CHECK_EVERY = 4_096;
const MAX_COMPARED = 2_000;
const MAX_HINT = 120;

async function nearestPlace(
  text: string,
  old: string,
  { signal }: { readonly signal: AbortSignal | undefined },
): Promise<string> {
  const all = old.split("\n").map((line) => line.replace(/\r$/, ""));
  const wanted = all.slice(Math.max(0, all.findIndex((line) => line.trim() !== "")));
  if (wanted.at(-1) === "") wanted.pop();
  const place = wanted[0]?.trim() ? await nearestStart(text, wanted, signal) : null;
  if (place === null) return "";
  const { lines, start } = place;
  const by = wanted.findIndex((line, at) => !isIn(lines[start + at], line, { at, last: wanted.length - 1 }));
  const [own, found] = [wanted[by] ?? "", lines[start + by]];
  if (by < 0) return "";
  if (found === undefined) return `; line ${start + 1} is like its first line, but the file ends before the others`;
  const isSpace = wanted.every((line, at) => spaced(lines[start + at] ?? "\0") === spaced(line));
  const first = by === 0 ? "" : `, whose first line is line ${start + 1} of the file`, line = `line ${start + by + 1}`;
  const near = isSpace
    ? `copy ${line} exactly, which differs only in white space`
    : `the nearest is ${line}, ${shown(found)}`;
  return `${first}; ${near}${difference(own, found, { isWhole: by > 0 })}`;
}

function isIn(
  found: string | undefined,
  line: string,
  { at, last }: { readonly at: number; readonly last: number },
): boolean {
  if (found === undefined || last === 0) return found?.includes(line) ?? false;
  return at === 0 ? found.endsWith(line) : at === last ? found.startsWith(line) : found === line;
}

interface Place {
  readonly lines: readonly string[];
  readonly start: number;
}

async function nearestStart(
  text: string,
  wanted: readonly string[],
  signal: AbortSignal | undefined,
): Promise<Place | null> {
  const first = squeezed(wanted[0] ?? "");
  const pace = new Pace(signal);
  const lines = text.split("\n").map((line) => line.endsWith("\r") ? line.slice(0, -1) : line);
  if (lines.at(-1) === "") lines.pop();
  let [starts, most]: [number[], number] = [[], Math.max(2, first.length / 2)];
  for (const [at, line] of lines.entries()) {
    if (at % CHECK_EVERY === 0 && pace.due) await pace.rest();
    const score = likeness(squeezed(line), first);
    if (score > most) [starts, most] = [[], score];
    if (score >= most && starts.length < MAX_STARTS) starts.push(at);
  }
  let [best, length]: [number | null, number] = [null, -1];
  for (const start of starts) {
    if (pace.due) await pace.rest();
    const differs = wanted.findIndex((line, by) => squeezed(lines[start + by] ?? "\0") !== squeezed(line));
    const alike = differs < 0 ? wanted.length : differs;
    if (alike > length) [best, length] = [start, alike];
  }
  return best === null ? null : { lines, start: best };
}

function likeness(line: string, other: string): number {
  if (line === other) return other.length + 2;
  if (line.includes(other)) return other.length + 1;
  const shorter = Math.min(line.length, other.length);
  let [head, tail] = [0, 0];
  while (head < shorter && line[head] === other[head]) head++;
  while (tail < shorter - head && line[line.length - 1 - tail] === other[other.length - 1 - tail]) tail++;
  return head + tail;
}

function difference(wanted: string, line: string, { isWhole }: { readonly isWhole: boolean }): string {
  const has = (part: string): boolean => isWhole ? line.startsWith(part) : line.includes(part);
  let [low, high] = [0, Math.min(wanted.length, MAX_COMPARED)];
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if (has(wanted.slice(0, middle))) low = middle;
    else high = middle - 1;
  }
  const at = (isWhole ? 0 : line.indexOf(wanted.slice(0, low))) + low;
  const [own, other] = [[...line.slice(at, at + 4)], [...wanted.slice(low, low + 4)]];
  if (own[0] === undefined && other[0] === undefined) return "";
  return `; character ${at + 1} of that line is ${named(own)}, not ${named(other)}`;
}

const NAMES: Readonly<Record<string, string>> = {
  "\t": "TAB",
  "\r": "CARRIAGE RETURN",
  " ": "SPACE",
  "'": "APOSTROPHE",
  '"': "QUOTATION MARK",
  "`": "GRAVE ACCENT",
  "-": "HYPHEN-MINUS",
  "\u00a0": "NO-BREAK SPACE",
  "\u00ad": "SOFT HYPHEN",
  "\u00b4": "ACUTE ACCENT",
  "\u0300": "COMBINING GRAVE ACCENT",
  "\u0301": "COMBINING ACUTE ACCENT",
  "\u0302": "COMBINING CIRCUMFLEX ACCENT",
  "\u0303": "COMBINING TILDE",
  "\u0308": "COMBINING DIAERESIS",
  "\u030a": "COMBINING RING ABOVE",
  "\u030c": "COMBINING CARON",
  "\u0327": "COMBINING CEDILLA",
  "\u2009": "THIN SPACE",
  "\u200b": "ZERO WIDTH SPACE",
  "\u200c": "ZERO WIDTH NON-JOINER",
  "\u200d": "ZERO WIDTH JOINER",
  "\u200e": "LEFT-TO-RIGHT MARK",
  "\u200f": "RIGHT-TO-LEFT MARK",
  "\u2010": "HYPHEN",
  "\u2011": "NON-BREAKING HYPHEN",
  "\u2012": "FIGURE DASH",
  "\u2013": "EN DASH",
  "\u2014": "EM DASH",
  "\u2018": "LEFT SINGLE QUOTATION MARK",
  "\u2019": "RIGHT SINGLE QUOTATION MARK",
  "\u201a": "SINGLE LOW-9 QUOTATION MARK",
  "\u201c": "LEFT DOUBLE QUOTATION MARK",
  "\u201d": "RIGHT DOUBLE QUOTATION MARK",
  "\u201e": "DOUBLE LOW-9 QUOTATION MARK",
  "\u2026": "HORIZONTAL ELLIPSIS",
  "\u202f": "NARROW NO-BREAK SPACE",
  "\u2060": "WORD JOINER",
  "\u2212": "MINUS SIGN",
  "\u3000": "IDEOGRAPHIC SPACE",
  "\ufeff": "ZERO WIDTH NO-BREAK SPACE",
  "\ufffd": "REPLACEMENT CHARACTER",
};

function named([char, next]: readonly string[]): string {
  if (char === undefined) return "the end of the line";
  const code = (one: string): string => {
    const number = (one.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0");
    return `U+${number}${NAMES[one] === undefined ? "" : ` ${NAMES[one]}`}`;
  };
  const isSeen = /^[^\s\p{C}\p{M}]$/u.test(char);
  const more = next !== undefined && /^\p{M}$/u.test(next) ? ` with ${code(next)}` : "";
  return `${isSeen ? `${char} (${code(char)})` : code(char)}${more}`;
}

function squeezed(line: string): string {
  return line.slice(0, MAX_COMPARED).normalize("NFC").toLowerCase().replace(/[\u2018\u2019\u201a\u00b4]/g, "'")
    .replace(/[\u201c\u201d\u201e]/g, '"').replace(/[\u2010-\u2014\u2212]/g, "-").replace(/\u2026/g, "...")
    .replace(/[\u00ad\u200b-\u200f\u2060\ufeff]/g, "").trim().replace(/\s+/g, " ");
}

function spaced(line: string): string {
  return line.trim().replace(/\s+/g, " ");
}

function shown(line: string): string {
  return JSON.stringify(shorten(line, MAX_HINT));
}
