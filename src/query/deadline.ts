const MAX_TIMER_MS = 2 ** 31 - 1;

/** The signal of a query with a time limit: waits for a model or a block end with it. Its creator must close it. */
export class QueryDeadline {
  readonly signal: AbortSignal;
  readonly #caller: AbortSignal;
  readonly #timer: ReturnType<typeof setTimeout> | null;

  /** Null for no limit besides the caller's own signal. */
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

  /** Whether the time ran out before the caller ended it. */
  get passed(): boolean {
    return this.signal.aborted && !this.#caller.aborted;
  }

  close(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
  }
}
