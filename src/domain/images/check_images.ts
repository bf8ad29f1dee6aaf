import { UsageError } from "../errors.ts";
import type { Image } from "./image.ts";
import { readImage } from "./read_image.ts";

/** Services refuse more in one request. */
export const MAX_IMAGES = 20;

/** Returns the images with the media type that their bytes show. Throws `UsageError` for images that no request can
 * carry: too many, too large, or with an unsupported type or address. */
export function checkImages(images: readonly Image[]): readonly Image[] {
  if (images.length > MAX_IMAGES) {
    throw new UsageError(`Cannot send ${images.length} images: the limit is ${MAX_IMAGES} for a request`);
  }
  return images.map((image, at) => readImage(image.kind === "url" ? image.url : image.bytes, `${at + 1}`));
}
