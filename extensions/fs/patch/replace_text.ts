import { findText } from "./find_text.ts";
import { nearestPlace } from "./nearest_place.ts";

export interface TextReplacement {
  /** Exact text to find. */
  readonly old: string;
  readonly new: string;
  /** Replaces every occurrence; otherwise there must be exactly one. */
  readonly all?: boolean | undefined;
}

const MAX_SHOWN = 6;
const MAX_LINE = 120;
/** What is written has at most 16 MB, and a character has at least one byte. */
const MAX_TEXT = 16 << 20;

/** The text after one replacement. If `old` is missing or not unique, it rejects with Error that says what to do. */
export async function replaceText(
  text: string,
  edit: TextReplacement,
  { path, signal }: { readonly path: string; readonly signal: AbortSignal | undefined },
): Promise<string> {
  if (edit.old === "") throw new Error(`Cannot edit ${path}: old is empty; fs.writeFile replaces a whole file`);
  const { wanted, places } = await placesOf(text, edit, signal);
  if (places.length === 0) {
    const near = await nearestPlace(text, edit.old, { signal });
    throw new Error(`Cannot edit ${path}: old text not found: ${excerpt(edit.old)}${near}`);
  }
  if (places.length > 1 && !edit.all) {
    const shown = places.slice(0, MAX_SHOWN).map((at) => `${lineOf(text, at)}: ${lineAt(text, at)}`).join("\n");
    const more = places.length > MAX_SHOWN ? `\n… ${places.length - MAX_SHOWN} more` : "";
    throw new Error(
      `Cannot edit ${path}: old text occurs ${places.length} times; add lines around it or set all: true\n${shown}${more}`,
    );
  }
  const hasOwnEnds = wanted.old.includes("\n") || wanted.new.includes("\r") || !wanted.new.includes("\n");
  const size = text.length + places.length * (wanted.new.length - wanted.old.length);
  if (size > MAX_TEXT) {
    throw new RangeError(
      `Cannot edit ${path}: it would have ${size} characters, over 16 MB; replace less, or write several files`,
    );
  }
  const parts: string[] = [];
  let done = 0;
  for (const at of places) {
    parts.push(text.slice(done, at), hasOwnEnds ? wanted.new : withEndsOf(text, at, wanted.new));
    done = at + wanted.old.length;
  }
  return parts.join("") + text.slice(done);
}

/** New lines in the place of a part of a line end like that line, or else like the one before. */
function withEndsOf(text: string, at: number, lines: string): string {
  const next = text.indexOf("\n", at);
  const end = next < 0 ? text.lastIndexOf("\n", at) : next;
  return end > 0 && text[end - 1] === "\r" ? lines.replaceAll("\n", "\r\n") : lines;
}

/** Models write line feeds; in a file with CRLF, text is searched and replaced with CRLF. */
async function placesOf(
  text: string,
  edit: TextReplacement,
  signal: AbortSignal | undefined,
): Promise<{ readonly wanted: TextReplacement; readonly places: readonly number[] }> {
  const places = await findText(text, edit.old, { signal });
  if (places.length > 0 || edit.old.includes("\r") || !text.includes("\r\n")) return { wanted: edit, places };
  const own = (part: string): string => part.replace(/\r?\n/g, "\r\n");
  const wanted = { old: own(edit.old), new: own(edit.new) };
  return { wanted, places: await findText(text, wanted.old, { signal }) };
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

function excerpt(text: string): string {
  const line = text.trim().split("\n")[0] ?? "";
  return JSON.stringify(line.length > MAX_LINE ? `${line.slice(0, MAX_LINE)}…` : line);
}
