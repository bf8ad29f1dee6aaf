export const LOG_LEVELS = ["trace", "debug", "info", "warn", "error", "fatal"] as const;

/** One row of the log table. */
export interface LogEntry {
  readonly level: typeof LOG_LEVELS[number];
  readonly event: string;
  readonly data: Readonly<Record<string, unknown>>;
  readonly conversationId?: string;
  readonly queryId?: string;
  readonly iterationId?: string;
  /** 0-based within the iteration. The entry does not refer to the block if it is not stored yet. */
  readonly block?: number;
  /** Milliseconds since the epoch; by default, the time at which it is stored. */
  readonly at?: number;
}

/** The level of this name; null if there is none. `warning` is accepted for `warn`. */
export function logLevelOf(text: string): LogEntry["level"] | null {
  const name = text === "warning" ? "warn" : text;
  return LOG_LEVELS.find((level) => level === name) ?? null;
}
