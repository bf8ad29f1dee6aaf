const MAX_TIMER_MS = 2 ** 31 - 1;

/** The signal of a query with a time limit: waits for a model or a block end with it. Its creator must close it. */
export class QueryDeadline {
  readonly signal: AbortSignal;
  readonly #caller: AbortSignal;
  readonly #now: () => number;
  readonly #begun: number;
  readonly #wallMs: number | null;
  readonly #passing = new AbortController();
  #timer: ReturnType<typeof setTimeout> | null = null;
  /** How many hold it, since when, and for how long it was held before. */
  #holds = 0;
  #heldSince = 0;
  #heldBefore = 0;
  #closed = false;

  /** `wallMs`: null for no limit besides the caller's own signal. */
  constructor(
    caller: AbortSignal,
    { wallMs, now = Date.now, elapsedMs = 0 }: {
      readonly wallMs: number | null;
      readonly now?: () => number;
      /** What has passed before. */
      readonly elapsedMs?: number;
    },
  ) {
    this.#caller = caller;
    this.#now = now;
    this.#begun = now() - elapsedMs;
    this.#wallMs = wallMs !== null && wallMs > MAX_TIMER_MS ? null : wallMs;
    this.signal = this.#wallMs === null ? caller : AbortSignal.any([caller, this.#passing.signal]);
    this.#arm();
  }

  /** Milliseconds since the query began, without those in which it was held. */
  get elapsedMs(): number {
    const held = this.#heldBefore + (this.#holds > 0 ? this.#now() - this.#heldSince : 0);
    return this.#now() - this.#begun - held;
  }

  /** Whether the time ran out before the caller ended it. */
  get passed(): boolean {
    return this.signal.aborted && !this.#caller.aborted;
  }

  /** Runs the work while the time stands still. */
  async held<T>(work: () => Promise<T>): Promise<T> {
    if (this.#holds++ === 0) {
      this.#heldSince = this.#now();
      this.#disarm();
    }
    try {
      return await work();
    } finally {
      if (--this.#holds === 0) {
        this.#heldBefore += this.#now() - this.#heldSince;
        this.#arm();
      }
    }
  }

  close(): void {
    this.#closed = true;
    this.#disarm();
  }

  #disarm(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
  }

  #arm(): void {
    if (this.#wallMs === null || this.#closed) return;
    this.#timer = setTimeout(() => this.#passing.abort(), Math.max(0, this.#wallMs - this.elapsedMs));
  }
}
