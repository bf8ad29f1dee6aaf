import type { Pace } from "../../../src/extension/spec.ts";

const MAX_PLACES = 50;
const MAX_LINE = 160;
const AROUND = 3;

/** Where most lines of a hunk match, and what is found instead of the first line that does not. For the error when a
 * hunk matches nowhere. */
export async function nearestHunk(
  lines: readonly string[],
  { old, pace }: { readonly old: readonly string[]; readonly pace: Pace },
): Promise<string> {
  const at = await bestPlace(lines, { old, pace, least: 2 }) ?? await bestPlace(lines, { old, pace, least: 1 });
  if (at === null) {
    return `none of its lines is in the file, such as ${shown(old.find((line) => line.trim() !== "") ?? "")}`;
  }
  const differs = old.findIndex((line, by) => plain(lines[at + by] ?? "\0") !== line);
  const found = lines[at + differs];
  const text = lines.slice(Math.max(0, at + differs - AROUND), at + differs + AROUND + 1)
    .map((line, by) => `${Math.max(0, at + differs - AROUND) + by + 1}: ${plain(line).slice(0, MAX_LINE)}`);
  const there = found === undefined ? "the file has ended" : `line ${at + differs + 1} is ${shown(plain(found))}`;
  return `its line ${differs + 1} is ${shown(old[differs] ?? "")}, but ${there}\n${text.join("\n")}`;
}

/** Every line of the hunk, of at least so many characters, that occurs in the file is a vote for the place where the
 * hunk would start. */
async function bestPlace(
  lines: readonly string[],
  { old, pace, least }: { readonly old: readonly string[]; readonly pace: Pace; readonly least: number },
): Promise<number | null> {
  const wanted = new Map<string, number[]>();
  for (const [by, line] of old.entries()) {
    const key = squeezed(line);
    if (key.length < least) continue;
    const at = wanted.get(key) ?? [];
    if (at.length < MAX_PLACES) at.push(by);
    wanted.set(key, at);
  }
  const votes = new Map<number, number>();
  const seen = new Map<string, number>();
  for (const [at, line] of lines.entries()) {
    if (at % 256 === 0 && pace.due) await pace.rest();
    const key = squeezed(line);
    const count = (seen.get(key) ?? 0) + 1;
    if (wanted.has(key)) seen.set(key, count);
    for (const by of count <= MAX_PLACES ? wanted.get(key) ?? [] : []) {
      votes.set(at - by, (votes.get(at - by) ?? 0) + (plain(line) === old[by] ? 2 : 1));
    }
  }
  let best: number | null = null;
  for (const [at, count] of votes) {
    if (at >= 0 && (best === null || count > (votes.get(best) ?? 0))) best = at;
  }
  return best;
}

/** A line without the carriage return of its ending. */
export function plain(line: string): string {
  return line.endsWith("\r") ? line.slice(0, -1) : line;
}

function squeezed(line: string): string {
  return line.slice(0, 500).trim().replace(/\s+/g, " ");
}

function shown(line: string): string {
  return JSON.stringify(line.length > MAX_LINE ? `${line.slice(0, MAX_LINE)}…` : line);
}
