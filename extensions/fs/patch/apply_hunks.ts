import { withStraysOf } from "../text_format.ts";
import { type PatchHunk, plain } from "./parse_patch.ts";
import { advised, counted, Pace, shorten } from "@vis/extension";

interface Options {
  readonly path: string;
  readonly signal: AbortSignal | undefined;
}

const MAX_SHOWN = 5;

export async function applyHunks(
  text: string,
  hunks: readonly PatchHunk[],
  { path, signal }: Options,
): Promise<string> {
  const file = linesOf(text);
  const pace = new Pace(signal);
  let shift = 0;
  let done = 0;
  for (const [index, hunk] of hunks.entries()) {
    const at = await placeOf(hunk, { lines: file.lines, shift, done, pace, name: nameOf(index, hunks, path) });
    const kept = replaced(hunk, { file, at, path });
    file.lines.splice(at, hunk.old.length, ...kept);
    shift += kept.length - hunk.old.length;
    done = at + kept.length;
  }
  return textOf(file);
}

interface Lines {
  readonly lines: string[];
  readonly end: string;
  ended: boolean;
}

function linesOf(text: string): Lines {
  const lines = text.split("\n");
  const ended = lines.at(-1) === "";
  if (ended) lines.pop();
  const end = (ended || lines.length > 1) && lines[0]?.endsWith("\r") ? "\r" : "";
  const last = lines.pop();
  if (last !== undefined) lines.push(ended ? last : `${last}${end}`);
  return { lines, ended: ended || lines.length === 0, end };
}

function textOf({ lines, ended, end }: Lines): string {
  const text = lines.join("\n");
  if (lines.length === 0) return "";
  return ended ? `${text}\n` : end !== "" && text.endsWith(end) ? text.slice(0, -1) : text;
}

function replaced(
  hunk: PatchHunk,
  { file, at, path }: { readonly file: Lines; readonly at: number; readonly path: string },
): readonly string[] {
  const { lines, end } = file;
  const old = lines.slice(at, at + hunk.old.length);
  const isOpen = (by: number): boolean => !file.ended && at + by === lines.length - 1;
  const isWhole = hunk.old.every((line, by) => (isOpen(by) ? `${line}${end}` : line) === old[by]);
  const hasEnds = end === "" || old.some((_, by) => !isOpen(by)) || hunk.new.some((line) => line.endsWith("\r"));
  const isLast = at + old.length === lines.length;
  if (isLast && hunk.ended !== null) file.ended = hunk.ended;
  if (isWhole && hasEnds) {
    return hunk.new.map((line, by) => isLast && !file.ended && by === hunk.new.length - 1 ? `${line}${end}` : line);
  }
  const known = new Map<string, string | null>();
  for (const line of old) {
    // Lines that differ only in invalid bytes look the same to a reader.
    const isOther = known.has(bare(line)) && bare(line) !== plain(line).replace(/^\uFEFF/, "");
    known.set(bare(line), isOther && known.get(bare(line)) !== line ? null : line);
  }
  const whole = old.join("\n");
  const mark = at === 0 && old[0]?.startsWith("\uFEFF") ? "\uFEFF" : "";
  return hunk.new.map((line, by) => {
    const own = known.get(bare(line)) ?? `${withStraysOf(whole, bare(line), `Cannot patch ${path}`)}${end}`;
    return by === 0 ? `${mark}${own.replace(/^\uFEFF/, "")}` : own.replace(/^\uFEFF/, "");
  });
}

function bare(line: string): string {
  return plain(line).replace(/^\uFEFF/, "").toWellFormed();
}

