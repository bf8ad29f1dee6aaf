import { readImageFile } from "../../../conversation/read_image_file.ts";
import { type Image, readImage } from "../../../domain/images.ts";

/** An image from the command line: a file, or an http, https or `data:` URL. Throws `UsageError`. */
export async function readImageArgument(given: string): Promise<Image> {
  if (/^(?:https?|data):/i.test(given)) return readImage(given, given.slice(0, 80));
  return await readImageFile(given);
}
