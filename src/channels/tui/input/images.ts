import { isAbsolute, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { readImageFile } from "../../../conversation/ask_options.ts";
import { readImage } from "../../../domain/images.ts";
import type { Session } from "../../channel.ts";
import type { AttachedImage } from "./outgoing.ts";

export class ImageReader {
  readonly #session: () => Session;
  readonly #userHome: string;

  constructor({ session, userHome }: { readonly session: () => Session; readonly userHome: string }) {
    this.#session = session;
    this.#userHome = userHome;
  }

  async there(lists: readonly (readonly string[])[]): Promise<readonly string[] | null> {
    for (const paths of lists) {
      const found = await Promise.all(paths.map((path) => this.#isFile(path)));
      if (found.every((one) => one)) return paths;
    }
    return null;
  }

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

  async take(
    bytes: Uint8Array<ArrayBuffer>,
    { name, with: others }: { readonly name: string; readonly with: readonly AttachedImage[] },
  ): Promise<AttachedImage> {
    const image = readImage(bytes, name);
    await this.#session().conversations.check({ images: [...others.map((one) => one.image), image] });
    return { path: name, image };
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

  #shown(path: string): string {
    const below = relative(this.#session().workspace, path);
    return below === "" || below.startsWith("..") || isAbsolute(below) ? path : below;
  }
}
