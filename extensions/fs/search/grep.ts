import { below, confine, type Workspace, type WorkspacePath } from "../confine.ts";
import type { FsContext } from "../context.ts";
import { byFolder, missing, walkWith, withFolders } from "../find_files.ts";
import { isHiddenSecret, refuseKeyFile } from "../read/read_place.ts";
import { sizeText } from "../tree/tree.ts";
import { GlobMatcher } from "../walk/glob_matcher.ts";
import { plainPath } from "../walk/walk.ts";
import { FileSearcher, type HitTaker } from "./file_searcher.ts";
import type { Hit, MatchOptions } from "./line_scanner.ts";
import { advised, counted, Pace, someOf } from "@vis/extension";
import { join } from "node:path";

export interface GrepOptions extends MatchOptions {
  readonly path?: string | readonly string[] | undefined;
  readonly glob?: string | readonly string[] | undefined;
  readonly context?: number | undefined;
  readonly limit?: number | undefined;
  readonly all?: boolean | undefined;
}

const MAX_NAMED = 5;
const MAX_CONTEXT = 200;

export type CountOptions = Omit<GrepOptions, "limit">;

export async function grep(context: FsContext, pattern: string, options: GrepOptions = {}): Promise<Hit[]> {
  const pace = new Pace(context.signal);
  const tally = new HitTally(options.limit);
  using searcher = searcherFor(context, { pattern, options, tally, pace });
  const around = options.context ?? 0;
  if (around > MAX_CONTEXT) context.note(`fs.grep shows ${MAX_CONTEXT} lines of context at most, not ${around}`);
  const left = new Unsearched(context, options.path);
  for await (const file of filesOf(context, options, { pace, left })) {
    await searchFile(context, searcher, { file, left });
    if (tally.full) break;
  }
  await searcher.finish();
  left.note();
  return tally.hits();
}

export async function count(context: FsContext, pattern: string, options: CountOptions = {}): Promise<number> {
  const pace = new Pace(context.signal);
  let lines = 0;
  const tally: HitTaker = {
    most: 0,
    full: false,
    add: () => ++lines > 0,
    count: (_path, hits) => void (lines += hits),
  };
  using searcher = searcherFor(context, { pattern, options: { ...options, context: 0 }, tally, pace });
  const left = new Unsearched(context, options.path);
  for await (const file of filesOf(context, options, { pace, left })) {
    await searchFile(context, searcher, { file, left });
  }
  await searcher.finish();
  left.note();
  return lines;
}

function searcherFor(
  context: FsContext,
  { pattern, options: { ignoreCase, literal, context: around = 0 }, tally, pace }: {
    readonly pattern: string;
    readonly options: GrepOptions;
    readonly tally: HitTaker;
    readonly pace: Pace;
  },
): FileSearcher {
  const shown = Math.min(around, MAX_CONTEXT);
  return new FileSearcher(context, { pattern, match: { ignoreCase, literal }, around: shown, tally, pace });
}

async function searchFile(
  context: FsContext,
  searcher: FileSearcher,
  { file, left }: { readonly file: Candidate; readonly left: Unsearched },
): Promise<void> {
  const outcome = await searcher.search(file);
  if (outcome !== "binary" || !file.named) return;
  const size = sizeText(confine(context, file.path).info?.size ?? 0);
  left.fail(new Error(`Cannot search ${file.path}: it is a binary file of ${size}`));
}

interface Candidate {
  readonly path: string;
  readonly real: string;
  readonly named: boolean;
}

class Unsearched {
  readonly #note: FsContext["note"];
  readonly #paths: number;
  readonly #keys: string[] = [];
  readonly #faults: Error[] = [];

  constructor({ note }: FsContext, path: GrepOptions["path"] = []) {
    this.#note = note;
    this.#paths = [path].flat().length;
  }

  secret(path: string): void {
    this.#keys.push(path);
  }

  fail(error: Error): void {
    this.#faults.push(error);
    if (this.#faults.length >= this.#paths) throw this.#faults[0] ?? error;
  }

  note(): void {
    if (this.#faults.length > 0) {
      this.#note(
        `${
          someOf(this.#faults.map(({ message }) => message), MAX_NAMED, "; ")
        }; the result covers only the other paths`,
      );
    }
    if (this.#keys.length > 0) {
      this.#note(
        `Vis did not search ${
          someOf(this.#keys, MAX_NAMED)
        }, because such files may hold keys; fs.readFile asks the user`,
      );
    }
  }
}

