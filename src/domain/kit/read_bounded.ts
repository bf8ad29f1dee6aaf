import { abortable } from "./abortable.ts";
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
