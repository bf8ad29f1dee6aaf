import { Cancelled } from "../../src/domain/errors.ts";
import type { RouterOptions } from "../../src/providers/router/router.ts";

const NEVER_MS = 1e12;

/** With this clock, a router over real connections ends each pause at once, and reaches no time limit. */
export class HurriedClock {
  #now = 1_000_000;
  readonly options: Partial<RouterOptions> = {
    clock: this,
    firstTokenMs: NEVER_MS,
    silenceMs: NEVER_MS,
    replyMs: NEVER_MS,
  };

  now = (): number => this.#now;

  sleep = (ms: number, signal: AbortSignal): Promise<void> => {
    return new Promise((resolve, reject) => {
      const stop = () => reject(new Cancelled("Cancelled"));
      if (signal.aborted) return stop();
      signal.addEventListener("abort", stop, { once: true });
      if (ms > NEVER_MS / 2) return;
      this.#now += ms;
      setTimeout(() => {
        signal.removeEventListener("abort", stop);
        resolve();
      });
    });
  };
}
