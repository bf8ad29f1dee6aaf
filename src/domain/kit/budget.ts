import { Cancelled } from "../errors.ts";

interface Waiting {
  readonly amount: number;
  readonly go: () => void;
}

/** A semaphore over amounts, such as bytes: holders together have at most `limit`, and who does not fit waits in the
 * order of the requests. An amount above the limit counts as the limit, so that it runs alone. */
export class Budget {
  readonly #limit: number;
  readonly #waiting = new Set<Waiting>();
  #held = 0;

  constructor(limit: number) {
    this.#limit = limit;
  }

  /** What is held now. */
  get held(): number {
    return this.#held;
  }

  /** Runs the work when its amount fits. Rejects without running it if the signal is aborted before that. */
  async run<T>(amount: number, work: () => Promise<T>, signal?: AbortSignal): Promise<T> {
    const taken = Math.min(amount, this.#limit);
    if (this.#waiting.size > 0 || this.#held + taken > this.#limit) await this.#turn(taken, signal);
    else this.#held += taken;
    try {
      return await work();
    } finally {
      this.#held -= taken;
      this.#wake();
    }
  }

  #wake(): void {
    for (const next of this.#waiting) {
      if (this.#held + next.amount > this.#limit) return;
      this.#waiting.delete(next);
      this.#held += next.amount;
      next.go();
    }
  }

  async #turn(amount: number, signal: AbortSignal | undefined): Promise<void> {
    if (signal?.aborted) throw new Cancelled("Cancelled");
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const waiting = { amount, go: resolve };
    const onAbort = (): void => {
      if (!this.#waiting.delete(waiting)) return;
      reject(new Cancelled("Cancelled"));
      this.#wake(); // it may have stood in the way of a smaller one
    };
    this.#waiting.add(waiting);
    signal?.addEventListener("abort", onAbort, { once: true });
    await promise.finally(() => signal?.removeEventListener("abort", onAbort));
  }
}
