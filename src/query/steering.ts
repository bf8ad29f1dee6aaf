/** Messages that the user sends while a query runs, queued for its next call. */
export class Steering {
  #waiting: { readonly text: string; readonly settle: (shown: boolean) => void }[] = [];
  #ended = false;

  /** Resolves with true once a call shows the text, or with false if the query ended first or the signal withdrew
   * it. */
  add(text: string, signal?: AbortSignal): Promise<boolean> {
    if (this.#ended || signal?.aborted) return Promise.resolve(false);
    return new Promise((settle) => {
      const one = { text, settle };
      this.#waiting.push(one);
      signal?.addEventListener("abort", () => {
        if (!this.#waiting.includes(one)) return;
        this.#waiting = this.#waiting.filter((other) => other !== one);
        settle(false);
      }, { once: true });
    });
  }

  /** The queued messages, oldest first, for the call that is being prepared. They count as shown once they are stored. */
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
      for (const { settle } of taken) settle(shown);
    }
  }

  /** Call it when the query makes no further call. */
  end(): void {
    this.#ended = true;
    for (const { settle } of this.#waiting.splice(0)) settle(false);
  }
}