async function placeOf(
  hunk: PatchHunk,
  { lines, shift, done, pace, name }: {
    readonly lines: readonly string[];
    readonly shift: number;
    readonly done: number;
    readonly pace: Pace;
    readonly name: string;
  },
): Promise<number> {
  const expected = hunk.line === null ? null : hunk.line - 1 + shift;
  if (hunk.old.length === 0) {
    if (expected !== null && expected <= lines.length) return expected;
    if (lines.length === 0) return 0;
    const reason = expected === null
      ? "it has only new lines and no line number, so its place is unknown"
      : `it begins at line ${expected + 1}, but the file has ${counted(lines.length, "line")}`;
    throw advised(new Error(`Cannot apply ${name}: ${reason}`), "add lines of the file around it");
  }
  const old = hunk.old.map(bare);
  if (expected !== null && expected >= 0 && fits(lines, old, expected)) return expected;
  const places = await placesOf(lines, { old, from: done, pace });
  const [first] = places;
  if (first !== undefined && places.length === 1) return first;
  const from = startBelow(lines, { below: hunk.below ?? [], from: done });
  const [own] = from === null ? [] : await placesOf(lines, { old, from, pace });
  if (own !== undefined) return own;
  if (first === undefined) {
    throw new Error(`Cannot apply ${name}: ${await nearestHunk(lines.map(bare), { old, pace })}`);
  }
  const shown = places.slice(0, MAX_SHOWN).map((at) => at + 1).join(", ");
  const more = places.length > MAX_SHOWN ? " and others" : "";
  throw advised(new Error(`Cannot apply ${name}: its lines occur at lines ${shown}${more}`), "add lines around it");
}

function startBelow(
  lines: readonly string[],
  { below, from }: { readonly below: readonly string[]; readonly from: number },
): number | null {
  const find = (text: string, start: number): number =>
    lines.findIndex((line, at) => at >= start && bare(line).trim() === text);
  let at = from - 1;
  for (const [index, text] of below.entries()) {
    at = find(text, at + 1);
    if (at < 0 || index === 0 && find(text, at + 1) >= 0) return null;
  }
  return below.length === 0 ? null : at;
}

async function placesOf(
  lines: readonly string[],
  { old, from, pace }: { readonly old: readonly string[]; readonly from: number; readonly pace: Pace },
): Promise<readonly number[]> {
  const table = new Int32Array(old.length);
  for (let at = 1, length = 0; at < old.length; at++) {
    while (length > 0 && old[at] !== old[length]) length = table[length - 1] ?? 0;
    if (old[at] === old[length]) length++;
    table[at] = length;
  }
  const found: number[] = [];
  for (let at = from, length = 0; at < lines.length && found.length <= MAX_SHOWN; at++) {
    if (at % 1024 === 0 && pace.due) await pace.rest();
    const line = bare(lines[at] ?? "");
    while (length > 0 && line !== old[length]) length = table[length - 1] ?? 0;
    if (line === old[length]) length++;
    if (length < old.length) continue;
    found.push(at - length + 1);
    length = table[length - 1] ?? 0;
  }
  return found;
}

function fits(lines: readonly string[], old: readonly string[], at: number): boolean {
  return at + old.length <= lines.length && old.every((line, by) => bare(lines[at + by] ?? "") === line);
}

function nameOf(index: number, hunks: readonly PatchHunk[], path: string): string {
  return hunks.length === 1 ? `the hunk of ${path}` : `hunk ${index + 1} of ${hunks.length} of ${path}`;
}

const MAX_PLACES = 50;
const MAX_LINE = 160;
const AROUND = 3;

async function nearestHunk(
  lines: readonly string[],
  { old, pace }: { readonly old: readonly string[]; readonly pace: Pace },
): Promise<string> {
  const at = await bestPlace(lines, { old, pace, least: 2 }) ?? await bestPlace(lines, { old, pace, least: 1 });
  if (at === null) {
    return `no place in the file is similar to its lines, such as ${
      shown(old.find((line) => line.trim() !== "") ?? "")
    }`;
  }
  const differs = old.findIndex((line, by) => plain(lines[at + by] ?? "\0") !== line);
  const found = lines[at + differs];
  const text = lines.slice(Math.max(0, at + differs - AROUND), at + differs + AROUND + 1)
    .map((line, by) => `${Math.max(0, at + differs - AROUND) + by + 1}: ${plain(line).slice(0, MAX_LINE)}`);
  const there = found === undefined ? "the file has ended" : `line ${at + differs + 1} is ${shown(plain(found))}`;
  return `its line ${differs + 1} is ${shown(old[differs] ?? "")}, but ${there}\n${text.join("\n")}`;
}

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

function squeezed(line: string): string {
  return line.slice(0, 500).trim().replace(/\s+/g, " ");
}

function shown(line: string): string {
  return JSON.stringify(shorten(line, MAX_LINE));
}
