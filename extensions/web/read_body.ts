import { pipeline, Readable } from "node:stream";
import { createUnzip } from "node:zlib";
import type { HttpAnswer } from "./http_exchange.ts";

export interface Body {
  readonly bytes: Uint8Array<ArrayBuffer>;
  /** Whether there is more than requested. */
  readonly truncated: boolean;
}

/** Up to `maxBytes` of a body, after decompression: no more than that is ever decompressed. */
export async function readResponseBody(
  { headers, body }: HttpAnswer,
  { maxBytes }: { readonly maxBytes: number },
): Promise<Body> {
  const coding = headers.get("content-encoding")?.trim().toLowerCase() ?? "";
  if (coding === "" || coding === "identity") return await collect(body, maxBytes);
  if (!["gzip", "x-gzip", "deflate"].includes(coding)) {
    throw new Error(`The answer is encoded as ${coding.slice(0, 40)}, which was not asked for`);
  }
  const unzip = createUnzip({ chunkSize: 64 << 10 });
  pipeline(Readable.from(body), unzip, () => {}); // a failure surfaces when it is read
  return await collect(unzip, maxBytes);
}

async function collect(parts: AsyncIterable<Uint8Array>, maxBytes: number): Promise<Body> {
  let bytes = new Uint8Array(Math.min(maxBytes, 64 << 10));
  let length = 0;
  for await (const part of parts) {
    const taken = part.subarray(0, maxBytes - length);
    if (length + taken.length > bytes.length) {
      const larger = new Uint8Array(Math.min(maxBytes, Math.max(2 * bytes.length, length + taken.length)));
      larger.set(bytes.subarray(0, length));
      bytes = larger;
    }
    bytes.set(taken, length);
    length += taken.length;
    if (taken.length < part.length) return { bytes: bytes.slice(0, length), truncated: true };
  }
  return { bytes: bytes.slice(0, length), truncated: false };
}
