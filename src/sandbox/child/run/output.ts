import { type Bytes, MAX_OUTPUT_BYTES, OUTPUT_FRAMES_PER_SECOND } from "../../protocol.ts";
import { captured } from "../intrinsics/captured.ts";

const FLUSH_EVERY_MS = 1000 / OUTPUT_FRAMES_PER_SECOND;
/** A UTF-16 unit is at most three bytes of UTF-8. */
const MAX_UNITS = Math.floor(MAX_OUTPUT_BYTES / 3);
const encodeText = TextEncoder.prototype.encode;
const sliceText = String.prototype.slice;
const codeAt = String.prototype.charCodeAt;

export interface OutputChunk {
  readonly stream: 1 | 2;
  readonly payload: Bytes;
}

export interface OutputOptions {
  /** Limit for one block, in characters. */
  readonly cap: number;
  readonly send: (chunk: OutputChunk) => void;
  /** Leaves foreign code first. */
  readonly afterwards: (task: () => void) => void;
}

/** What a block prints: kept up to a limit, counted beyond it, sent in few frames. A block in a loop is never idle, so
 * writing also sends what has waited long enough. */
export class Output {
  readonly #options: OutputOptions;
  readonly #encoder = new captured.TextEncoder();
  readonly #waiting = { 1: "", 2: "" };
  /** Of both streams, in order. */
  #printed = "";
  #kept = 0;
  #dropped = 0;
  #sentAt = 0;
  #open = false;
  /** Sends what a waiting block has printed. */
  #timer: ReturnType<typeof captured.setTimeout> | null = null;
  #asked = false;

  constructor(options: OutputOptions) {
    this.#options = options;
  }

  /** Starts a block; includes what background work printed before it. */
  begin(): void {
    this.#open = true;
    this.#sentAt = captured.now();
  }

  write(stream: 1 | 2, text: string): void {
    const room = this.#options.cap - this.#kept;
    const kept = text.length <= room ? text : piece(text, 0, room);
    this.#dropped += text.length - kept.length;
    this.#kept += kept.length;
    this.#printed += kept;
    this.#waiting[stream] += kept;
    const due = this.#waiting[stream].length >= MAX_UNITS || captured.now() - this.#sentAt >= FLUSH_EVERY_MS;
    if (!this.#open) return;
    if (due) this.#flush();
    else this.#flushLater();
  }

  /** What the block has printed. */
  get printed(): string {
    return this.#printed;
  }

  /** Ends the block; returns how many characters were dropped. */
  end(): number {
    this.#flush();
    const dropped = this.#dropped;
    this.#kept = this.#dropped = 0;
    this.#printed = "";
    this.#open = false;
    return dropped;
  }

  #flushLater(): void {
    if (this.#asked) return;
    this.#asked = true;
    this.#options.afterwards(() => {
      if (this.#asked) this.#timer = captured.setTimeout(() => this.#flush(), FLUSH_EVERY_MS);
    });
  }

  #flush(): void {
    this.#asked = false;
    const timer = this.#timer;
    this.#timer = null;
    if (timer !== null) this.#options.afterwards(() => captured.clearTimeout(timer));
    this.#flushStream(1);
    this.#flushStream(2);
    this.#sentAt = captured.now();
  }

  #flushStream(stream: 1 | 2): void {
    const text = this.#waiting[stream];
    this.#waiting[stream] = "";
    for (let at = 0; at < text.length;) {
      const part = piece(text, at, at + MAX_UNITS);
      at += part.length;
      this.#options.send({ stream, payload: captured.apply(encodeText, this.#encoder, [part]) });
    }
  }
}

/** A slice that does not split a surrogate pair. */
function piece(text: string, from: number, to: number): string {
  const last = to < text.length ? captured.apply(codeAt, text, [to - 1]) : 0;
  const end = last >= 0xd800 && last <= 0xdbff && to - 1 > from ? to - 1 : to;
  return captured.apply(sliceText, text, [from, end]);
}
