import { UsageError } from "../../domain/errors.ts";
import type { Image } from "../../domain/image.ts";
import { MAX_IMAGE_BYTES, readImage } from "../../domain/read_image.ts";

/** An image of the command line: a file, or an http, https or `data:` URL. Throws `UsageError`. */
export async function readImageArgument(told: string): Promise<Image> {
  if (/^(?:https?|data):/i.test(told)) return readImage(told, told.slice(0, 80));
  return readImage(await bytesOf(told), told);
}

async function bytesOf(path: string): Promise<Uint8Array<ArrayBuffer>> {
  try {
    const { size, isFile } = await Deno.stat(path);
    // A device or a pipe may have no end.
    if (!isFile) throw new UsageError(`Cannot use image ${path}: it is no file`);
    if (size > MAX_IMAGE_BYTES) {
      throw new UsageError(`Cannot use image ${path}: ${size} bytes, the limit is ${MAX_IMAGE_BYTES}`);
    }
    return await Deno.readFile(path);
  } catch (error) {
    if (error instanceof UsageError) throw error;
    throw new UsageError(`Cannot read image ${path}: ${error instanceof Error ? error.message : error}`);
  }
}
