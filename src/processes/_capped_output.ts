import { joinBytes } from "../domain/kit/join_bytes.ts";

type Bytes = Uint8Array<ArrayBuffer>;

/** Keeps the beginning and the end of an output and counts what is between, so that memory use is bounded. */
export class CappedOutput {
  readonly #half: number;
  readonly #head: Bytes[] = [];
  #tail: Bytes[] = [];
  #headBytes = 0;
  #tailBytes = 0;
  #dropped = 0;

  constructor(maxBytes: number) {
    this.#half = Math.max(1, Math.floor(maxBytes / 2));
  }

  /** Copies the bytes. */
  push(chunk: Bytes): void {
    const room = Math.min(this.#half - this.#headBytes, chunk.length);
    if (room > 0) {
      this.#head.push(chunk.slice(0, room));
      this.#headBytes += room;
    }
    const rest = chunk.subarray(room);
    if (rest.length === 0) return;
    this.#dropped += Math.max(0, rest.length - this.#half);
    this.#tail.push(rest.slice(-this.#half));
    this.#tailBytes += Math.min(rest.length, this.#half);
    // Small chunks are dropped in batches.
    if (this.#tailBytes > 2 * this.#half || this.#tail.length > 4096) this.#trim();
  }

  get truncated(): boolean {
    return this.#dropped > 0 || this.#tailBytes > this.#half;
  }

  /** Invalid UTF-8 and characters that were cut become U+FFFD. */
  text(): string {
    this.#trim();
    const gap = this.#dropped > 0
      ? new TextEncoder().encode(`\n[${this.#dropped} bytes left out]\n`)
      : new Uint8Array();
    return new TextDecoder().decode(joinBytes([...this.#head, gap, ...this.#tail]));
  }

  #trim(): void {
    const all = joinBytes(this.#tail);
    const kept = all.subarray(Math.max(0, all.length - this.#half));
    this.#dropped += all.length - kept.length;
    this.#tail = [kept];
    this.#tailBytes = kept.length;
  }
}
