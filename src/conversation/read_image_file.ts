import { fileFault, UsageError } from "../domain/errors.ts";
import { type Image, MAX_IMAGE_BYTES, readImage } from "../domain/images.ts";

/** Reads an image that a user named by its path; errors call it `name`. Reads at most the size that an image may have.
 * Throws `UsageError`. */
export async function readImageFile(path: string, name = path): Promise<Image> {
  return readImage(await bytesOf(path, name), name);
}

async function bytesOf(path: string, name: string): Promise<Uint8Array<ArrayBuffer>> {
  try {
    const { size, isFile } = await Deno.stat(path);
    // A device or a pipe may be endless.
    if (!isFile) throw new UsageError(`Cannot use image ${name}: it is not a file`);
    if (size > MAX_IMAGE_BYTES) {
      throw new UsageError(`Cannot use image ${name}: ${size} bytes, the limit is ${MAX_IMAGE_BYTES}`);
    }
    return await Deno.readFile(path);
  } catch (error) {
    if (error instanceof UsageError) throw error;
    throw new UsageError(`Cannot read image ${name}: ${fileFault(error)}`);
  }
}
