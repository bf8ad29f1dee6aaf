import { Cancelled } from "../../src/domain/errors.ts";

/** The clock advances only when all code sleeps, and then jumps to the first wake-up. */
export class FakeClock {
  readonly slept: number[] = [];
  readonly #sleepers = new Set<{ readonly at: number; readonly wake: () => void }>();
  #now = 1_000_000;
  #passing = false;

  now = (): number => this.#now;

  sleep = (ms: number, signal: AbortSignal): Promise<void> => {
    this.slept.push(ms);
    return new Promise((resolve, reject) => {
      const sleeper = { at: this.#now + ms, wake: resolve };
      const stop = () => {
        this.#sleepers.delete(sleeper);
        reject(new Cancelled("Cancelled"));
      };
      if (signal.aborted) return stop();
      signal.addEventListener("abort", stop, { once: true });
      this.#sleepers.add(sleeper);
      if (!this.#passing) void this.#pass();
    });
  };

  advance(ms: number): void {
    this.#now += ms;
  }

  async #pass(): Promise<void> {
    this.#passing = true;
    while (this.#sleepers.size > 0) {
      // Time passes only after the code that is ready has run.
      for (let turn = 0; turn < 200; turn++) await Promise.resolve();
      const [first] = [...this.#sleepers].sort((a, b) => a.at - b.at);
      if (first === undefined) break;
      this.#sleepers.delete(first);
      this.#now = Math.max(this.#now, first.at);
      first.wake();
    }
    this.#passing = false;
  }

  /** The timers that watch a stream sleep for these two times, and are no pauses between attempts. */
  get pauses(): number[] {
    return this.slept.filter((ms) => ms !== 120_000 && ms !== 60_000);
  }
}
