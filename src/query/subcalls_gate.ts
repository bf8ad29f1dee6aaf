import { Cancelled } from "../domain/errors.ts";

/** At most `limit` pieces of work at a time, in order of asking. */
export class Gate {
  readonly #limit: number;
  readonly #waiting = new Set<() => void>();
  #open = 0;

  constructor(limit: number) {
    this.#limit = limit;
  }

  /** How many run now. */
  get open(): number {
    return this.#open;
  }

  /** Runs the work when there is room; rejects with `Cancelled` when the signal aborts before. */
  async use<T>(work: () => Promise<T>, signal: AbortSignal): Promise<T> {
    await this.#enter(signal);
    try {
      return await work();
    } finally {
      this.#leave();
    }
  }

  async #enter(signal: AbortSignal): Promise<void> {
    if (signal.aborted) throw new Cancelled("Query cancelled");
    if (this.#open < this.#limit) {
      this.#open++;
      return;
    }
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const onAbort = (): void => {
      this.#waiting.delete(resolve);
      reject(new Cancelled("Query cancelled"));
    };
    this.#waiting.add(resolve);
    signal.addEventListener("abort", onAbort, { once: true });
    try {
      await promise; // the one that leaves hands its place over
    } finally {
      signal.removeEventListener("abort", onAbort);
    }
  }

  #leave(): void {
    for (const next of this.#waiting) {
      this.#waiting.delete(next);
      return next();
    }
    this.#open--;
  }
}
