import type { Image } from "../../domain/images.ts";

/** An address from which a service can read the image: its own, or a data URL. */
export function imageUrl(image: Image): string {
  return image.kind === "url" ? image.url : `data:${image.mediaType};base64,${image.bytes.toBase64()}`;
}
