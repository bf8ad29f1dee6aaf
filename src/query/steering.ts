/** Messages that the user sends while a query runs, on their way into its next call. */
export class Steering {
  #waiting: { readonly text: string; readonly settle: (shown: boolean) => void }[] = [];
  #ended = false;

  /** Resolves with true once a call shows the text, with false when the query ended before one could or the signal took
   * it back. */
  add(text: string, signal?: AbortSignal): Promise<boolean> {
    if (this.#ended || signal?.aborted) return Promise.resolve(false);
    return new Promise((settle) => {
      const one = { text, settle };
      this.#waiting.push(one);
      signal?.addEventListener("abort", () => {
        this.#waiting = this.#waiting.filter((other) => other !== one);
        settle(false);
      }, { once: true });
    });
  }

  /** Oldest first, for the call that is being prepared. */
  take(): readonly string[] {
    const taken = this.#waiting;
    this.#waiting = [];
    for (const { settle } of taken) settle(true);
    return taken.map(({ text }) => text);
  }

  /** The query makes no further call. */
  end(): void {
    this.#ended = true;
    for (const { settle } of this.#waiting.splice(0)) settle(false);
  }
}
