/** What has a child that can be stopped and comes back with its variables on next use. */
export interface Resident {
  /** Whether its child lives. */
  readonly alive: boolean;
  /** Stops the child unless a query runs. */
  rest(): Promise<void>;
}

export interface LivingChildrenOptions {
  /** Most children that live at the same time, but where queries run in more. */
  readonly live: number;
  /** How long a child lives without a query. */
  readonly idleMs: number;
  /** Calls `f` once, `ms` from now, unless the function that it returns is called before. */
  readonly after?: (ms: number, f: () => void) => () => void;
  /** A child could not be stopped. */
  readonly onError: (error: unknown) => void;
}

interface Entry {
  readonly resident: Resident;
  /** Queries that run in it. */
  busy: number;
  cancel: () => void;
}

/** Bounds the children that wait for their conversation's next query: by number, least recently used first, and by
 * time. One with a running query is never stopped. */
export class LivingChildren {
  readonly #options: LivingChildrenOptions;
  /** Least recently used first. */
  readonly #entries = new Map<string, Entry>();

  constructor(options: LivingChildrenOptions) {
    this.#options = options;
  }

  /** Those that may have a child. */
  get size(): number {
    return this.#entries.size;
  }

  /** A query begins: room is made for its child. */
  async begin(id: string, resident: Resident): Promise<void> {
    const known = this.#entries.get(id);
    known?.cancel();
    const entry = known?.resident === resident ? known : { resident, busy: 0, cancel: () => {} };
    entry.busy++;
    this.#touch(id, entry);
    await this.#makeRoom();
  }

  /** The query has ended. Does nothing where another resident took the place meanwhile. */
  async end(id: string, resident: Resident): Promise<void> {
    const entry = this.#entries.get(id);
    if (entry?.resident !== resident) return;
    entry.busy--;
    this.#touch(id, entry);
    if (entry.busy > 0) return;
    entry.cancel = (this.#options.after ?? afterRealTime)(this.#options.idleMs, () => void this.#rest(id, entry));
    await this.#makeRoom();
  }

  /** Somebody else closes it. */
  forget(id: string): void {
    this.#entries.get(id)?.cancel();
    this.#entries.delete(id);
  }

  #touch(id: string, entry: Entry): void {
    this.#entries.delete(id);
    this.#entries.set(id, entry);
  }

  async #makeRoom(): Promise<void> {
    let over = -this.#options.live;
    // A query's child may just be starting.
    for (const { resident, busy } of this.#entries.values()) if (resident.alive || busy > 0) over++;
    const stopped: Promise<void>[] = [];
    for (const [id, entry] of this.#entries) {
      if (over <= 0) break;
      if (entry.busy > 0 || !entry.resident.alive) continue;
      entry.cancel();
      stopped.push(this.#rest(id, entry));
      over--;
    }
    await Promise.all(stopped);
  }

  /** What has no child is not known here any more. */
  async #rest(id: string, entry: Entry): Promise<void> {
    if (entry.busy > 0) return;
    await entry.resident.rest().catch((error: unknown) => this.#options.onError(error));
    const isOver = entry.busy === 0 && !entry.resident.alive;
    if (isOver && this.#entries.get(id) === entry) this.#entries.delete(id);
  }
}

/** Keeps no process alive. */
function afterRealTime(ms: number, f: () => void): () => void {
  const timer = setTimeout(f, ms);
  Deno.unrefTimer(Number(timer));
  return () => clearTimeout(timer);
}
