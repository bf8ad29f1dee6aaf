/** Writes to a pipe in order, without the program waiting: a reader that does not read keeps no signal from its handler. */
export class OutputQueue<T> {
  readonly #write: (target: T, bytes: Uint8Array<ArrayBuffer>) => Promise<number>;
  readonly #failed: (target: T, error: unknown) => void;
  readonly #encoder = new TextEncoder();
  #waiting: { readonly target: T; readonly texts: string[] }[] = [];
  #writing: Promise<void> | null = null;

  /** `failed` is told what a target does not take; the rest of that text is dropped. */
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

  /** Null where nothing waits, otherwise settles when nothing does any more. */
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
