import { Buffer } from "node:buffer";
import { clip } from "../text/clip.ts";
import { UsageError } from "../errors.ts";
import type { Image } from "./image.ts";
import { imageMediaType } from "./media_type.ts";

/** Services refuse larger ones. */
export const MAX_IMAGE_BYTES = 5_000_000;

const DATA_URL = /^data:[\w+./-]*(?:;[\w=.+-]+)*;base64,/i;
const MAX_URL_CHARS = 4_000;

/** Reads an image from its bytes, or from an http, https or base64 `data:` URL; `name` identifies it in errors. The
 * type is detected from the first bytes; what a file or data URL declares is ignored. Throws `UsageError` for anything
 * else. */
export function readImage(source: Uint8Array<ArrayBuffer> | string, name: string): Image {
  const shown = clip(name, 200);
  if (typeof source === "string" && !DATA_URL.test(source)) return byAddress(source, shown);
  const bytes = typeof source === "string" ? decoded(source) : source;
  if (bytes.length > MAX_IMAGE_BYTES) throw tooLarge(shown, bytes.length);
  const mediaType = imageMediaType(bytes);
  if (mediaType === null) throw new UsageError(`Cannot use image ${shown}: it is not a PNG, JPEG, GIF or WebP image`);
  return { kind: "bytes", mediaType, bytes };
}

function tooLarge(name: string, bytes: number): UsageError {
  return new UsageError(`Cannot use image ${name}: ${bytes} bytes, the limit is ${MAX_IMAGE_BYTES}`);
}

function decoded(url: string): Uint8Array<ArrayBuffer> {
  return new Uint8Array(Buffer.from(url.slice(url.indexOf(",") + 1), "base64"));
}

function byAddress(url: string, name: string): Image {
  const parsed = URL.canParse(url) ? new URL(url) : null;
  if (parsed?.protocol !== "https:" && parsed?.protocol !== "http:") {
    throw new UsageError(`Cannot use image ${name}: its address must be http, https or a base64 data URL`);
  }
  if (url.length > MAX_URL_CHARS) throw new UsageError(`Cannot use image ${name}: its address is too long`);
  return { kind: "url", url };
}
