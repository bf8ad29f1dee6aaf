import { Cancelled } from "../errors.ts";

/** Runs at most `limit` tasks at a time, in the order of their requests; with a limit of 1 it is a mutex. */
export class Semaphore {
  readonly #limit: number;
  readonly #cancelled: () => Error;
  readonly #waiting = new Set<() => void>();
  #open = 0;

  constructor(limit = 1, cancelled: () => Error = () => new Cancelled("Cancelled")) {
    this.#limit = limit;
    this.#cancelled = cancelled;
  }

  /** How many are running. */
  get open(): number {
    return this.#open;
  }

  /** Runs the work as soon as a slot is free. Rejects without running it if the signal is aborted before that. */
  async run<T>(work: () => Promise<T>, signal?: AbortSignal): Promise<T> {
    await this.acquire(signal);
    try {
      if (signal?.aborted) throw this.#cancelled();
      return await work();
    } finally {
      this.release();
    }
  }

  /** Resolves when the caller has a slot, to be returned with `release`. */
  acquire(signal?: AbortSignal): Promise<void> {
    if (signal?.aborted) return Promise.reject(this.#cancelled());
    if (this.#open < this.#limit) {
      this.#open++;
      return Promise.resolve();
    }
    return this.#turn(signal);
  }

  /** Passes the slot to the caller that has waited longest. */
  release(): void {
    for (const next of this.#waiting) {
      this.#waiting.delete(next);
      return next();
    }
    this.#open--;
  }

  async #turn(signal: AbortSignal | undefined): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const onAbort = (): void => {
      if (this.#waiting.delete(resolve)) reject(this.#cancelled());
    };
    this.#waiting.add(resolve);
    signal?.addEventListener("abort", onAbort, { once: true });
    await promise.finally(() => signal?.removeEventListener("abort", onAbort));
  }
}
