import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { ConfigError } from "../../domain/errors.ts";
import { fileFault } from "../../domain/text/file_fault.ts";
import { FOLDER_PREFIX } from "./first_child.ts";

/** A folder that was just created is not locked yet. */
const LEFTOVER_MS = 60_000;
/** The C library, and its functions for locks of folders, which Windows does not have. */
const LIBRARY: Partial<Record<typeof Deno.build.os, string>> = {
  linux: "libc.so.6",
  darwin: "/usr/lib/libSystem.B.dylib",
};
const LOCKS = {
  open: { parameters: ["buffer", "i32"], result: "i32" },
  flock: { parameters: ["i32", "i32"], result: "i32" },
  close: { parameters: ["i32"], result: "i32" },
} as const;
const O_RDONLY = 0, LOCK_EX_NB = 0b110;

/** An empty folder for one child, readable only by its owner. It is locked while this process runs. The kernel releases
 * the lock with the process, and the lock works across containers that share the folder, where process ids mislead. */
export class WorkFolder {
  readonly path: string;
  readonly #lock: Deno.FsFile | null;

  /** `root` is the temporary folder except in tests; `made` is a folder that exists already. Throws `ConfigError` if no
   * folder can be created. */
  constructor({ root, made = newFolder(root) }: { readonly root?: string | undefined; readonly made?: string } = {}) {
    this.path = made;
    this.#lock = locked(this.path);
  }

  /** Removes folders of processes that were killed before they could do so. */
  static sweep(root: string = temporaryFolder()): void {
    try {
      for (const { name, isDirectory } of Deno.readDirSync(root)) {
        const path = join(root, name);
        if (isDirectory && name.startsWith(FOLDER_PREFIX) && isLeftover(path)) remove(path);
      }
    } catch { /* in a folder that cannot be listed, nothing could be removed */ }
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

/** Null if the system has no such locks: leftovers there are not swept. */
function locked(path: string): Deno.FsFile | null {
  try {
    const folder = Deno.openSync(path);
    folder.lockSync(true);
    return folder;
  } catch {
    return null;
  }
}

/** Ignores a folder that is already gone or cannot be removed. */
function remove(path: string): void {
  try {
    Deno.removeSync(path, { recursive: true });
  } catch { /* nothing depends on it; the next start sweeps it */ }
}

function isLeftover(path: string): boolean {
  try {
    const { mtime, uid } = Deno.lstatSync(path);
    const isOld = mtime !== null && Date.now() - mtime.getTime() > LEFTOVER_MS;
    return isOld && uid === Deno.uid() && !isLocked(path);
  } catch {
    return false;
  }
}

/** Throws if that cannot be determined. */
function isLocked(path: string): boolean {
  const library = Deno.dlopen(LIBRARY[Deno.build.os] ?? "", LOCKS);
  const { open, flock, close } = library.symbols;
  const folder = open(new TextEncoder().encode(`${path}\0`), O_RDONLY);
  try {
    return folder < 0 || flock(folder, LOCK_EX_NB) !== 0;
  } finally {
    if (folder >= 0) close(folder);
    library.close();
  }
}
