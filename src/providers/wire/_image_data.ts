import type { Image } from "../../domain/images/image.ts";

/** A multiple of 3, so that the pieces can be joined, and small enough for the arguments of one call. */
const PIECE = 24_576;

/** Does not use `node:buffer`, which takes longer to load than everything else before a first request. */
export function base64(bytes: Uint8Array): string {
  let text = "";
  for (let at = 0; at < bytes.length; at += PIECE) {
    text += btoa(String.fromCharCode(...bytes.subarray(at, at + PIECE)));
  }
  return text;
}

/** An address from which a service can read the image: its own, or a data URL. */
export function imageUrl(image: Image): string {
  return image.kind === "url" ? image.url : `data:${image.mediaType};base64,${base64(image.bytes)}`;
}
