import { unrefTimer } from "../domain/kit/time.ts";

/** The owner of a child process that can be stopped, and is restored with its variables on next use. */
export interface PooledChild {
  /** Whether its child is running. */
  readonly alive: boolean;
  /** Whether it is running and has run a block. */
  readonly used: boolean;
  /** Stops the child, even while it starts, unless a query runs. */
  rest(): Promise<void>;
}

export interface ChildPoolOptions {
  /** Maximum number of children, counted from before they start until they are reaped. Only simultaneous queries can
   * exceed it. */
  readonly live: number;
  /** How long a child stays alive without a query. */
  readonly idleMs: number;
  /** Calls `f` once after `ms`, unless the returned function is called first. */
  readonly after?: (ms: number, f: () => void) => () => void;
  /** Called if a child could not be stopped. */
  readonly onError: (error: unknown) => void;
}

interface Resting {
  readonly resident: PooledChild;
  cancel(): void;
}

/** Counts all children and limits those that wait for their conversation's next query: by number, least recently used
 * first, and by time. A child with a running query is never stopped. */
export class ChildPool {
  readonly #options: ChildPoolOptions;
  /** Children that are starting, running or ending. */
  #children = 0;
  /** Starts that wait for room. */
  #waiting = 0;
  /** Least recently used first. */
  readonly #resting = new Map<string, Resting>();
  readonly #stopping = new Set<Promise<void>>();

  constructor(options: ChildPoolOptions) {
    this.#options = options;
  }

  /** Children that are waited for, starting, running or ending. */
  get count(): number {
    return this.#children + this.#waiting;
  }

  /** Number of conversations whose child waits for their next query. */
  get resting(): number {
    return this.#resting.size;
  }

  /** Whether one more fits within the limit, once idle children are stopped. */
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

  /** Call when a query has ended. Its child waits for the next query if it has run a block, and is stopped otherwise.
   * Only a child that needs the room waits for that stop. */
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

  /** Call when a query begins, or when the child is closed elsewhere. */
  forget(id: string): void {
    this.#resting.get(id)?.cancel();
    this.#resting.delete(id);
  }

  /** Resolves when there are at most `most` children, or all of them belong to queries. */
  async #shrink(most: number): Promise<void> {
    while (this.#children > most) {
      this.#stopSurplus();
      if (this.#stopping.size === 0) return;
      await Promise.race(this.#stopping);
    }
  }

  /** Children being stopped may already make enough room; if none is, one has to be stopped in any case. */
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

/** Does not keep the process alive. */
function afterRealTime(ms: number, f: () => void): () => void {
  const timer = setTimeout(f, ms);
  unrefTimer(timer);
  return () => clearTimeout(timer);
}
