const MAX_TIMER_MS = 2 ** 31 - 1;

/** The signal of a query that may take only so long: what waits for a model or a block ends with it. Whoever made it
 * closes it. */
export class QueryDeadline {
  readonly signal: AbortSignal;
  readonly #caller: AbortSignal;
  readonly #timer: ReturnType<typeof setTimeout> | null;

  /** Null for no limit beside the caller's own signal. */
  constructor(caller: AbortSignal, wallMs: number | null) {
    this.#caller = caller;
    if (wallMs === null || wallMs > MAX_TIMER_MS) {
      this.signal = caller;
      this.#timer = null;
      return;
    }
    const controller = new AbortController();
    this.#timer = setTimeout(() => controller.abort(), wallMs);
    this.signal = AbortSignal.any([caller, controller.signal]);
  }

  /** Whether the time is over, and the caller did not end it before. */
  get passed(): boolean {
    return this.signal.aborted && !this.#caller.aborted;
  }

  close(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
  }
}
