import { ByteBuffer } from "./byte_buffer.ts";

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
  // The signal of `fetch` does not end the body once its Response is garbage-collected.
  const source = signal ? stream.pipeThrough(new TransformStream<Uint8Array, Uint8Array>(), { signal }) : stream;
  for await (const part of source) {
    if (whole.length + part.length > maxBytes) throw tooLarge();
    whole.push(part);
  }
  return whole.bytes;
}
