import { confine } from "./confine.ts";
import type { FsContext } from "./context.ts";
import { GlobMatcher } from "./glob_matcher.ts";
import { LineMatcher, type MatchOptions } from "./line_matcher.ts";
import { type Hit, LineScanner } from "./line_scanner.ts";
import { missing } from "./missing.ts";
import { Pace } from "./pace.ts";
import { scanFile } from "./scan_file.ts";
import { sizeText } from "./size_text.ts";
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

const MAX_HITS = 500;

/** Matching lines, at most 500. Where there are more, a last element with line 0 and path "" says how many: the result
 * is an array of plain data, so the remark must be an element of it. */
export async function grep(context: FsContext, pattern: string, options: GrepOptions = {}): Promise<Hit[]> {
  const matcher = new LineMatcher(pattern, options);
  const pace = new Pace(context.signal);
  const tally = new Tally(options.limit);
  for await (const { path, real, named } of filesOf(context, options, pace)) {
    const scanner = new LineScanner({ path, matcher, context: options.context ?? 0, onHit: (hit) => tally.add(hit) });
    const outcome = await scanFile(context.tree, real, { scanner, pace });
    if (outcome === "binary" && named) {
      throw new Error(`Cannot search ${path}: binary file, ${await sizeOf(context, path)}`);
    }
    if (tally.full) break;
  }
  return tally.hits();
}

/** Collects hits up to the cap and counts those beyond it. */
class Tally {
  readonly #limit: number | undefined;
  readonly #kept: Hit[] = [];
  readonly #files = new Set<string>();
  #more = 0;

  constructor(limit: number | undefined) {
    this.#limit = limit;
  }

  /** True when the limit that the caller set was passed. */
  get full(): boolean {
    return this.#limit !== undefined && this.#more > 0;
  }

  add(hit: Hit): boolean {
    if (this.#kept.length < Math.min(this.#limit ?? MAX_HITS, MAX_HITS)) this.#kept.push(hit);
    else {
      this.#more++;
      this.#files.add(hit.path);
    }
    return !this.full;
  }

  hits(): Hit[] {
    if (this.#more === 0) return this.#kept;
    const text = this.full
      ? `… more hits: stopped at ${this.#kept.length}`
      : `… ${this.#more} more hits in ${this.#files.size} files, ${
        this.#kept.length + this.#more
      } in all; narrow pattern, path or glob`;
    return [...this.#kept, { path: "", line: 0, text }];
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
