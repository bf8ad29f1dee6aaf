import { ENDED } from "../domain/ended.ts";
import { Cancelled } from "../domain/errors.ts";

/** Time as the router sees it. */
export interface Clock {
  /** Milliseconds since the epoch. */
  now(): number;
  /** Rejects with `Cancelled` as soon as `signal` is aborted. */
  sleep(ms: number, signal: AbortSignal): Promise<void>;
}

export const REAL_CLOCK: Clock = {
  now: Date.now,
  sleep: (ms, signal) =>
    new Promise((resolve, reject) => {
      if (signal.aborted) return reject(new Cancelled("Cancelled"));
      const stop = () => {
        clearTimeout(timer);
        reject(signal.reason === ENDED ? ENDED : new Cancelled("Cancelled"));
      };
      const timer = setTimeout(() => {
        signal.removeEventListener("abort", stop);
        resolve();
      }, ms);
      signal.addEventListener("abort", stop, { once: true });
    }),
};
