import { Kernel } from "../tree/kernel.ts";

const MODIFY = 0x2, ATTRIBUTES = 0x4, CLOSE_WRITE = 0x8, MOVED_FROM = 0x40, MOVED_TO = 0x80, CREATE = 0x100;
const DELETE = 0x200, MOVE_SELF = 0x800, OVERFLOW = 0x4000, IGNORED = 0x8000, ONLY_FOLDERS = 0x1000000;
const NOT_FOLLOWED = 0x2000000, IS_FOLDER = 0x40000000;
const WATCHED = MODIFY | ATTRIBUTES | CLOSE_WRITE | MOVED_FROM | MOVED_TO | CREATE | DELETE | MOVE_SELF | ONLY_FOLDERS |
  NOT_FOLLOWED;
const READ_BYTES = 64 << 10, HEAD_BYTES = 16;

/** Knows in which folders something has changed, from the kernel (inotify), so that a look need not visit the others. */
export class FolderEvents {
  static readonly #closing = new FinalizationRegistry<number>((at) => Kernel.shared()?.close(at));
  readonly #root: string;
  readonly #kernel = Kernel.shared();
  /** Null where the system has none, or no more of them. */
  #at: number | null = null;
  readonly #folders = new Map<number, string>();
  readonly #watches = new Map<string, number>();

  constructor(root: string) {
    this.#root = root;
    this.#open();
  }

  /** Call it before the folder is looked at. */
  watch(folder: string): void {
    if (this.#at === null || this.#watches.has(folder)) return;
    const path = folder === "" ? this.#root : `${this.#root}/${folder}`;
    const watch = this.#kernel?.watch(this.#at, path, WATCHED) ?? -1;
    if (watch < 0) return; // the system has no more of them
    const before = this.#folders.get(watch);
    if (before !== undefined) this.#watches.delete(before);
    this.#folders.set(watch, folder);
    this.#watches.set(folder, watch);
  }

  isWatched(folder: string): boolean {
    return this.#watches.has(folder);
  }

  /** Folders in which something has changed since the last call; null if it is not known of all. */
  take(): ReadonlySet<string> | null {
    if (this.#at === null || this.#kernel === null) return null;
    const found = new Set<string>(), bytes = new Uint8Array(READ_BYTES), view = new DataView(bytes.buffer);
    let isKnown = true, hasMoved = false;
    for (let length = 1; length > 0;) {
      length = this.#kernel.readEvents(this.#at, bytes);
      for (let at = 0; at + HEAD_BYTES <= length; at += HEAD_BYTES + view.getUint32(at + 12, true)) {
        const watch = view.getInt32(at, true), mask = view.getUint32(at + 4, true);
        const folder = this.#folders.get(watch);
        if ((mask & OVERFLOW) !== 0) isKnown = false;
        if ((mask & MOVE_SELF) !== 0 || (mask & MOVED_FROM) !== 0 && (mask & IS_FOLDER) !== 0) hasMoved = true;
        if (folder === undefined) continue;
        found.add(folder);
        if ((mask & IGNORED) === 0) continue;
        this.#folders.delete(watch);
        this.#watches.delete(folder);
      }
    }
    // Folders that were moved would be known by the names that they had.
    if (hasMoved) this.#open();
    return isKnown && !hasMoved ? found : null;
  }

  #open(): void {
    if (this.#at !== null) {
      FolderEvents.#closing.unregister(this);
      this.#kernel?.close(this.#at);
    }
    this.#folders.clear();
    this.#watches.clear();
    this.#at = this.#kernel?.openEvents() ?? null;
    if (this.#at !== null) FolderEvents.#closing.register(this, this.#at, this);
  }
}
