import { confine, type WorkspacePath } from "../confine.ts";
import type { FsContext } from "../context.ts";
import { findFiles } from "../find_files.ts";
import type { OpenFile } from "../tree/tree.ts";
import { GlobMatcher } from "../walk/glob_matcher.ts";
import { MAX_READ_BYTES, openFile, readWhole, rememberFile, textOf, tooLarge } from "./read_place.ts";
import { advised, counted, type DecodedText, messageOf, Pace } from "@vis/extension";
import { Buffer } from "node:buffer";

export interface ReadFileOptions {
  readonly from?: number | undefined;
  readonly to?: number | undefined;
  readonly numbers?: boolean | undefined;
  readonly encoding?: string | undefined;
}

const CHUNK = 64 * 1024;
const LINE_FEED = 10;
const MOST_IN_LINE = 16 << 20;

export async function readFile(context: FsContext, path: string, options: ReadFileOptions = {}): Promise<string> {
  const place = confine(context, path);
  using file = await openFile(context, { place, action: "read" });
  const info = file.facts;
  const { encoding } = options;
  const isRanged = options.from !== undefined || options.to !== undefined;
  const range = { place, signal: context.signal, encoding, ...rangeOf(place, options) };
  const bytes = await readWhole(file, { size: info.size, most: MAX_READ_BYTES, signal: context.signal });
  if (bytes === null && !isRanged) throw tooLong(place, info.size);
  const decoded = bytes === null
    ? await linesOf(context, file, range)
    : textOf(context, bytes, { place, action: "read", encoding });
  rememberFile(context, {
    place,
    bytes,
    lossy: decoded.replaced > 0,
    encoding: encoding === undefined ? null : decoded.encoding,
    info,
  });
  const text = bytes !== null && isRanged ? linesIn(decoded.text, range) : decoded.text;
  return options.numbers ? numbered(text, options.from ?? 1) : text;
}

function linesIn(text: string, { from, to, place }: LineRange): string {
  const lines = text.split("\n");
  if (lines.at(-1) === "") lines.pop();
  if (from > Math.max(lines.length, 1)) throw tooFew(place, { from, lines: lines.length });
  return lines.slice(from - 1, to).join("\n").replace(/\r$/, "");
}

async function linesOf(context: FsContext, file: OpenFile, range: LineRange): Promise<DecodedText> {
  const { place, encoding } = range;
  const head = new Uint8Array(CHUNK);
  file.seek(0);
  const bytes = head.subarray(0, file.read(head));
  file.seek(0);
  const first = textOf({ ...context, note: () => {} }, bytes, {
    place,
    action: "read",
    encoding,
    size: file.facts.size,
  });
  if (first.encoding.startsWith("utf-16")) return { ...first, text: await readWideLines(file, range, first.encoding) };
  return textOf(context, await readLines(file, range), { place, action: "read", encoding });
}

async function readWideLines(
  file: OpenFile,
  range: LineRange,
  encoding: string,
): Promise<string> {
  const { from, to, place, signal } = range;
  const decoder = new TextDecoder(encoding);
  const kept: string[] = [];
  const pace = new Pace(signal);
  const buffer = new Uint8Array(CHUNK);
  let [line, size, rest, count] = [1, 0, "", 1];
  while (count > 0 && line <= to) {
    if (pace.due) await pace.rest();
    count = file.read(buffer);
    const text = count > 0 ? decoder.decode(buffer.subarray(0, count), { stream: true }) : decoder.decode();
    const lines = `${rest}${text}`.split("\n");
    rest = lines.pop() ?? "";
    if (count === 0 && rest !== "") lines.push(rest);
    for (const one of lines) {
      if (line >= from && line <= to) kept.push(one);
      if (line >= from && line <= to) size += one.length;
      line++;
    }
    if (size > MAX_READ_BYTES) throw tooManyLines(range, `${MAX_READ_BYTES} characters`);
    if (rest.length > MOST_IN_LINE) {
      throw advised(
        new RangeError(`Cannot read ${place.path}: line ${line} has more than ${MOST_IN_LINE} characters, the limit`),
        "search with fs.grep",
      );
    }
  }
  if (from > Math.max(line - 1, 1)) throw tooFew(place, { from, lines: line - 1 });
  return kept.join("\n").replace(/\r$/, "");
}

function tooManyLines({ from, to, place }: LineRange, limit: string): RangeError {
  const last = to === Infinity ? "the end" : to;
  return advised(
    new RangeError(`Cannot read lines ${from} to ${last} of ${place.path}: they have more than ${limit}, the limit`),
    "ask for fewer lines, or use fs.readLines",
  );
}

function tooFew(place: WorkspacePath, { from, lines }: { readonly from: number; readonly lines: number }): RangeError {
  return advised(
    new RangeError(`Cannot read from line ${from} of ${place.path}: the file has ${counted(lines, "line")}`),
    "begin at an earlier line",
  );
}

function rangeOf(
  { path }: WorkspacePath,
  { from = 1, to = Infinity }: ReadFileOptions,
): Pick<LineRange, "from" | "to"> {
  if (to >= from) return { from, to };
  throw advised(
    new RangeError(`Cannot read lines ${from} to ${to} of ${path}: the last line is before the first`),
    "swap from and to",
  );
}

