import { pipeline, Readable } from "node:stream";
import { createUnzip } from "node:zlib";
import { ByteBuffer } from "@vis/extension";
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
  const first = await body.next();
  if (first.done) return { bytes: new Uint8Array(), truncated: false }; // nothing is encoded as nothing
  const unzip = createUnzip({ chunkSize: 64 << 10 });
  pipeline(Readable.from(after(first.value, body)), unzip, () => {}); // a failure surfaces when it is read
  return await collect(unzip, maxBytes);
}

async function* after(first: Uint8Array, rest: HttpAnswer["body"]): AsyncGenerator<Uint8Array> {
  yield first;
  yield* rest;
}

async function collect(parts: AsyncIterable<Uint8Array>, maxBytes: number): Promise<Body> {
  const whole = new ByteBuffer();
  for await (const part of parts) {
    const taken = part.subarray(0, maxBytes - whole.length);
    whole.push(taken);
    if (taken.length < part.length) return { bytes: whole.bytes.slice(), truncated: true };
  }
  return { bytes: whole.bytes.slice(), truncated: false };
}
