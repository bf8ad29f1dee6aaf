import { abortable } from "./concurrency.ts";

/** Bytes that arrive in pieces. However small the pieces are, they take little more memory than their bytes. */
export class ByteBuffer {
  #bytes: Uint8Array<ArrayBuffer> = new Uint8Array();
  #length = 0;

  get length(): number {
    return this.#length;
  }

  /** What is kept, until the next change. */
  get bytes(): Uint8Array<ArrayBuffer> {
    return this.#bytes.subarray(0, this.#length);
  }

  /** Copies the piece. */
  push(piece: Uint8Array): void {
    const length = this.#length + piece.length;
    if (length > this.#bytes.length) {
      const larger = new Uint8Array(Math.max(length, 2 * this.#bytes.length));
      larger.set(this.bytes);
      this.#bytes = larger;
    }
    this.#bytes.set(piece, this.#length);
    this.#length = length;
  }

  /** Keeps only so many of the newest bytes. */
  keepLast(count: number): void {
    this.#bytes.copyWithin(0, Math.max(0, this.#length - count), this.#length);
    this.#length = Math.min(this.#length, count);
  }

  clear(): void {
    this.#bytes = new Uint8Array();
    this.#length = 0;
  }
}

/** Concatenates the parts into a new buffer. */
export function joinBytes(parts: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  const whole = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}

interface Bounds {
  readonly maxBytes: number;
  readonly tooLarge: () => Error;
  readonly signal?: AbortSignal;
}

/** Reads a stream to its end; throws what `tooLarge` returns as soon as it exceeds `maxBytes`, and the reason
 * of the signal once that is aborted. */
export async function readBounded(
  stream: ReadableStream<Uint8Array>,
  { maxBytes, tooLarge, signal }: Bounds,
): Promise<Uint8Array<ArrayBuffer>> {
  const whole = new ByteBuffer();
  const reader = stream.getReader();
  try {
    for (;;) {
      // The signal of `fetch` does not end the body once its Response is garbage-collected.
      const { done, value } = await abortable(reader.read(), signal);
      if (done) return whole.bytes;
      if (whole.length + value.length > maxBytes) throw tooLarge();
      whole.push(value);
    }
  } catch (error) {
    void reader.cancel().catch(() => {});
    throw error;
  }
}
