import { Cancelled } from "../../domain/errors.ts";
import type { Clock } from "./clock.ts";

export const REAL_CLOCK: Clock = {
  now: Date.now,
  random: Math.random,
  sleep: (ms, signal) =>
    new Promise((resolve, reject) => {
      const done = (settle: () => void) => (): void => {
        clearTimeout(timer);
        signal.removeEventListener("abort", aborted);
        settle();
      };
      const aborted = done(() => reject(new Cancelled("Cancelled")));
      const timer = setTimeout(done(resolve), ms);
      if (signal.aborted) aborted();
      else signal.addEventListener("abort", aborted);
    }),
};
