import { tmpdir } from "node:os";
import { resolve } from "node:path";
import { ConfigError, fileFault } from "../../domain/errors.ts";
import { FOLDER_PREFIX } from "./first_child.ts";
import { leftFolders, lockFolder } from "./locked_folder.ts";

/** An empty folder for one child, readable only by its owner. It is locked while this process runs. */
export class WorkFolder {
  readonly path: string;
  readonly #lock: Deno.FsFile | null;

  /** `root` is the temporary folder except in tests; `made` is a folder that exists already. Throws `ConfigError` if no
   * folder can be created. */
  constructor({ root, made = newFolder(root) }: { readonly root?: string | undefined; readonly made?: string } = {}) {
    this.path = made;
    this.#lock = lockFolder(this.path);
  }

  /** Removes folders of processes that were killed before they could do so. */
  static async sweep(root: string = temporaryFolder()): Promise<void> {
    for await (const path of leftFolders(root, FOLDER_PREFIX)) remove(path);
  }

  remove(): void {
    remove(this.path);
    this.#lock?.close();
  }
}

function newFolder(root: string = temporaryFolder()): string {
  try {
    return Deno.makeTempDirSync({ dir: root, prefix: FOLDER_PREFIX });
  } catch (error) {
    throw new ConfigError(
      `Cannot make a folder for the sandbox in ${root}: ${fileFault(error)}; set TMPDIR to a folder that Vis may write`,
      { cause: error },
    );
  }
}

/** A relative TMPDIR is relative to the current directory of the program. */
function temporaryFolder(): string {
  return resolve(tmpdir());
}

/** Ignores a folder that is already gone or cannot be removed. */
function remove(path: string): void {
  try {
    Deno.removeSync(path, { recursive: true });
  } catch { /* nothing depends on it; the next start sweeps it */ }
}
