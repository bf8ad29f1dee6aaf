import { UsageError } from "./errors.ts";
import { clip } from "./kit/text.ts";
import { Buffer } from "node:buffer";

export type Image =
  | { readonly kind: "bytes"; readonly mediaType: string; readonly bytes: Uint8Array<ArrayBuffer> }
  | { readonly kind: "url"; readonly url: string };

/** Some providers refuse larger images. */
export const MAX_IMAGE_BYTES = 5_000_000;

const DATA_URL = /^data:[\w+./-]*(?:;[\w=.+-]+)*;base64,/i;
const MAX_URL_CHARS = 4_000;

/** The first bytes decide the type, even if a data URL declares another type. Vis does not fetch other URLs. */
export function readImage(source: Uint8Array<ArrayBuffer> | string, name: string): Image {
  const shown = clip(name, 200);
  if (typeof source === "string" && !DATA_URL.test(source)) return byAddress(source, shown);
  const bytes = typeof source === "string" ? decoded(source) : source;
  if (bytes.length > MAX_IMAGE_BYTES) throw tooLarge(shown, bytes.length);
  const mediaType = imageMediaType(bytes);
  if (mediaType === null) {
    throw new UsageError(`Cannot use image ${shown}: it is not a PNG, JPEG, GIF or WebP image; convert it`);
  }
  return { kind: "bytes", mediaType, bytes };
}

function tooLarge(name: string, bytes: number): UsageError {
  return new UsageError(
    `Cannot use image ${name}: it has ${bytes} bytes, more than the limit of ${MAX_IMAGE_BYTES}; make it smaller`,
  );
}

function decoded(url: string): Uint8Array<ArrayBuffer> {
  return new Uint8Array(Buffer.from(url.slice(url.indexOf(",") + 1), "base64"));
}

function byAddress(url: string, name: string): Image {
  const parsed = URL.canParse(url) ? new URL(url) : null;
  if (parsed?.protocol !== "https:" && parsed?.protocol !== "http:") {
    throw new UsageError(
      `Cannot use image ${name}: its address is neither http, https nor a base64 data URL; send one of these`,
    );
  }
  if (url.length > MAX_URL_CHARS) {
    throw new UsageError(
      `Cannot use image ${name}: its address has ${url.length} characters, more than the limit of ${MAX_URL_CHARS}; send the image itself`,
    );
  }
  return { kind: "url", url };
}

/** Some providers refuse HTTP requests with more images. */
const MAX_IMAGES = 20;

export function checkImages(images: readonly Image[]): readonly Image[] {
  if (images.length > MAX_IMAGES) {
    throw new UsageError(
      `Cannot send ${images.length} images: a request may have at most ${MAX_IMAGES} images; send fewer`,
    );
  }
  return images.map((image, at) => readImage(image.kind === "url" ? image.url : image.bytes, `${at + 1}`));
}

export function imageMediaType(bytes: Uint8Array): string | null {
  const begins = (text: string, at = 0): boolean =>
    bytes.length >= at + text.length && Array.from(text).every((char, i) => bytes[at + i] === char.charCodeAt(0));
  if (begins("\x89PNG\r\n\x1a\n")) return "image/png";
  if (begins("\xff\xd8\xff")) return "image/jpeg";
  if (begins("GIF87a") || begins("GIF89a")) return "image/gif";
  if (begins("RIFF") && begins("WEBP", 8)) return "image/webp";
  return null;
}
