import { confine } from "../workspace/confine.ts";
import type { FsContext } from "../workspace/context.ts";
import { FileSearcher, type HitTaker } from "./file_searcher.ts";
import { GlobMatcher } from "../walk/glob_matcher.ts";
import { HitTally } from "./hit_tally.ts";
import type { MatchOptions } from "./line_matcher.ts";
import type { Hit } from "./line_scanner.ts";
import { missing } from "../workspace/missing.ts";
import { Pace } from "../tree/pace.ts";
import { scanFile } from "./scan_file.ts";
import { sizeText } from "../tree/size_text.ts";
import { PROBE } from "../tree/text_bytes.ts";
import type { Tree } from "../tree/tree.ts";
import { sizeAt, walk } from "../walk/walk.ts";
import { WalkFilter } from "../walk/walk_filter.ts";

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

/** For larger trees it is worth starting a program that searches with all processors. */
const LARGE_BYTES = 12 * 1024 * 1024;
/** Trees that exceeded that size when they were last walked. */
const KNOWN_LARGE = new WeakSet<Tree>();

/** Where `count` searches. */
export type CountOptions = Omit<GrepOptions, "context" | "limit">;

/** Matching lines: the first ones up to the limit, or all of them. Throws RangeError if no limit was asked for and there
 * are more than 500. */
export async function grep(context: FsContext, pattern: string, options: GrepOptions = {}): Promise<Hit[]> {
  const pace = new Pace(context.signal);
  const tally = new HitTally(options.limit);
  using searcher = searcherFor(context, { pattern, options, tally, pace });
  const { files, counts } = await gather(context, { pattern, options, pace });
  for (const file of files) {
    const count = counts?.get(file.real);
    if (count !== undefined && tally.counting && !tally.full) {
      if (await isText(context, { file, pace })) tally.count(file.path, count);
      continue;
    }
    await searchFile(context, searcher, file);
    if (tally.full) break;
  }
  await searcher.finish();
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
  const { files } = await gather(context, { pattern, options, pace });
  for (const file of files) await searchFile(context, searcher, file);
  await searcher.finish();
  return lines;
}

/** The other program counts in binary files as well. */
async function isText(
  { tree }: FsContext,
  { file, pace }: { readonly file: Candidate; readonly pace: Pace },
): Promise<boolean> {
  const enough = () => Promise.resolve(false);
  return await scanFile(tree, file.real, { chunk: PROBE, pace, take: enough }) === "searched";
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

interface Gathered {
  readonly files: readonly Candidate[];
  /** Hits per file as counted by another program; null if none did. */
  readonly counts: ReadonlyMap<string, number> | null;
}

/** The files to search. If they are large, another program determines which of them have hits. */
async function gather(
  context: FsContext,
  { pattern, options, pace }: { readonly pattern: string; readonly options: GrepOptions; readonly pace: Pace },
): Promise<Gathered> {
  const files: Candidate[] = [];
  const ask = async (): Promise<Gathered | null> => {
    const { ripgrepCounts } = await import("./ripgrep_counts.ts");
    const counts = await ripgrepCounts(context, { pattern, options });
    if (counts) KNOWN_LARGE.add(context.tree);
    else KNOWN_LARGE.delete(context.tree);
    return counts && { counts, files: walkedOf(context, { counts, options }) };
  };
  let wanted = context.spawn !== undefined && options.path === undefined;
  if (wanted && options.glob === undefined && KNOWN_LARGE.has(context.tree)) {
    const gathered = await ask();
    if (gathered) return gathered;
    wanted = false;
  }
  let bytes = 0;
  for await (const file of filesOf(context, options, pace)) {
    files.push(file);
    if (!wanted) continue;
    bytes += sizeAt(context.tree, file.real);
    if (bytes < LARGE_BYTES) continue;
    const gathered = await ask();
    if (gathered) return gathered;
    wanted = false;
  }
  return { files, counts: null };
}

/** The files that a walk would visit, in its order. */
function walkedOf(
  { tree }: FsContext,
  { counts, options }: { readonly counts: ReadonlyMap<string, number>; readonly options: GrepOptions },
): readonly Candidate[] {
  const glob = options.glob === undefined ? null : globOf(options.glob);
  const passes = new WalkFilter(tree, { all: options.all ?? false });
  return [...counts.keys()].filter((path) => (glob === null || glob.matches(path)) && passes.file(path))
    .map((path) => ({ path, parts: path.split("/") })).sort((a, b) => inWalkOrder(a.parts, b.parts))
    .map(({ path }) => ({ path, real: path, named: false }));
}

function inWalkOrder(a: readonly string[], b: readonly string[]): number {
  const at = a.findIndex((part, index) => part !== b[index]);
  if (at < 0) return a.length - b.length;
  const [mine = "", other = ""] = [a[at], b[at]];
  return mine < other ? -1 : 1;
}

interface Candidate {
  readonly path: string;
  readonly real: string;
  /** The caller named exactly this file. */
  readonly named: boolean;
}

async function* filesOf(context: FsContext, options: GrepOptions, pace: Pace): AsyncGenerator<Candidate> {
  const starts = options.path === undefined ? [] : [options.path].flat();
  const glob = options.glob === undefined ? null : globOf(options.glob);
  const seen = new Set<string>();
  for (const start of starts.length > 0 ? starts : ["."]) {
    const place = confine(context, start);
    if (place.info === null) throw await missing(context, { action: "search", path: place.path });
    if (place.info.kind !== "dir") {
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
      yield { path: entry.path, real: entry.real, named: false };
    }
  }
}

function globOf(glob: string | readonly string[]): GlobMatcher {
  const patterns = typeof glob === "string" ? [glob] : glob;
  return new GlobMatcher(patterns.map((one) => {
    const [not, pattern] = one.startsWith("!") ? ["!", one.slice(1)] : ["", one];
    return pattern.includes("/") ? one : `${not}**/${pattern}`;
  }));
}
