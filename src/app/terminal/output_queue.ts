/** Writes to a pipe in order without blocking the program: a stalled reader does not keep signal handlers from
 * running. */
export class OutputQueue<T> {
  readonly #write: (target: T, bytes: Uint8Array<ArrayBuffer>) => Promise<number>;
  readonly #failed: (target: T, error: unknown) => void;
  readonly #encoder = new TextEncoder();
  #waiting: { readonly target: T; readonly texts: string[] }[] = [];
  #writing: Promise<void> | null = null;

  /** `failed` is called if a target accepts no more; the rest of that text is dropped. */
  constructor({ write, failed }: {
    readonly write: (target: T, bytes: Uint8Array<ArrayBuffer>) => Promise<number>;
    readonly failed: (target: T, error: unknown) => void;
  }) {
    this.#write = write;
    this.#failed = failed;
  }

  add(target: T, text: string): void {
    const last = this.#waiting.at(-1);
    if (last?.target === target) last.texts.push(text);
    else this.#waiting.push({ target, texts: [text] });
    this.#writing ??= this.#writeAll();
  }

  /** Null if nothing is queued, otherwise settles when the queue is empty. */
  get busy(): Promise<void> | null {
    return this.#writing;
  }

  async #writeAll(): Promise<void> {
    for (let next = this.#waiting.shift(); next; next = this.#waiting.shift()) {
      const { target, texts } = next;
      const bytes = this.#encoder.encode(texts.join(""));
      try {
        for (let at = 0; at < bytes.length;) at += await this.#write(target, bytes.subarray(at));
      } catch (error) {
        this.#failed(target, error);
      }
    }
    this.#writing = null;
  }
}
