import { advised } from "../../domain/errors.ts";
import { PLACEHOLDER_MARK, placeholderMode } from "../../domain/kit/files.ts";
import { Libc } from "../../sandbox/confine/libc.ts";
import { folderEntries } from "../folder_entries.ts";
import { PROC } from "../proc_files.ts";

const LOCK_SHARED = 1n, LOCK_ALONE = 2n, LOCK_AT_ONCE = 4n;
const TRIES = 10;

/** Git or Vis would obey entries that a command creates at some missing paths, so Vis puts empty folders and files at
 * these paths while commands run. Entries that the user adds meanwhile stay. */
export class Placeholders {
  readonly #held = new Map<string, { count: number; readonly release: () => void }>();
  #libc: Libc | null = null;

  take(path: string, kind: "folder" | "file"): () => void {
    const held = this.#held.get(path) ?? { count: 0, release: this.#hold(path, kind) };
    held.count++;
    this.#held.set(path, held);
    return () => {
      if (--held.count > 0) return;
      this.#held.delete(path);
      held.release();
    };
  }

  /** Another Vis process may just have removed the placeholder, so the method creates and locks the placeholder
   * again. */
  #hold(path: string, kind: "folder" | "file"): () => void {
    const libc = this.#libc ??= new Libc();
    for (let tries = 0; tries < TRIES; tries++) {
      make(path, kind);
      const descriptor = libc.open(path);
      if (descriptor < 0) continue;
      const lock = (how: bigint): boolean => libc.call("flock", [BigInt(descriptor), how | LOCK_AT_ONCE]) === 0;
      if (lock(LOCK_SHARED) && PROC.link(`/proc/self/fd/${descriptor}`) === path) {
        return () => {
          if (lock(LOCK_ALONE)) removeMarked(path);
          libc.closeDescriptor(descriptor);
        };
      }
      libc.closeDescriptor(descriptor);
    }
    throw advised(
      new Error(
        `Cannot run the command: Vis could not reserve ${path} in ${TRIES} attempts, and a command must not create ` +
          "settings of git or Vis",
      ),
      "try again",
    );
  }
}

export function isPlaceholder(path: string): boolean {
  try {
    const { mode, isFile, isDirectory, size } = Deno.lstatSync(path);
    if (((mode ?? 0) & PLACEHOLDER_MARK) === 0) return false;
    return isFile
      ? size === 0
      : isDirectory && Array.from(folderEntries(path, { most: 1, wanted: () => true })).length === 0;
  } catch {
    return false;
  }
}

function make(path: string, kind: "folder" | "file"): void {
  try {
    if (kind === "folder") Deno.mkdirSync(path);
    else Deno.writeFileSync(path, new Uint8Array(), { createNew: true });
    Deno.chmodSync(path, placeholderMode(kind));
  } catch { /* The entry may exist by now; `#hold` checks the result. */ }
}

function removeMarked(path: string): void {
  try {
    const { mode, isFile, size } = Deno.lstatSync(path);
    if (((mode ?? 0) & PLACEHOLDER_MARK) === 0) return;
    if (isFile && size > 0) Deno.chmodSync(path, 0o644);
    else Deno.removeSync(path);
  } catch { /* A folder stays if the user has put an entry there. */ }
}
