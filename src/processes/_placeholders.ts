import { Libc } from "../sandbox/confine/libc.ts";
import { folderEntries } from "./folders.ts";
import { PROC } from "./proc_files.ts";

/** The sticky bit marks what Vis made: it has no effect on an empty folder or file. */
const MARK = 0o1000;
const LOCK_SHARED = 1n, LOCK_ALONE = 2n, LOCK_AT_ONCE = 4n;
const TRIES = 10;

/** Empty folders and files where git or Vis would obey what a command put there. Each is there as long as a command of some
 * Vis needs it; what the user puts there meanwhile stays. */
export class Placeholders {
  readonly #held = new Map<string, { count: number; readonly release: () => void }>();
  readonly #changing: (path: string, change: () => void) => void;
  #libc: Libc | null = null;

  /** `changing` makes each change. */
  constructor(changing: (path: string, change: () => void) => void = (_, change) => change()) {
    this.#changing = changing;
  }

  /** Returns what gives it back. Throws Error if it cannot be made. */
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

  /** Where another Vis has just removed it, it is made once more. */
  #hold(path: string, kind: "folder" | "file"): () => void {
    const libc = this.#libc ??= new Libc();
    for (let tries = 0; tries < TRIES; tries++) {
      this.#changing(path, () => make(path, kind));
      const descriptor = libc.open(path);
      if (descriptor < 0) continue;
      const lock = (how: bigint): boolean => libc.call("flock", [BigInt(descriptor), how | LOCK_AT_ONCE]) === 0;
      if (lock(LOCK_SHARED) && PROC.link(`/proc/self/fd/${descriptor}`) === path) {
        return () => {
          if (lock(LOCK_ALONE)) this.#changing(path, () => removeMarked(path));
          libc.closeDescriptor(descriptor);
        };
      }
      libc.closeDescriptor(descriptor);
    }
    throw new Error(`Cannot run a command: it could make ${path}, which git or Vis would obey`);
  }
}

/** Whether Vis made what is there, and nobody has put anything in it: for another command, or before it was killed. */
export function isPlaceholder(path: string): boolean {
  try {
    const { mode, isFile, isDirectory, size } = Deno.lstatSync(path);
    if (((mode ?? 0) & MARK) === 0) return false;
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
    Deno.chmodSync(path, MARK | (kind === "folder" ? 0o755 : 0o644));
  } catch { /* it is there by now */ }
}

function removeMarked(path: string): void {
  try {
    const { mode, isFile, size } = Deno.lstatSync(path);
    if (((mode ?? 0) & MARK) === 0) return;
    if (isFile && size > 0) Deno.chmodSync(path, 0o644);
    else Deno.removeSync(path);
  } catch { /* the user has put something there */ }
}
