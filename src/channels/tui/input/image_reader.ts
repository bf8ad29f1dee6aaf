import { isAbsolute, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { readImageFile } from "../../../conversation/read_image_file.ts";
import type { Session } from "../../channel.ts";
import type { AttachedImage } from "./outgoing.ts";

/** Reads the images that the user names, and no other file. */
export class ImageReader {
  readonly #session: () => Session;
  readonly #userHome: string;

  constructor({ session, userHome }: { readonly session: () => Session; readonly userHome: string }) {
    this.#session = session;
    this.#userHome = userHome;
  }

  /** The first of the lists whose paths are all files; null if there is none. Opens none of them. */
  async there(lists: readonly (readonly string[])[]): Promise<readonly string[] | null> {
    for (const paths of lists) {
      const found = await Promise.all(paths.map((path) => this.#isFile(path)));
      if (found.every((one) => one)) return paths;
    }
    return null;
  }

  /** Throws `UsageError` if the file is not an image, is too large, alone or together with the message's other images,
   * or if no model accepts it. */
  async read(
    paths: readonly string[],
    { with: others }: { readonly with: readonly AttachedImage[] },
  ): Promise<readonly AttachedImage[]> {
    const { conversations } = this.#session();
    const images: AttachedImage[] = [];
    for (const path of paths) {
      const real = this.#resolved(path);
      images.push({ path: this.#shown(real), image: await readImageFile(real, path) });
    }
    await conversations.check({ images: [...others, ...images].map(({ image }) => image) });
    return images;
  }

  async #isFile(path: string): Promise<boolean> {
    try {
      return (await Deno.stat(this.#resolved(path))).isFile;
    } catch {
      return false;
    }
  }

  #resolved(path: string): string {
    if (/^file:/i.test(path)) return fileURLToPath(path);
    if (path.startsWith("~/") && this.#userHome !== "") return join(this.#userHome, path.slice(2));
    return isAbsolute(path) ? path : join(this.#session().workspace, path);
  }

  /** The path as the model finds it: relative if it is in the workspace. */
  #shown(path: string): string {
    const below = relative(this.#session().workspace, path);
    return below === "" || below.startsWith("..") || isAbsolute(below) ? path : below;
  }
}
