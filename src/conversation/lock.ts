/** One holder at a time, in order of asking. */
export class Lock {
  #tail: Promise<void> = Promise.resolve();
  #waiting = 0;

  get busy(): boolean {
    return this.#waiting > 0;
  }

  /** Runs `work` when every earlier one has ended; its outcome is the caller's. */
  async run<T>(work: () => Promise<T>): Promise<T> {
    const before = this.#tail;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#tail = promise;
    this.#waiting++;
    await before;
    try {
      return await work();
    } finally {
      this.#waiting--;
      resolve();
    }
  }
}
