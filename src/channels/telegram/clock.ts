/** Time as the bot sees it; tests have their own. */
export interface Clock {
  readonly now: () => number;
  /** Rejects with `Cancelled` where the signal is aborted. */
  readonly sleep: (ms: number, signal: AbortSignal) => Promise<void>;
  /** From 0 to 1. */
  readonly random: () => number;
}
