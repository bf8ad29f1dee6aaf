import { z } from "zod";
import { dirname } from "node:path";
import { ensureFolder, plainTextFile, replaceFile } from "../../domain/kit/files.ts";

const Shape = z.object({
  trusted: z.array(z.object({
    /** Real path of the folder. */
    path: z.string(),
    hash: z.string(),
    namespaces: z.array(z.string()).readonly(),
    /** ISO 8601 */
    at: z.string(),
  })),
});

export type Trusted = Readonly<z.infer<typeof Shape>["trusted"][number]>;

/** Project folders whose extensions the user allowed to load, each with the hash that was shown. */
export class TrustList {
  readonly #file: string;

  constructor(file: string) {
    this.#file = file;
  }

  /** Empty if there is no list. Throws Error if the file is not a valid list. */
  async all(): Promise<readonly Trusted[]> {
    let text: string;
    try {
      text = await plainTextFile(this.#file);
    } catch (error) {
      if (error instanceof Deno.errors.NotFound) return [];
      throw error;
    }
    try {
      return Shape.parse(JSON.parse(text)).trusted;
    } catch {
      throw new Error(`Cannot read ${this.#file}: it is not a list of trusted extensions`);
    }
  }

  /** Whether exactly this content of the folder was allowed. */
  async has(path: string, hash: string): Promise<boolean> {
    return (await this.all()).some((one) => one.path === path && one.hash === hash);
  }

  /** Replaces what was allowed for the folder before. */
  async add(one: Trusted): Promise<void> {
    await this.#write([...(await this.all()).filter(({ path }) => path !== one.path), one]);
  }

  async remove(path: string): Promise<boolean> {
    const all = await this.all();
    const rest = all.filter((one) => one.path !== path);
    if (rest.length < all.length) await this.#write(rest);
    return rest.length < all.length;
  }

  async #write(trusted: readonly Trusted[]): Promise<void> {
    await ensureFolder(dirname(this.#file));
    await replaceFile(this.#file, `${JSON.stringify({ trusted }, null, 2)}\n`);
  }
}
