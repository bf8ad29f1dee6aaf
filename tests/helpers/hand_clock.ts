import { Cancelled } from "../../src/domain/errors.ts";

export class HandClock {
  readonly #sleepers = new Set<{ readonly at: number; readonly wake: () => void }>();
  #now = 1_000_000;

  now = (): number => this.#now;

  sleep = (ms: number, signal: AbortSignal): Promise<void> => {
    return new Promise((resolve, reject) => {
      const stop = () => {
        this.#sleepers.delete(sleeper);
        reject(new Cancelled("Cancelled"));
      };
      const wake = () => {
        signal.removeEventListener("abort", stop);
        resolve();
      };
      const sleeper = { at: this.#now + ms, wake };
      if (signal.aborted) return stop();
      signal.addEventListener("abort", stop, { once: true });
      this.#sleepers.add(sleeper);
    });
  };

  pass(ms: number): void {
    this.#now += ms;
    for (const sleeper of this.#sleepers) {
      if (sleeper.at > this.#now) continue;
      this.#sleepers.delete(sleeper);
      sleeper.wake();
    }
  }
}
