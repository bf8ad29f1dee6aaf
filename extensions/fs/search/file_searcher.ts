import type { FsContext } from "../workspace/context.ts";
import type { Hit } from "./line_scanner.ts";
import { LineMatcher, type MatchOptions } from "./line_matcher.ts";
import { LineScanner } from "./line_scanner.ts";
import type { Pace } from "../tree/pace.ts";
import { scanFile, type ScanOutcome } from "./scan_file.ts";
import { SearchWorkerLink } from "./search_worker_link.ts";

/** What becomes of the hits. */
export interface HitTaker {
  /** How many are of use one by one. */
  readonly most: number;
  /** True if no more are needed. */
  readonly full: boolean;
  /** Returns false once no more are needed. */
  add(hit: Hit): boolean;
  /** Further hits of a file. */
  count(path: string, hits: number): void;
}

export interface FileSearchOptions {
  readonly pattern: string;
  readonly match: MatchOptions;
  /** Lines of context around each hit. */
  readonly around: number;
  readonly tally: HitTaker;
  readonly pace: Pace;
}

interface Candidate {
  /** As shown in hits. */
  readonly path: string;
  readonly real: string;
}

const CHUNK = 64 * 1024;
const WORKER_CHUNK = 256 * 1024;
/** Pieces in flight. */
const AHEAD = 16;

/** Searches files one after the other: here, in small pieces, if the pattern's time is bounded; otherwise in a worker. */
export class FileSearcher implements Disposable {
  readonly #context: FsContext;
  readonly #options: FileSearchOptions;
  readonly #matcher: LineMatcher;
  readonly #worker: SearchWorkerLink | null;
  readonly #flying: Promise<void>[] = [];

  /** Throws as `LineMatcher` does. */
  constructor(context: FsContext, options: FileSearchOptions) {
    const { pattern, match, around, tally } = options;
    this.#context = context;
    this.#options = options;
    this.#matcher = new LineMatcher(pattern, match);
    this.#worker = this.#matcher.isHeavy ? new SearchWorkerLink(context.signal) : null;
    this.#worker?.begin({ type: "begin", pattern, options: match, context: around, most: tally.most + 1 });
  }

  search(candidate: Candidate): Promise<ScanOutcome> {
    return this.#worker ? this.#sent(candidate, this.#worker) : this.#here(candidate);
  }

  async #here({ path, real }: Candidate): Promise<ScanOutcome> {
    const { around, tally, pace } = this.#options;
    const scanner = new LineScanner({
      path,
      matcher: this.#matcher,
      context: around,
      onHit: (hit) => tally.add(hit),
    });
    const decoder = new TextDecoder();
    return await scanFile(this.#context.tree, real, {
      chunk: CHUNK,
      pace,
      take: (bytes, isLast) => scanner.push(decoder.decode(bytes, { stream: !isLast }), pace),
    });
  }

  /** Files are read while the worker searches earlier ones; hits still come in order. */
  async #sent({ path, real }: Candidate, worker: SearchWorkerLink): Promise<ScanOutcome> {
    const { tally, pace } = this.#options;
    return await scanFile(this.#context.tree, real, {
      chunk: WORKER_CHUNK,
      pace,
      take: async (bytes, last) => {
        if (this.#flying.length >= AHEAD) await this.#flying.shift();
        const answered = worker.send({ type: "piece", path, bytes, last }).then(({ hits, more }) => {
          for (const hit of hits) tally.add(hit);
          tally.count(path, more);
        });
        answered.catch(() => {}); // handled by whoever awaits it
        this.#flying.push(answered);
        return !tally.full;
      },
    });
  }

  /** Resolves when everything is searched. */
  async finish(): Promise<void> {
    for (const answered of this.#flying.splice(0)) await answered;
  }

  [Symbol.dispose](): void {
    this.#worker?.[Symbol.dispose]();
  }
}
