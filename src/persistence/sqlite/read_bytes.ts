import { Buffer } from "node:buffer";
import type { FileHandle } from "node:fs/promises";

/** These bytes of a file; fewer at its end. */
export async function readBytes(
  file: FileHandle,
  { from, length }: { readonly from: number; readonly length: number },
): Promise<Buffer> {
  const { buffer, bytesRead } = await file.read(Buffer.alloc(length), 0, length, from);
  return buffer.subarray(0, bytesRead);
}
