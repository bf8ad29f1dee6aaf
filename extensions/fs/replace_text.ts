export interface Edit {
  /** Exact text to be found. */
  readonly old: string;
  readonly new: string;
  /** Every occurrence; else there must be exactly one. */
  readonly all?: boolean | undefined;
}

const MAX_SHOWN = 6;
const MAX_LINE = 120;

/** The text after one replacement. Throws Error that says what to do where `old` is not there or not unique. */
export function replaceText(path: string, text: string, edit: Edit): string {
  if (edit.old === "") throw new Error(`Cannot edit ${path}: old is empty; fs.writeFile replaces a whole file`);
  const wanted = inLineEndsOf(text, edit);
  const places = occurrences(text, wanted.old);
  if (places.length === 0) {
    throw new Error(`Cannot edit ${path}: old text not found: ${excerpt(edit.old)}${near(text, edit.old)}`);
  }
  if (places.length > 1 && !edit.all) {
    const shown = places.slice(0, MAX_SHOWN).map((at) => `${lineOf(text, at)}: ${lineAt(text, at)}`).join("\n");
    const more = places.length > MAX_SHOWN ? `\n… ${places.length - MAX_SHOWN} more` : "";
    throw new Error(
      `Cannot edit ${path}: old text occurs ${places.length} times; add lines around it or set all: true\n${shown}${more}`,
    );
  }
  return text.split(wanted.old).join(wanted.new);
}

/** Models write line feeds; a file that ends its lines with CRLF is searched and changed in its own way. */
function inLineEndsOf(text: string, edit: Edit): Edit {
  if (text.includes(edit.old) || edit.old.includes("\r") || !text.includes("\r\n")) return edit;
  const own = (part: string): string => part.replace(/\r?\n/g, "\r\n");
  return { old: own(edit.old), new: own(edit.new) };
}

function occurrences(text: string, part: string): number[] {
  const found: number[] = [];
  for (let at = text.indexOf(part); at >= 0; at = text.indexOf(part, at + part.length)) found.push(at);
  return found;
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

/** A passage that differs in white space only, or the line that the text starts with. */
function near(text: string, old: string): string {
  const wanted = squeezed(old.split("\n")).filter((line) => line !== "");
  const lines = squeezed(text.split("\n"));
  const [first] = wanted;
  if (first === undefined) return "";
  const start = lines.findIndex((line, at) => line === first && wanted.every((one, by) => lines[at + by] === one));
  if (start >= 0) return `; line ${start + 1} differs in white space only: copy it exactly`;
  const alike = lines.findIndex((line) => line === first);
  return alike >= 0 ? `; its first line is line ${alike + 1} of the file, what follows differs` : "";
}

function squeezed(lines: readonly string[]): string[] {
  return lines.map((line) => line.trim().replace(/\s+/g, " "));
}

function excerpt(text: string): string {
  const line = text.trim().split("\n")[0] ?? "";
  return JSON.stringify(line.length > MAX_LINE ? `${line.slice(0, MAX_LINE)}…` : line);
}
