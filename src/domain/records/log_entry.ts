export const LOG_LEVELS = ["trace", "debug", "info", "warn", "error", "fatal"] as const;

/** One row of the log table. */
export interface LogEntry {
  readonly level: typeof LOG_LEVELS[number];
  readonly event: string;
  readonly data: Readonly<Record<string, unknown>>;
  readonly conversationId?: string;
  readonly queryId?: string;
  readonly iterationId?: string;
  /** Of the iteration, 0-based; one that is not stored yet is left out of what the entry is about. */
  readonly block?: number;
  /** Milliseconds since the epoch; when it is stored, where it is left out. */
  readonly at?: number;
}
