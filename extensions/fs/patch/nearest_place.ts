import { Pace } from "../tree/pace.ts";

const MAX_STARTS = 200;
const CHECK_EVERY = 4_096;

/** A hint for a text that was not found: a passage that differs only in white space, or the line that it starts with;
 * "" if there is neither. */
export async function nearestPlace(
  text: string,
  old: string,
  { signal }: { readonly signal: AbortSignal | undefined },
): Promise<string> {
  const wanted = old.split("\n").map(squeezed).filter((line) => line !== "");
  const [first] = wanted;
  if (first === undefined) return "";
  const pace = new Pace(signal);
  const lines: string[] = [];
  const starts: number[] = [];
  for (let at = 0; at <= text.length; lines.length % CHECK_EVERY === 0 && pace.due && await pace.rest()) {
    const end = text.indexOf("\n", at);
    const line = squeezed(text.slice(at, end < 0 ? undefined : end));
    if (line === first && starts.length < MAX_STARTS) starts.push(lines.length);
    lines.push(line);
    if (end < 0) break;
    at = end + 1;
  }
  for (const start of starts) {
    if (pace.due) await pace.rest();
    const fits = wanted.every((line, by) => lines[start + by] === line);
    if (fits) return `; line ${start + 1} differs in white space only: copy it exactly`;
  }
  const [alike] = starts;
  return alike === undefined ? "" : `; its first line is line ${alike + 1} of the file, what follows differs`;
}

/** Normalizes a line, of which only the beginning is compared. */
function squeezed(line: string): string {
  return line.slice(0, 2_000).trim().replace(/\s+/g, " ");
}
