/** Starting a child is work for the processor: more at once than there are cores only delay each other. */
export class StartSlots {
  #free: number;
  readonly #waiting: (() => void)[] = [];

  constructor(slots: number = navigator.hardwareConcurrency) {
    this.#free = slots;
  }

  /** Runs `start` when there is a slot, in the order of asking. */
  async use<T>(start: () => Promise<T>): Promise<T> {
    if (this.#free > 0) this.#free--;
    else await new Promise<void>((resolve) => this.#waiting.push(resolve));
    try {
      return await start();
    } finally {
      const next = this.#waiting.shift();
      if (next) next();
      else this.#free++;
    }
  }
}
