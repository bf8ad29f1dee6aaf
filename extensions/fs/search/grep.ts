import { confine, type Workspace } from "../confine.ts";
import type { FsContext } from "../context.ts";
import { missing, withFolders } from "../find_files.ts";
import { isUnseenSecret } from "../read/read_place.ts";
import { sizeText } from "../tree/tree.ts";
import { GlobMatcher } from "../walk/glob_matcher.ts";
import { walk } from "../walk/walk.ts";
import { FileSearcher, type HitTaker } from "./file_searcher.ts";
import type { Hit, MatchOptions } from "./line_scanner.ts";
import { Pace } from "@vis/extension";

export interface GrepOptions extends MatchOptions {
  /** Files or folders; the workspace by default. */
  readonly path?: string | readonly string[] | undefined;
  /** Only files that match; without `/`, it is matched against the name. */
  readonly glob?: string | readonly string[] | undefined;
  /** Lines before and after each hit. */
  readonly context?: number | undefined;
  /** Stops after this many hits. */
  readonly limit?: number | undefined;
  /** Includes ignored files. */
  readonly all?: boolean | undefined;
}

/** Most files in a note. */
const MAX_NAMED = 5;

/** Where `count` searches. */
export type CountOptions = Omit<GrepOptions, "context" | "limit">;

/** Matching lines: the first ones up to the limit, or all of them. Throws RangeError if no limit was asked for and there
 * are more than 500. */
export async function grep(context: FsContext, pattern: string, options: GrepOptions = {}): Promise<Hit[]> {
  const pace = new Pace(context.signal);
  const tally = new HitTally(options.limit);
  using searcher = searcherFor(context, { pattern, options, tally, pace });
  const skipped: string[] = [];
  for await (const file of filesOf(context, options, { pace, skipped })) {
    await searchFile(context, searcher, file);
    if (tally.full) break;
  }
  await searcher.finish();
  noteSkipped(context, skipped);
  return tally.hits();
}

/** How many lines match. */
export async function count(context: FsContext, pattern: string, options: CountOptions = {}): Promise<number> {
  const pace = new Pace(context.signal);
  let lines = 0;
  const tally: HitTaker = {
    most: 0,
    full: false,
    add: () => ++lines > 0,
    count: (_path, hits) => void (lines += hits),
  };
  using searcher = searcherFor(context, { pattern, options, tally, pace });
  const skipped: string[] = [];
  for await (const file of filesOf(context, options, { pace, skipped })) await searchFile(context, searcher, file);
  await searcher.finish();
  noteSkipped(context, skipped);
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
  return new FileSearcher(context, { pattern, match: { ignoreCase, literal }, around, tally, pace });
}

async function searchFile(context: FsContext, searcher: FileSearcher, file: Candidate): Promise<void> {
  const outcome = await searcher.search(file);
  if (outcome !== "binary" || !file.named) return;
  throw new Error(`Cannot search ${file.path}: binary file, ${sizeText(confine(context, file.path).info?.size ?? 0)}`);
}

interface Candidate {
  readonly path: string;
  readonly real: string;
  /** The caller named exactly this file. */
  readonly named: boolean;
}

/** Tells the model which files were not searched. */
function noteSkipped({ note }: FsContext, skipped: readonly string[]): void {
  if (skipped.length === 0) return;
  const more = skipped.length > MAX_NAMED ? ` and ${skipped.length - MAX_NAMED} more` : "";
  note(
    `Not searched, since they may hold keys: ${
      skipped.slice(0, MAX_NAMED).join(", ")
    }${more}; fs.readFile asks the user`,
  );
}

