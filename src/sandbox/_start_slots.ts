import { SandboxGone } from "../domain/errors.ts";

/** Starting a child is work for the processor: more at once than there are cores only delay each other. */
export class StartSlots {
  #free: number;
  readonly #waiting: (() => void)[] = [];

  constructor(slots: number = navigator.hardwareConcurrency) {
    this.#free = slots;
  }

  /** Runs `start` when there is a slot, in the order of asking. Rejects with SandboxGone, without starting anything, where
   * the signal is aborted before. */
  async use<T>(start: () => Promise<T>, signal?: AbortSignal): Promise<T> {
    if (this.#free > 0) this.#free--;
    else await this.#wait(signal);
    try {
      if (signal?.aborted) throw new SandboxGone("the caller gave it up");
      return await start();
    } finally {
      const next = this.#waiting.shift();
      if (next) next();
      else this.#free++;
    }
  }

  async #wait(signal?: AbortSignal): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const onAbort = (): void => {
      const at = this.#waiting.indexOf(resolve);
      if (at < 0) return;
      this.#waiting.splice(at, 1);
      reject(new SandboxGone("the caller gave it up"));
    };
    this.#waiting.push(resolve);
    signal?.addEventListener("abort", onAbort, { once: true });
    await promise.finally(() => signal?.removeEventListener("abort", onAbort));
  }
}
