export class Steering {
  #waiting: { readonly text: string; readonly settle: (shown: boolean) => void }[] = [];
  #ended = false;
  #follower: (texts: readonly string[]) => void = () => {};

  /** Calls `follower` with the waiting messages, oldest first, when a message arrives, is withdrawn or is taken, and
   * now if a message waits. */
  follow(follower: (texts: readonly string[]) => void): void {
    this.#follower = follower;
    if (this.#waiting.length > 0) this.#changed();
  }

  #changed(): void {
    this.#follower(this.#waiting.map(({ text }) => text));
  }

  /** Resolves with true once the store has the text for the next model call. Resolves with false if the query ended,
   * the signal aborted, or the store failed. */
  add(text: string, signal?: AbortSignal): Promise<boolean> {
    if (this.#ended || signal?.aborted) return Promise.resolve(false);
    return new Promise((settle) => {
      const one = { text, settle };
      this.#waiting.push(one);
      this.#changed();
      signal?.addEventListener("abort", () => {
        if (!this.#waiting.includes(one)) return;
        this.#waiting = this.#waiting.filter((other) => other !== one);
        this.#changed();
        settle(false);
      }, { once: true });
    });
  }

  async take(store: (texts: readonly string[]) => Promise<void>): Promise<readonly string[]> {
    const taken = this.#waiting;
    this.#waiting = [];
    const texts = taken.map(({ text }) => text);
    let shown = false;
    try {
      if (texts.length > 0) await store(texts);
      shown = true;
      return texts;
    } finally {
      if (taken.length > 0) this.#changed();
      for (const { settle } of taken) settle(shown);
    }
  }

  end(): void {
    this.#ended = true;
    for (const { settle } of this.#waiting.splice(0)) settle(false);
  }
}
