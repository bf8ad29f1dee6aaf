import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { ConfigError, fileFault } from "../../domain/errors.ts";
import { firstEntries } from "../../domain/kit/files.ts";
import { FOLDER_PREFIX } from "./start_child.ts";

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

/** A folder that was just created is not locked yet. */
const LEFTOVER_MS = 60_000;
/** A temporary folder is shared, and has any number of names. */
const MOST_NAMES = 10_000;
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
const O_RDONLY = 0, LOCK_EX_NB = 0b110, O_CLOEXEC = Deno.build.os === "darwin" ? 0x1000000 : 0o2000000;

/** Locks a folder while this process runs, until the file is closed. The kernel releases the lock with the process, and
 * the lock works across containers that share the folder, where process ids mislead. Null if the system has no such
 * locks: leftovers there stay. */
export function lockFolder(path: string): Deno.FsFile | null {
  try {
    const folder = Deno.openSync(path);
    folder.lockSync(true);
    return folder;
  } catch {
    return null;
  }
}

/** Paths of folders in `root` that were locked by a process which was killed before it could remove them: those that
 * begin with `prefix`, among the first names of `root`. Each is locked until the next one is asked for. */
export async function* leftFolders(root: string, prefix: string): AsyncGenerator<string> {
  const { entries } = await firstEntries(root, { most: MOST_NAMES }).catch(() => ({ entries: [] }));
  for (const { name, isDirectory } of entries) {
    const path = join(root, name);
    const unlock = isDirectory && name.startsWith(prefix) && isOld(path) ? lockLeft(path) : null;
    if (unlock === null) continue;
    try {
      yield path;
    } finally {
      unlock();
    }
  }
}

/** Whether a folder is this user's, and old enough to be locked. */
function isOld(path: string): boolean {
  try {
    const { mtime, uid } = Deno.lstatSync(path);
    return mtime !== null && Date.now() - mtime.getTime() > LEFTOVER_MS && uid === Deno.uid();
  } catch {
    return false;
  }
}

/** Null if a process has locked it, or that cannot be determined. */
function lockLeft(path: string): (() => void) | null {
  try {
    const library = Deno.dlopen(LIBRARY[Deno.build.os] ?? "", LOCKS);
    const { open, flock, close } = library.symbols;
    const folder = open(new TextEncoder().encode(`${path}\0`), O_RDONLY | O_CLOEXEC);
    const isFree = folder >= 0 && flock(folder, LOCK_EX_NB) === 0;
    const unlock = (): void => {
      if (folder >= 0) close(folder);
      library.close();
    };
    if (isFree) return unlock;
    unlock();
    return null;
  } catch {
    return null;
  }
}
