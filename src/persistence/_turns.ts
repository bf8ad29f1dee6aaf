/** Who may use something that one at a time can use, in the order of asking. */
export class Turns {
  readonly #waiting: (() => void)[] = [];
  #taken = false;

  get free(): boolean {
    return !this.#taken;
  }

  /** Resolves when it is the caller's turn, which `pass` ends. */
  take(): Promise<void> {
    if (this.#taken) return new Promise((resolve) => this.#waiting.push(resolve));
    this.#taken = true;
    return Promise.resolve();
  }

  pass(): void {
    const next = this.#waiting.shift();
    if (next) next();
    else this.#taken = false;
  }
}
