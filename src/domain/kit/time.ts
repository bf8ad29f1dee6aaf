import { Cancelled, ENDED } from "../errors.ts";

/** A clock that tests can replace. */
export interface Clock {
  /** Milliseconds since the epoch. */
  now(): number;
  /** Rejects with `Cancelled` as soon as `signal` is aborted. */
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

/** Whether the work settled, either way, before the time was up. */
export async function settledWithin(work: Promise<unknown>, ms: number): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const timer = setTimeout(() => resolve(false), ms);
  const done = (): void => resolve(true);
  work.then(done, done);
  return await promise.finally(() => clearTimeout(timer));
}

/** Milliseconds to wait after this many failures in a row. The wait doubles each time up to `mostMs`; half of it is
 * random (`random`: 0 up to 1), so that many clients do not retry at once. */
export function backoffMs(
  failures: number,
  { firstMs, mostMs, random }: { readonly firstMs: number; readonly mostMs: number; readonly random: () => number },
): number {
  return Math.min(mostMs, firstMs * 2 ** (failures - 1)) * (0.5 + random() / 2);
}

/** Lets the process end before the timer is due. Newer runtimes have objects for timers, and do nothing for a number. */
export function unrefTimer(timer: ReturnType<typeof setTimeout>): void {
  if (typeof timer === "object") timer.unref();
  else Deno.unrefTimer(timer);
}
