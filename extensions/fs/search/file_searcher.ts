import type { FsContext } from "../workspace/context.ts";
import type { Hit } from "./line_scanner.ts";
import { LineMatcher, type MatchOptions } from "./line_matcher.ts";
import { LineScanner } from "./line_scanner.ts";
import type { Pace } from "../../../src/extension/spec.ts";
import { PIECE_BYTES, scanFile, type ScanOutcome } from "./scan_file.ts";
import type { SearchPiece } from "./search_order.ts";
import { SearchWorkerLink } from "./search_worker_link.ts";
import type { Tree } from "../tree/tree.ts";

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

/** A message to the worker has about so many characters, and so many messages are in flight. */
const MESSAGE_CHARS = 256 * 1024, AHEAD = 8;

/** Searches files one after the other: here, if the pattern's time is bounded; otherwise in a worker. */
export class FileSearcher implements Disposable {
  readonly #options: FileSearchOptions;
  readonly #matcher: LineMatcher;
  readonly #worker: SearchWorkerLink | null;
  readonly #flying: Promise<void>[] = [];
  /** For the next message to the worker. */
  #gathered: SearchPiece[] = [];
  #chars = 0;
  readonly #tree: Tree & Disposable;
  readonly #buffer = new Uint8Array(PIECE_BYTES + 1);

  /** Throws as `LineMatcher` does. */
  constructor(context: FsContext, options: FileSearchOptions) {
    const { pattern, match, around, tally } = options;
    this.#options = options;
    this.#matcher = new LineMatcher(pattern, match);
    this.#tree = context.tree.held();
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
    return await scanFile(this.#tree, real, {
      buffer: this.#buffer,
      pace,
      take: (text) => scanner.push(text, pace),
    });
  }

  /** Files are read while the worker searches earlier ones; hits still come in order. */
  async #sent({ path, real }: Candidate, worker: SearchWorkerLink): Promise<ScanOutcome> {
    const { tally, pace } = this.#options;
    let isOpen = false;
    const take = async (text: string, last: boolean): Promise<boolean> => {
      isOpen = !last;
      this.#gathered.push({ path, text, last });
      this.#chars += text.length;
      if (this.#chars >= MESSAGE_CHARS) this.#send(worker);
      if (this.#flying.length >= AHEAD) await this.#flying.shift();
      return !tally.full;
    };
    const outcome = await scanFile(this.#tree, real, { buffer: this.#buffer, pace, take });
    if (isOpen) await take("", true); // the next piece is that of another file
    return outcome;
  }

  #send(worker: SearchWorkerLink): void {
    const { tally } = this.#options;
    const pieces = this.#gathered;
    this.#gathered = [];
    this.#chars = 0;
    const answered = worker.send({ type: "pieces", pieces }).then((files) => {
      for (const { path, hits, more } of files) {
        for (const hit of hits) tally.add(hit);
        tally.count(path, more);
      }
    });
    answered.catch(() => {}); // handled by whoever awaits it
    this.#flying.push(answered);
  }

  /** Resolves when everything is searched. */
  async finish(): Promise<void> {
    if (this.#worker && this.#gathered.length > 0) this.#send(this.#worker);
    for (const answered of this.#flying.splice(0)) await answered;
  }

  [Symbol.dispose](): void {
    this.#worker?.[Symbol.dispose]();
    this.#tree[Symbol.dispose]();
  }
}
