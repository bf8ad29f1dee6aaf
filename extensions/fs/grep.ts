import { confine } from "./confine.ts";
import type { FsContext } from "./context.ts";
import { FileSearcher } from "./file_searcher.ts";
import { GlobMatcher } from "./glob_matcher.ts";
import { HitTally } from "./hit_tally.ts";
import type { MatchOptions } from "./line_matcher.ts";
import type { Hit } from "./line_scanner.ts";
import { missing } from "./missing.ts";
import { Pace } from "./pace.ts";
import { sizeText } from "./size_text.ts";
import type { Tree } from "./tree.ts";
import { walk } from "./walk.ts";

export interface GrepOptions extends MatchOptions {
  /** Files or folders; the workspace where absent. */
  readonly path?: string | readonly string[] | undefined;
  /** Only files that match; without `/` it is about the name alone. */
  readonly glob?: string | readonly string[] | undefined;
  /** Lines before and after each hit. */
  readonly context?: number | undefined;
  /** Stop after so many hits. */
  readonly limit?: number | undefined;
  /** Ignored files too. */
  readonly all?: boolean | undefined;
}

/** A tree of more is worth the start of a program that searches it with all processors. */
const LARGE_BYTES = 24 * 1024 * 1024;

/** Matching lines, at most 500. Where there are more, a last element with line 0 and path "" says how many: the result
 * is an array of plain data, so the remark must be an element of it. */
export async function grep(context: FsContext, pattern: string, options: GrepOptions = {}): Promise<Hit[]> {
  const pace = new Pace(context.signal);
  const tally = new HitTally(options.limit);
  const { ignoreCase, literal, context: around = 0 } = options;
  using searcher = new FileSearcher(context, { pattern, match: { ignoreCase, literal }, around, tally, pace });
  const { files, counted } = await gather(context, { pattern, options, pace });
  const counts = await counted;
  for (const file of files) {
    const count = counts?.get(file.real);
    if (counts && count === undefined && !file.named) continue;
    if (count !== undefined && tally.counting && !tally.full) {
      tally.count(file.path, count);
      continue;
    }
    const outcome = await searcher.search(file);
    if (outcome === "binary" && file.named) {
      throw new Error(`Cannot search ${file.path}: binary file, ${await sizeOf(context, file.path)}`);
    }
    if (tally.full) break;
  }
  await searcher.finish();
  return tally.hits();
}

/** All files to search, and where they are large, hits of each as another program counts them meanwhile; null where
 * none does. */
async function gather(
  context: FsContext,
  { pattern, options, pace }: { readonly pattern: string; readonly options: GrepOptions; readonly pace: Pace },
) {
  const files: Candidate[] = [];
  let counted: Promise<ReadonlyMap<string, number> | null> | null = null;
  let bytes = 0;
  for await (const file of filesOf(context, options, pace)) {
    files.push(file);
    if (counted !== null || !context.spawn) continue;
    bytes += sizeAt(context.tree, file.real);
    if (bytes < LARGE_BYTES) continue;
    counted = import("./ripgrep_counts.ts").then((one) => one.ripgrepCounts(context, { pattern, options }));
    counted.catch(() => {}); // seen by whoever waits for it
  }
  return { files, counted };
}

function sizeAt(tree: Tree, path: string): number {
  try {
    return tree.look(path)?.size ?? 0;
  } catch {
    return 0;
  }
}

interface Candidate {
  readonly path: string;
  readonly real: string;
  /** The caller named this very file. */
  readonly named: boolean;
}

async function* filesOf(context: FsContext, options: GrepOptions, pace: Pace): AsyncGenerator<Candidate> {
  const starts = options.path === undefined ? [] : [options.path].flat();
  const glob = options.glob === undefined ? null : globOf(options.glob);
  const seen = new Set<string>();
  for (const start of starts.length > 0 ? starts : ["."]) {
    const place = await confine(context, start);
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

async function sizeOf(context: FsContext, path: string): Promise<string> {
  return sizeText((await confine(context, path)).info?.size ?? 0);
}
