import { confine, type Workspace } from "../workspace/confine.ts";
import type { FsContext } from "../workspace/context.ts";
import { withFolders } from "./find_files.ts";
import { FileSearcher, type HitTaker } from "./file_searcher.ts";
import { GlobMatcher } from "../walk/glob_matcher.ts";
import { HitTally } from "./hit_tally.ts";
import type { MatchOptions } from "./line_matcher.ts";
import type { Hit } from "./line_scanner.ts";
import { isUnseenSecret } from "../workspace/secrets.ts";
import { missing } from "../workspace/missing.ts";
import { Pace } from "../../../src/extension/spec.ts";
import { sizeText } from "../tree/size_text.ts";
import { walk } from "../walk/walk.ts";

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
