/** What has a child that can be stopped and comes back with its variables on next use. */
export interface Resident {
  /** Whether its child lives. */
  readonly alive: boolean;
  /** Whether it lives and has run a block. */
  readonly used: boolean;
  /** Stops the child, also one that is starting, unless a query runs. */
  rest(): Promise<void>;
}

export interface LivingChildrenOptions {
  /** Most children at a time, from before they are started until they have been reaped. Only queries that run more of
   * them at once exceed it. */
  readonly live: number;
  /** How long a child lives without a query. */
  readonly idleMs: number;
  /** Calls `f` once, `ms` from now, unless the function that it returns is called before. */
  readonly after?: (ms: number, f: () => void) => () => void;
  /** A child could not be stopped. */
  readonly onError: (error: unknown) => void;
}

interface Resting {
  readonly resident: Resident;
  cancel(): void;
}

/** Counts all children and bounds those that wait for their conversation's next query: by number, least recently used
 * first, and by time. One with a running query is never stopped. */
export class LivingChildren {
  readonly #options: LivingChildrenOptions;
  #count = 0;
  /** Least recently used first. */
  readonly #resting = new Map<string, Resting>();
  readonly #stopping = new Set<Promise<void>>();

  constructor(options: LivingChildrenOptions) {
    this.#options = options;
  }

  /** Children that are starting, living and ending. */
  get count(): number {
    return this.#count;
  }

  /** Conversations whose child waits for their next query. */
  get resting(): number {
    return this.#resting.size;
  }

  /** Whether one more is within the limit, once those are stopped that run no query. */
  get hasRoom(): boolean {
    const alive = this.#resting.values().filter(({ resident }) => resident.alive);
    return this.#count - Array.from(alive).length - this.#stopping.size < this.#options.live;
  }

  /** Opens a child as soon as there is room for it, or nothing left that could be stopped. */
  async start<C extends { readonly gone: Promise<unknown> }>(open: () => Promise<C>): Promise<C> {
    this.#count++;
    const left = (): void => void this.#count--;
    try {
      await this.#makeRoom();
      const child = await open();
      void child.gone.then(left, left);
      return child;
    } catch (error) {
      left();
      throw error;
    }
  }

  /** A query has ended. Its child waits for the next one where it has run a block, and is stopped otherwise: whoever asks
   * next need not wait for that. */
  async rest(id: string, resident: Resident): Promise<void> {
    this.forget(id);
    if (!resident.used) return this.#stop(resident);
    const cancel = (this.#options.after ?? afterRealTime)(this.#options.idleMs, () => {
      this.forget(id);
      this.#stop(resident);
    });
    this.#resting.set(id, { resident, cancel });
    await this.#makeRoom();
  }

  /** A query begins, or somebody else closes it. */
  forget(id: string): void {
    this.#resting.get(id)?.cancel();
    this.#resting.delete(id);
  }

  async #makeRoom(): Promise<void> {
    while (this.#count > this.#options.live) {
      const [oldest] = this.#resting;
      if (this.#stopping.size === 0 && oldest) {
        const [id, { resident }] = oldest;
        this.forget(id);
        this.#stop(resident);
      }
      if (this.#stopping.size === 0) return;
      await Promise.all(this.#stopping);
    }
  }

  #stop(resident: Resident): void {
    const stopping = resident.rest()
      .catch((error: unknown) => this.#options.onError(error))
      .finally(() => void this.#stopping.delete(stopping));
    this.#stopping.add(stopping);
  }
}

/** Keeps no process alive. */
function afterRealTime(ms: number, f: () => void): () => void {
  const timer = setTimeout(f, ms);
  Deno.unrefTimer(Number(timer));
  return () => clearTimeout(timer);
}
