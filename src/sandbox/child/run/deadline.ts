export interface DeadlineOptions<Handle> {
  readonly setTimeout: (f: () => void, ms: number) => Handle;
  readonly clearTimeout: (handle: Handle) => void;
  readonly now: () => number;
  readonly onDue: () => void;
}

/** A deadline that is set and cleared for every block. A runtime timer that is early enough is kept and waits for the
 * rest when it fires: creating and clearing one each time costs more than a short block. */
export class BlockDeadline<Handle> {
  readonly #options: DeadlineOptions<Handle>;
  #at: number | null = null;
  #timer: { readonly handle: Handle; readonly at: number } | null = null;

  constructor(options: DeadlineOptions<Handle>) {
    this.#options = options;
  }

  /** In time of `now`; null for none. */
  set(at: number | null): void {
    this.#at = at;
    if (at === null || (this.#timer && this.#timer.at <= at)) return;
    if (this.#timer) this.#options.clearTimeout(this.#timer.handle);
    this.#start(at);
  }

  #start(at: number): void {
    const left = at - this.#options.now();
    this.#timer = { handle: this.#options.setTimeout(() => this.#onTimer(), left > 0 ? left : 0), at };
  }

  #onTimer(): void {
    this.#timer = null;
    const at = this.#at;
    if (at === null) return;
    if (at > this.#options.now()) return this.#start(at);
    this.#at = null;
    this.#options.onDue();
  }
}
