import { ByteBuffer } from "./byte_buffer.ts";

/** Reads a stream to its end; throws what `tooLarge` returns as soon as it exceeds `maxBytes`. */
export async function readBounded(
  stream: AsyncIterable<Uint8Array>,
  { maxBytes, tooLarge }: { readonly maxBytes: number; readonly tooLarge: () => Error },
): Promise<Uint8Array<ArrayBuffer>> {
  const whole = new ByteBuffer();
  for await (const part of stream) {
    if (whole.length + part.length > maxBytes) throw tooLarge();
    whole.push(part);
  }
  return whole.bytes;
}
