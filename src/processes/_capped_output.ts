import { ByteBuffer, joinBytes } from "../domain/kit/bytes.ts";

/** Keeps the beginning and the end of an output and counts what is between, so that memory use is bounded. */
export class CappedOutput {
  readonly #half: number;
  readonly #head = new ByteBuffer();
  readonly #tail = new ByteBuffer();
  #dropped = 0;

  constructor(maxBytes: number) {
    this.#half = Math.max(1, Math.floor(maxBytes / 2));
  }

  /** Copies the bytes. */
  push(chunk: Uint8Array): void {
    const room = Math.min(this.#half - this.#head.length, chunk.length);
    this.#head.push(chunk.subarray(0, room));
    const rest = chunk.subarray(room);
    this.#dropped += Math.max(0, rest.length - this.#half);
    this.#tail.push(rest.subarray(-this.#half));
    // Small chunks are dropped in batches.
    if (this.#tail.length > 2 * this.#half) this.#trim();
  }

  get truncated(): boolean {
    return this.#dropped > 0 || this.#tail.length > this.#half;
  }

  /** Invalid UTF-8 and characters that were cut become U+FFFD. */
  text(): string {
    this.#trim();
    const gap = this.#dropped > 0
      ? new TextEncoder().encode(`\n[${this.#dropped} bytes left out]\n`)
      : new Uint8Array();
    return new TextDecoder().decode(joinBytes([this.#head.bytes, gap, this.#tail.bytes]));
  }

  #trim(): void {
    this.#dropped += Math.max(0, this.#tail.length - this.#half);
    this.#tail.keepLast(this.#half);
  }
}