interface LineRange {
  readonly place: WorkspacePath;
  readonly from: number;
  readonly to: number;
  readonly signal: AbortSignal | undefined;
  readonly encoding: string | undefined;
}

async function readLines(file: OpenFile, range: LineRange): Promise<Uint8Array> {
  const { from, to, place } = range;
  const kept: Uint8Array[] = [];
  let size = 0;
  let line = 1;
  let open = false;
  const pace = new Pace(range.signal);
  while (line <= to) {
    if (pace.due) await pace.rest();
    const buffer = new Uint8Array(CHUNK);
    const count = file.read(buffer);
    if (count === 0) break;
    const chunk = buffer.subarray(0, count);
    const cut = cutLines(chunk, { line, from, to });
    open = chunk.at(-1) !== LINE_FEED;
    line = cut.line;
    size += cut.part.length;
    if (size > MAX_READ_BYTES) throw tooManyLines(range, "1 MiB");
    if (cut.part.length > 0) kept.push(cut.part);
  }
  const lines = open ? line : line - 1;
  if (from > Math.max(lines, 1)) throw tooFew(place, { from, lines });
  return withoutLineEnd(Buffer.concat(kept));
}

function cutLines(
  chunk: Uint8Array,
  { line, from, to }: { readonly line: number; readonly from: number; readonly to: number },
): { readonly part: Uint8Array; readonly line: number } {
  let at = 0;
  let start = line >= from ? 0 : -1;
  let now = line;
  while (now <= to) {
    const end = chunk.indexOf(LINE_FEED, at);
    if (end < 0) return { part: start < 0 ? chunk.subarray(0, 0) : chunk.subarray(start), line: now };
    at = end + 1;
    now++;
    if (now === from) start = at;
  }
  return { part: start < 0 ? chunk.subarray(0, 0) : chunk.subarray(start, at), line: now };
}

function withoutLineEnd(bytes: Uint8Array): Uint8Array {
  if (bytes.at(-1) !== LINE_FEED) return bytes;
  return bytes.subarray(0, bytes.at(-2) === 13 ? -2 : -1);
}

function numbered(text: string, from: number): string {
  if (text === "") return "";
  const ended = text.endsWith("\n");
  const lines = (ended ? text.slice(0, -1) : text).split("\n");
  const width = Math.max(4, String(from + lines.length).length);
  return lines.map((line, at) => `${String(from + at).padStart(width)}  ${line}`).join("\n") + (ended ? "\n" : "");
}

function tooLong(place: WorkspacePath, size: number): RangeError {
  return tooLarge(`Cannot read all of ${place.path}`, {
    size,
    most: MAX_READ_BYTES,
    by: "the limit is",
    wayOut: `read lines with fs.readFile(${JSON.stringify(place.path)}, {from: 1, to: 2000}), or search with fs.grep`,
  });
}

type ReadEntry = { readonly path: string; readonly text: string } | {
  readonly path: string;
  readonly error: string;
};

const MAX_FILES = 5_000;
const MAX_TOTAL = 16 * 1024 * 1024;

export async function readFiles(
  context: FsContext,
  wanted: string | readonly string[],
  options: ReadFileOptions = {},
): Promise<ReadEntry[]> {
  if (wanted.length > MAX_FILES && typeof wanted !== "string") throw tooMany(wanted.length);
  const paths = await pathsOf(context, typeof wanted === "string" ? [wanted] : wanted);
  if (paths.length > MAX_FILES) throw tooMany(paths.length);
  const entries: ReadEntry[] = [];
  let total = 0;
  const pace = new Pace(context.signal);
  for (const path of paths) {
    if (pace.due) await pace.rest();
    const entry = await readOne(context, path, options);
    total += "text" in entry ? entry.text.length : 0;
    entries.push(
      total <= MAX_TOTAL ? entry : {
        path: entry.path,
        error:
          `Cannot read ${entry.path}: the files up to this file have more than ${MAX_TOTAL} characters, the limit ` +
          "of a call; read this file in another call",
      },
    );
  }
  return entries;
}

function tooMany(count: number): RangeError {
  return advised(new RangeError(`Cannot read ${count} files at once: the limit is ${MAX_FILES}`), "read fewer");
}

async function readOne(context: FsContext, path: Wanted, options: ReadFileOptions): Promise<ReadEntry> {
  if (typeof path !== "string") return path;
  try {
    return { path, text: await readFile(context, path, options) };
  } catch (error) {
    context.signal?.throwIfAborted();
    return { path, error: messageOf(error) };
  }
}

type Wanted = string | { readonly path: string; readonly error: string };

async function pathsOf(context: FsContext, wanted: readonly string[]): Promise<Wanted[]> {
  const excluded = wanted.filter((one) => one.startsWith("!"));
  const paths = new Set<Wanted>();
  for (const one of wanted) {
    if (one.startsWith("!")) continue;
    if (!GlobMatcher.isPattern(one) || confine(context, one).info !== null) {
      paths.add(one);
      continue;
    }
    const found = await findFiles(context, [one, ...excluded]);
    if (found.length === 0) {
      paths.add({
        path: one,
        error: `Cannot read ${one}: Vis found no file for this pattern; list the files with fs.glob`,
      });
    }
    for (const path of found) paths.add(path);
  }
  return [...paths];
}
