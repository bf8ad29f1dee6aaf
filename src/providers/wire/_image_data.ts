import { Buffer } from "node:buffer";
import type { Image } from "../../domain/image.ts";

export function base64(bytes: Uint8Array<ArrayBuffer>): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("base64");
}

/** An address that a service can read the image from: its own, or one that holds its bytes. */
export function imageUrl(image: Image): string {
  return image.kind === "url" ? image.url : `data:${image.mediaType};base64,${base64(image.bytes)}`;
}
