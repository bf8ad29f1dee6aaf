import { AsyncLocalStorage } from "node:async_hooks";
import { setImmediate } from "node:timers";
import { Cancelled, ENDED } from "../errors.ts";

interface Waiting {
  readonly amount: number;
  readonly go: () => void;
}

/** Starts tasks in order while the sum of their amounts is at most `limit`. */
export class Semaphore {
  readonly #limit: number;
  readonly #cancelled: () => Error;
  readonly #waiting = new Set<Waiting>();
  #open = 0;

  constructor(limit = 1, cancelled: () => Error = () => new Cancelled("Cancelled")) {
    this.#limit = limit;
    this.#cancelled = cancelled;
  }

  get open(): number {
    return this.#open;
  }

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

  /** The caller must give the amount back with `release`. The promise never resolves for an amount above the limit. */
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
      this.#next(); // The aborted task may have blocked a smaller task.
    };
    this.#waiting.add(waiting);
    signal?.addEventListener("abort", onAbort, { once: true });
    await promise.finally(() => signal?.removeEventListener("abort", onAbort));
  }
}

/** Settles like `work`, or rejects with the reason of the signal if the signal aborts first. The work itself
 * continues. */
export async function abortable<T>(
  work: Promise<T>,
  signal: AbortSignal | undefined,
): Promise<T> {
  if (!signal) return await work;
  const { promise, reject } = Promise.withResolvers<never>();
  const stop = (): void => reject(signal.reason);
  signal.addEventListener("abort", stop, { once: true });
  if (signal.aborted) stop();
  try {
    return await Promise.race([promise, work]);
  } finally {
    signal.removeEventListener("abort", stop);
  }
}

export async function aborted(signal: AbortSignal): Promise<void> {
  await abortable(new Promise<never>(() => {}), signal).catch(() => {});
}

/** Waits until all promises have settled, so that no work continues after an error. Then rejects with the first error
 * in the order of `works`. */
export async function together<const T extends readonly unknown[]>(
  works: T,
): Promise<{ -readonly [K in keyof T]: Awaited<T[K]> }> {
  await Promise.allSettled(works);
  return await Promise.all(works);
}

const SLICE_MS = 6;

/** Long synchronous work blocks the process, so the work must often check `due`, and rest when `due` is true. */
export class Pace {
  readonly #signal: AbortSignal | undefined;
  #since = performance.now();

  constructor(signal?: AbortSignal) {
    this.#signal = signal;
  }

  get due(): boolean {
    return performance.now() - this.#since >= SLICE_MS;
  }

  async rest(): Promise<void> {
    this.#signal?.throwIfAborted();
    await new Promise<void>((resolve) => setImmediate(resolve));
    this.#signal?.throwIfAborted();
    this.#since = performance.now();
  }
}

const LIMIT = new AsyncLocalStorage<number | undefined>();

/** `work` repeats attempts to reach a lost database server for `ms` milliseconds. */
export function withPatience<T>(ms: number | undefined, work: () => T): T {
  return LIMIT.run(ms, work);
}

export function ownPatience(): number | undefined {
  return LIMIT.getStore();
}

export interface Clock {
  now(): number;
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
}

export const REAL_CLOCK: Clock = {
  now: Date.now,
  sleep: async (ms, signal) => {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const stop = (): void => reject(signal?.reason === ENDED ? ENDED : new Cancelled("Cancelled"));
    const timer = setTimeout(resolve, ms);
    signal?.addEventListener("abort", stop, { once: true });
    if (signal?.aborted) stop();
    try {
      await promise;
    } finally {
      clearTimeout(timer);
      signal?.removeEventListener("abort", stop);
    }
  },
};

export async function settledWithin(work: Promise<unknown>, ms: number): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const timer = setTimeout(() => resolve(false), ms);
  const done = (): void => resolve(true);
  work.then(done, done);
  return await promise.finally(() => clearTimeout(timer));
}

export function backoffMs(
  failures: number,
  { firstMs, mostMs, random }: { readonly firstMs: number; readonly mostMs: number; readonly random: () => number },
): number {
  return Math.min(mostMs, firstMs * 2 ** (failures - 1)) * (0.5 + random() / 2);
}

/** The runtime of the executable returns a number, and newer runtimes return an object. */
export function unrefTimer(timer: ReturnType<typeof setTimeout>): void {
  if (typeof timer === "object") timer.unref();
  else Deno.unrefTimer(timer);
}