async function* filesOf(
  context: FsContext,
  options: GrepOptions,
  { pace, left }: { readonly pace: Pace; readonly left: Unsearched },
): AsyncGenerator<Candidate> {
  const starts = options.path === undefined ? [] : [options.path].flat();
  const globs = options.glob === undefined ? [ANY] : globsOf(context, options.glob);
  const isGiven = starts.length > 0;
  const places = isGiven
    ? starts.map((start) => ({ start, globs }))
    : globs.filter(({ start }) => confine(context, start).info?.kind === "dir")
      .map((glob) => ({ start: glob.start, globs: [glob] }));
  const seen = new Set<string>();
  for (const { start, globs } of places) {
    const place = await startAt(context, start, left);
    if (place === null) continue;
    if (place.info?.kind !== "dir") {
      if (!seen.has(place.path)) yield { path: place.path, real: place.real, named: true };
      seen.add(place.path);
      continue;
    }
    const inStart = !isGiven || place.path === "." ? 0 : place.path.length + 1;
    const isWanted = (path: string): boolean =>
      globs.some(({ folder, matches }) =>
        path.startsWith(folder) && matches(below(folder, path)) || matches(path.slice(inStart))
      );
    const named = globs.flatMap(({ folder, bases }) =>
      bases.flatMap((base) => [join(folder, base), join(start, base)])
    );
    for (const entry of walkWith(context, place, { named, all: options.all ?? false, depth: Infinity })) {
      if (pace.due) await pace.rest();
      if (entry === null) continue;
      const path = plainPath(context.tree, entry.path);
      if (entry.type !== "file" || seen.has(path)) continue;
      if (!isWanted(entry.path)) continue;
      if (places.length > 1) seen.add(path);
      if (await isHiddenSecret(context, { path: entry.path, real: entry.real })) {
        left.secret(path);
        continue;
      }
      yield { path, real: entry.real, named: false };
    }
  }
}

async function startAt(context: FsContext, start: string, left: Unsearched): Promise<WorkspacePath | null> {
  let place: WorkspacePath;
  try {
    place = confine(context, start);
    refuseKeyFile(context, { place, action: "search" });
  } catch (error) {
    left.fail(error instanceof Error ? error : new Error(String(error)));
    return null;
  }
  if (place.info === null) left.fail(await missing(context, { action: "search", path: place.path }));
  else if (place.info.kind === "dir" || !await isHiddenSecret(context, place)) return place;
  else left.fail(advised(new Error(`Cannot search ${place.path}: it may hold keys`), "fs.readFile asks the user"));
  return null;
}

interface FolderGlob {
  readonly folder: string;
  readonly start: string;
  readonly bases: readonly string[];
  readonly matches: (path: string) => boolean;
}

const ANY: FolderGlob = { folder: "", start: ".", bases: [], matches: () => true };

function globsOf(workspace: Workspace, glob: string | readonly string[]): readonly FolderGlob[] {
  const patterns = withFolders(workspace, typeof glob === "string" ? [glob] : glob).map((one) => {
    const [not, pattern] = one.startsWith("!") ? ["!", one.slice(1)] : ["", one];
    return pattern.includes("/") ? one : `${not}**/${pattern}`;
  });
  return byFolder(workspace, patterns).map(({ folder, patterns }) => {
    const matcher = new GlobMatcher(patterns, folder === "" ? workspace.tree : undefined);
    const { bases } = matcher, start = join(folder, matcher.start);
    return { folder, start, bases, matches: (path) => matcher.matches(path) };
  });
}

const DEFAULT_HITS = 500;
const MAX_CHARS = 16 * 1024 * 1024;

class HitTally {
  readonly #limit: number | undefined;
  readonly #kept: Hit[] = [];
  readonly #files = new Set<string>();
  #chars = 0;
  #more = 0;

  constructor(limit?: number) {
    this.#limit = limit;
  }

  get most(): number {
    return this.#limit ?? DEFAULT_HITS;
  }

  get full(): boolean {
    return this.#limit !== undefined && this.#more > 0;
  }

  get counting(): boolean {
    return this.#kept.length >= this.most;
  }

  add(hit: Hit): boolean {
    this.#files.add(hit.path);
    if (this.counting) this.#more++;
    else this.#keep(hit);
    return !this.full;
  }

  count(path: string, hits: number): void {
    if (hits === 0) return;
    this.#more += hits;
    this.#files.add(path);
  }

  /** A cut list looks like a complete list, so more hits than the default limit are an error if the caller set no
   * limit. */
  hits(): Hit[] {
    if (this.#limit !== undefined || this.#more === 0) return this.#kept;
    const all = this.#kept.length + this.#more;
    throw advised(
      new RangeError(
        `Cannot list ${all} hits in ${counted(this.#files.size, "file")}: the ` +
          `limit is ${DEFAULT_HITS} unless you set one`,
      ),
      "narrow pattern, path or glob, count with " + `fs.count(pattern, where), or pass {limit: ${all}}`,
    );
  }

  #keep(hit: Hit): void {
    this.#kept.push(hit);
    for (const text of [hit.text, ...hit.before ?? []]) this.#chars += text.length;
    if (this.#chars <= MAX_CHARS) return;
    throw advised(
      new RangeError(
        `Cannot list ${this.#kept.length} hits: their text has more than ${MAX_CHARS} characters, the limit`,
      ),
      "set a lower limit, or search path by path",
    );
  }
}
