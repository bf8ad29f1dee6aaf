import { ENDED } from "./ended.ts";
import { Cancelled } from "../errors.ts";

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