async function* filesOf(
  context: FsContext,
  options: GrepOptions,
  { pace, skipped }: { readonly pace: Pace; readonly skipped: string[] },
): AsyncGenerator<Candidate> {
  const starts = options.path === undefined ? [] : [options.path].flat();
  const glob = options.glob === undefined ? null : globOf(context, options.glob);
  const seen = new Set<string>();
  for (const start of starts.length > 0 ? starts : ["."]) {
    const place = confine(context, start);
    if (place.info === null) throw await missing(context, { action: "search", path: place.path });
    if (place.info.kind !== "dir") {
      if (isUnseenSecret(context, place)) {
        throw new Error(`Cannot search ${place.path}: it may hold keys; fs.readFile asks the user`);
      }
      if (!seen.has(place.path)) yield { path: place.path, real: place.real, named: true };
      seen.add(place.path);
      continue;
    }
    const below = place.path === "." ? 0 : place.path.length + 1;
    for (
      const entry of walk({
        tree: context.tree,
        start: place.real,
        named: place.path,
        all: options.all ?? false,
        depth: Infinity,
      })
    ) {
      if (pace.due) await pace.rest();
      if (entry === null) continue;
      if (entry.type !== "file" || seen.has(entry.path)) continue;
      if (glob && !glob.matches(entry.path) && !glob.matches(entry.path.slice(below))) continue;
      if (starts.length > 1) seen.add(entry.path);
      if (isUnseenSecret(context, entry)) {
        skipped.push(entry.path);
        continue;
      }
      yield { path: entry.path, real: entry.real, named: false };
    }
  }
}

function globOf(workspace: Workspace, glob: string | readonly string[]): GlobMatcher {
  const patterns = withFolders(workspace, typeof glob === "string" ? [glob] : glob);
  return new GlobMatcher(patterns.map((one) => {
    const [not, pattern] = one.startsWith("!") ? ["!", one.slice(1)] : ["", one];
    return pattern.includes("/") ? one : `${not}**/${pattern}`;
  }));
}

/** How many hits are listed if no limit is asked for. */
const DEFAULT_HITS = 500;
/** Limit of the text of all hits together, in characters. */
const MAX_CHARS = 16 * 1024 * 1024;

/** Collects hits: as many as were asked for, or all of them up to the default. */
class HitTally {
  readonly #limit: number | undefined;
  readonly #kept: Hit[] = [];
  readonly #files = new Set<string>();
  #chars = 0;
  #more = 0;

  constructor(limit?: number) {
    this.#limit = limit;
  }

  /** How many hits are listed at most. */
  get most(): number {
    return this.#limit ?? DEFAULT_HITS;
  }

  /** True if the caller has what was asked for. */
  get full(): boolean {
    return this.#limit !== undefined && this.#more > 0;
  }

  /** True if further hits are only counted. */
  get counting(): boolean {
    return this.#kept.length >= this.most;
  }

  /** Returns false once no more are needed. */
  add(hit: Hit): boolean {
    this.#files.add(hit.path);
    if (this.counting) this.#more++;
    else this.#keep(hit);
    return !this.full;
  }

  /** Counts hits of a file that are not listed individually. */
  count(path: string, hits: number): void {
    if (hits === 0) return;
    this.#more += hits;
    this.#files.add(path);
  }

  /** Throws RangeError if there are more than the default and no limit was asked for: a list that is cut could be taken
   * for all there is. */
  hits(): Hit[] {
    if (this.#limit !== undefined || this.#more === 0) return this.#kept;
    const all = this.#kept.length + this.#more;
    throw new RangeError(
      `Cannot list ${all} hits in ${this.#files.size} file${
        this.#files.size === 1 ? "" : "s"
      }: ${DEFAULT_HITS} is the most without a limit; ` +
        `narrow pattern, path or glob, count with fs.count(pattern, where), or ask for them: {limit: ${all}}`,
    );
  }

  #keep(hit: Hit): void {
    this.#kept.push(hit);
    for (const text of [hit.text, ...hit.before ?? []]) this.#chars += text.length;
    if (this.#chars <= MAX_CHARS) return;
    throw new RangeError(
      `Cannot list ${this.#kept.length} hits: their text is over 16 MB; ask for a lower limit, path by path`,
    );
  }
}
