/** What has a child that can be stopped and comes back with its variables on next use. */
export interface PooledChild {
  /** Whether its child lives. */
  readonly alive: boolean;
  /** Whether it lives and has run a block. */
  readonly used: boolean;
  /** Stops the child, also one that is starting, unless a query runs. */
  rest(): Promise<void>;
}

export interface ChildPoolOptions {
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
  readonly resident: PooledChild;
  cancel(): void;
}

/** Counts all children and bounds those that wait for their conversation's next query: by number, least recently used
 * first, and by time. One with a running query is never stopped. */
export class ChildPool {
  readonly #options: ChildPoolOptions;
  /** Those that are starting, living and ending. */
  #children = 0;
  /** Those that are to be started as soon as there is room. */
  #waiting = 0;
  /** Least recently used first. */
  readonly #resting = new Map<string, Resting>();
  readonly #stopping = new Set<Promise<void>>();

  constructor(options: ChildPoolOptions) {
    this.#options = options;
  }

  /** Children that are waited for, starting, living and ending. */
  get count(): number {
    return this.#children + this.#waiting;
  }

  /** Conversations whose child waits for their next query. */
  get resting(): number {
    return this.#resting.size;
  }

  /** Whether one more is within the limit, once those are stopped that run no query. */
  get hasRoom(): boolean {
    const alive = Array.from(this.#resting.values()).filter(({ resident }) => resident.alive);
    return this.count - alive.length - this.#stopping.size < this.#options.live;
  }

  /** Opens a child as soon as there is room for it, or nothing left that could be stopped. */
  async start<C extends { readonly gone: Promise<unknown> }>(open: () => Promise<C>): Promise<C> {
    this.#waiting++;
    await this.#shrink(this.#options.live - 1);
    this.#waiting--;
    this.#children++;
    const left = (): void => void this.#children--;
    try {
      const child = await open();
      void child.gone.then(left, left);
      return child;
    } catch (error) {
      left();
      throw error;
    }
  }

  /** A query has ended. Its child waits for the next one where it has run a block, and is stopped otherwise. Nobody waits
   * for what is stopped but a child that needs the place. */
  rest(id: string, resident: PooledChild): void {
    this.forget(id);
    if (!resident.used) return this.#stop(resident);
    const cancel = (this.#options.after ?? afterRealTime)(this.#options.idleMs, () => {
      this.forget(id);
      this.#stop(resident);
    });
    this.#resting.set(id, { resident, cancel });
    void this.#shrink(this.#options.live);
  }

  /** A query begins, or somebody else closes it. */
  forget(id: string): void {
    this.#resting.get(id)?.cancel();
    this.#resting.delete(id);
  }

  /** Resolves when there are no more than `most` children, or all of them belong to queries. */
  async #shrink(most: number): Promise<void> {
    while (this.#children > most) {
      this.#stopSurplus();
      if (this.#stopping.size === 0) return;
      await Promise.race(this.#stopping);
    }
  }

  /** What is being stopped may be gone already: where nothing is, one has to go in any case. */
  #stopSurplus(): void {
    const surplus = this.count - this.#options.live - this.#stopping.size;
    const needed = this.#stopping.size === 0 ? Math.max(1, surplus) : surplus;
    for (const [id, { resident }] of Array.from(this.#resting).slice(0, Math.max(0, needed))) {
      this.forget(id);
      this.#stop(resident);
    }
  }

  #stop(resident: PooledChild): void {
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
