/** Counts bytes in memory and makes readers wait while there are too many. */
export class ByteGate {
  readonly #limit: number;
  #held = 0;
  #waiting: (() => void)[] = [];

  constructor(limit: number) {
    this.#limit = limit;
  }

  add(bytes: number): void {
    this.#held += bytes;
  }

  remove(bytes: number): void {
    this.#held -= bytes;
    if (this.#held >= this.#limit) return;
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const go of waiting) go();
  }

  /** Null if there is room now. */
  room(): Promise<void> | null {
    return this.#held < this.#limit ? null : new Promise((resolve) => this.#waiting.push(resolve));
  }
}
