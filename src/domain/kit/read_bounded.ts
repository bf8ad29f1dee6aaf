import { joinBytes } from "./join_bytes.ts";

/** Reads a stream to its end; throws what `tooLarge` returns as soon as it exceeds `maxBytes`. */
export async function readBounded(
  stream: AsyncIterable<Uint8Array>,
  { maxBytes, tooLarge }: { readonly maxBytes: number; readonly tooLarge: () => Error },
): Promise<Uint8Array<ArrayBuffer>> {
  const parts: Uint8Array[] = [];
  let length = 0;
  for await (const part of stream) {
    length += part.length;
    if (length > maxBytes) throw tooLarge();
    parts.push(part);
  }
  return joinBytes(parts);
}
