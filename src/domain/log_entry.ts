export const LOG_LEVELS = ["trace", "debug", "info", "warn", "error", "fatal"] as const;

/** One row of the log table. */
export interface LogEntry {
  readonly level: typeof LOG_LEVELS[number];
  readonly event: string;
  readonly data: Readonly<Record<string, unknown>>;
  readonly conversationId?: string;
  readonly queryId?: string;
  readonly iterationId?: string;
  /** Milliseconds since the epoch; when it is stored, where it is left out. */
  readonly at?: number;
}
