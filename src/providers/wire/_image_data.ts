import type { Image } from "../../domain/images/image.ts";

/** A multiple of 3, so that the pieces can be joined, and few enough to be arguments of one call. */
const PIECE = 24_576;

/** Not by `node:buffer`, which takes longer to load than everything else before a first request. */
export function base64(bytes: Uint8Array): string {
  let text = "";
  for (let at = 0; at < bytes.length; at += PIECE) {
    text += btoa(String.fromCharCode(...bytes.subarray(at, at + PIECE)));
  }
  return text;
}

/** An address that a service can read the image from: its own, or one that holds its bytes. */
export function imageUrl(image: Image): string {
  return image.kind === "url" ? image.url : `data:${image.mediaType};base64,${base64(image.bytes)}`;
}
