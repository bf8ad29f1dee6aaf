import type { FsContext } from "../context.ts";
import type { OpenFile, Tree } from "../tree/tree.ts";
import { type Hit, LineMatcher, LineScanner, type MatchOptions } from "./line_scanner.ts";
import type { SearchOrder, SearchPiece, SearchReply } from "./search_worker.ts";
import { advised, decodeText, type Pace } from "@vis/extension";
import { clearTimeout, setTimeout } from "node:timers";

export interface HitTaker {
  readonly most: number;
  readonly full: boolean;
  add(hit: Hit): boolean;
  count(path: string, hits: number): void;
}

interface FileSearchOptions {
  readonly pattern: string;
  readonly match: MatchOptions;
  readonly around: number;
  readonly tally: HitTaker;
  readonly pace: Pace;
}

interface Candidate {
  readonly path: string;
  readonly real: string;
}

const MESSAGE_CHARS = 256 * 1024, AHEAD = 8;

export class FileSearcher implements Disposable {
  readonly #options: FileSearchOptions;
  readonly #matcher: LineMatcher;
  readonly #worker: SearchWorkerLink | null;
  readonly #flying: Promise<void>[] = [];
  #gathered: SearchPiece[] = [];
  #chars = 0;
  readonly #tree: Tree & Disposable;
  readonly #buffer = new Uint8Array(PIECE_BYTES + 1);

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
    if (isOpen) await take("", true);
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
    answered.catch(() => {});
    this.#flying.push(answered);
  }

  async finish(): Promise<void> {
    if (this.#worker && this.#gathered.length > 0) this.#send(this.#worker);
    for (const answered of this.#flying.splice(0)) await answered;
  }

  [Symbol.dispose](): void {
    this.#worker?.[Symbol.dispose]();
    this.#tree[Symbol.dispose]();
  }
}

type ScanOutcome = "searched" | "binary" | "unreadable";

interface ScanOptions {
  readonly buffer: Uint8Array<ArrayBuffer>;
  readonly pace: Pace;
  readonly take: (text: string, isLast: boolean) => Promise<boolean>;
}

/** A file up to this size is one piece, so that reading and searching detect the encoding from the same bytes. */
const PIECE_BYTES = 1024 * 1024;
const HEAD_BYTES = 64 * 1024;
const READ_BYTES = 256 * 1024;
const LINE_FEED = 10;

export async function scanFile(tree: Tree, path: string, { buffer, pace, take }: ScanOptions): Promise<ScanOutcome> {
  let file: OpenFile;
  try {
    file = tree.open(path);
  } catch {
    return "unreadable";
  }
  using opened = file;
  let wide: string | undefined;
  let used = 0;
  for (let first = true;; first = false) {
    let isLast = false;
    while (!isLast && used < buffer.length) {
      if (pace.due) await pace.rest();
      const into = buffer.subarray(used, used + READ_BYTES);
      const count = readOr(opened, into);
      if (count === null) return "unreadable";
      used += count;
      isLast = count === 0 || first && count < into.length && used === opened.facts.size;
    }
    const bytes = buffer.subarray(0, used);
    if (first && !isLast) wide = wideEncodingOf(bytes);
    const piece = isLast ? bytes : bytes.subarray(0, endOfLines(bytes, wide));
    const decoded = decodeText(piece, wide);
    if (first && decoded === null) return "binary";
    if (!await take(decoded?.text ?? new TextDecoder().decode(piece), isLast) || isLast) return "searched";
    buffer.copyWithin(0, piece.length, used);
    used -= piece.length;
  }
}

function readOr(file: OpenFile, into: Uint8Array<ArrayBuffer>): number | null {
  try {
    return file.read(into);
  } catch {
    return null;
  }
}

function wideEncodingOf(bytes: Uint8Array): string | undefined {
  const { encoding = "" } = decodeText(bytes.subarray(0, HEAD_BYTES)) ?? {};
  return encoding.startsWith("utf-16") ? encoding : undefined;
}

function endOfLines(bytes: Uint8Array, wide: string | undefined): number {
  if (wide === undefined) {
    const end = bytes.lastIndexOf(LINE_FEED) + 1;
    if (end > 0) return end;
    let cut = bytes.length;
    while (cut > bytes.length - 4 && ((bytes[cut - 1] ?? 0) & 0xc0) === 0x80) cut--;
    return (bytes[cut - 1] ?? 0) < 0x80 ? bytes.length : cut - 1;
  }
  const isLittle = wide === "utf-16le";
  for (let at = bytes.length & ~1; at >= 2; at -= 2) {
    if (bytes[isLittle ? at - 2 : at - 1] === LINE_FEED && bytes[isLittle ? at - 1 : at - 2] === 0) return at;
  }
  return bytes.length & ~1;
}

const IDLE_MS = 30_000;

interface Waiting {
  readonly resolve: (reply: SearchReply) => void;
  readonly reject: (reason: unknown) => void;
}

class SearchWorkerLink implements Disposable {
  static #idle: { readonly worker: Worker; readonly timer: ReturnType<typeof setTimeout> } | null = null;

  readonly #worker = SearchWorkerLink.#take();
  readonly #signal: AbortSignal | undefined;
  readonly #waiting: Waiting[] = [];
  readonly #stop = (): void => this.#fail(this.#signal?.reason);
  #ended: { readonly reason: unknown } | null = null;

  constructor(signal: AbortSignal | undefined) {
    this.#signal = signal;
    signal?.addEventListener("abort", this.#stop, { once: true });
    this.#worker.onmessage = ({ data }: MessageEvent<SearchReply>) => this.#waiting.shift()?.resolve(data);
    this.#worker.onerror = (event) => {
      event.preventDefault();
      this.#fail(
        advised(new Error(`Cannot search the files: the search worker failed (${event.message})`), "try again"),
      );
    };
    if (signal?.aborted) this.#stop();
  }

  begin(order: SearchOrder & { readonly type: "begin" }): void {
    if (!this.#ended) this.#worker.postMessage(order);
  }

  send(order: SearchOrder & { readonly type: "pieces" }): Promise<SearchReply> {
    const { promise, resolve, reject } = Promise.withResolvers<SearchReply>();
    if (this.#ended) reject(this.#ended.reason);
    else {
      this.#waiting.push({ resolve, reject });
      this.#worker.postMessage(order);
    }
    return promise;
  }

  [Symbol.dispose](): void {
    this.#signal?.removeEventListener("abort", this.#stop);
    if (this.#ended) return;
    if (SearchWorkerLink.#idle || this.#waiting.length > 0) return this.#worker.terminate();
    const worker = this.#worker;
    const timer = setTimeout(SearchWorkerLink.endIdle, IDLE_MS);
    timer.unref();
    SearchWorkerLink.#idle = { worker, timer };
  }

  static endIdle(this: void): void {
    const idle = SearchWorkerLink.#idle;
    if (!idle) return;
    SearchWorkerLink.#idle = null;
    clearTimeout(idle.timer);
    idle.worker.terminate();
  }

  static #take(): Worker {
    const idle = SearchWorkerLink.#idle;
    if (!idle) return startWorker();
    SearchWorkerLink.#idle = null;
    clearTimeout(idle.timer);
    return idle.worker;
  }

  #fail(reason: unknown): void {
    if (this.#ended) return;
    this.#ended = { reason };
    this.#worker.terminate();
    for (const { reject } of this.#waiting.splice(0)) reject(reason);
  }
}

function startWorker(): Worker {
  const file = import.meta.url.endsWith(".ts") ? "./search_worker.ts" : "./search_worker.js";
  return new Worker(new URL(file, import.meta.url), { type: "module", deno: { permissions: "none" } });
}
