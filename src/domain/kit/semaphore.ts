import { Cancelled } from "../errors.ts";

interface Waiting {
  readonly amount: number;
  readonly go: () => void;
}

/** Runs tasks while their amounts together are at most `limit`, in the order of their requests. An amount is 1 by
 * default, so that a limit of 1 makes a mutex; it may also be bytes. One above the limit counts as the limit and runs
 * alone. */
export class Semaphore {
  readonly #limit: number;
  readonly #cancelled: () => Error;
  readonly #waiting = new Set<Waiting>();
  #open = 0;

  constructor(limit = 1, cancelled: () => Error = () => new Cancelled("Cancelled")) {
    this.#limit = limit;
    this.#cancelled = cancelled;
  }

  /** The amounts that are running, together. */
  get open(): number {
    return this.#open;
  }

  /** Runs the work as soon as it fits. Rejects without running it if the signal is aborted before that. */
  run<T>(work: () => Promise<T>, signal?: AbortSignal): Promise<T> {
    return this.runAmount(1, { work, signal });
  }

  async runAmount<T>(
    amount: number,
    { work, signal }: { readonly work: () => Promise<T>; readonly signal: AbortSignal | undefined },
  ): Promise<T> {
    const taken = Math.min(amount, this.#limit);
    await this.acquire(signal, taken);
    try {
      if (signal?.aborted) throw this.#cancelled();
      return await work();
    } finally {
      this.release(taken);
    }
  }

  /** Resolves when the caller has the amount, to be returned with `release`. */
  acquire(signal?: AbortSignal, amount = 1): Promise<void> {
    if (signal?.aborted) return Promise.reject(this.#cancelled());
    if (this.#waiting.size > 0 || this.#open + amount > this.#limit) return this.#turn(amount, signal);
    this.#open += amount;
    return Promise.resolve();
  }

  release(amount = 1): void {
    this.#open -= amount;
    this.#next();
  }

  /** Begins those that have waited longest, as far as they fit. */
  #next(): void {
    for (const waiting of this.#waiting) {
      if (this.#open + waiting.amount > this.#limit) return;
      this.#waiting.delete(waiting);
      this.#open += waiting.amount;
      waiting.go();
    }
  }

  async #turn(amount: number, signal: AbortSignal | undefined): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const waiting = { amount, go: resolve };
    const onAbort = (): void => {
      if (!this.#waiting.delete(waiting)) return;
      reject(this.#cancelled());
      this.#next(); // it may have stood in the way of a smaller one
    };
    this.#waiting.add(waiting);
    signal?.addEventListener("abort", onAbort, { once: true });
    await promise.finally(() => signal?.removeEventListener("abort", onAbort));
  }
}
