import { setImmediate } from "node:timers";

const SLICE_MS = 6;

/** Keeps long synchronous work from blocking the process: check `due` often, and rest when it is true. */
export class Pace {
  readonly #signal: AbortSignal | undefined;
  #since = performance.now();

  constructor(signal?: AbortSignal) {
    this.#signal = signal;
  }

  get due(): boolean {
    return performance.now() - this.#since >= SLICE_MS;
  }

  /** Lets other work run first. Throws the signal's reason once it is aborted. */
  async rest(): Promise<void> {
    this.#signal?.throwIfAborted();
    await new Promise<void>((resolve) => setImmediate(resolve));
    this.#signal?.throwIfAborted();
    this.#since = performance.now();
  }
}
