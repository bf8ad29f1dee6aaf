import { LOG_LEVELS, type LogEntry } from "../domain/records/history.ts";

/** The engine's log: an event name that machines can match, and data. Never contains a key or a user's message text.
 * Goes nowhere until `startLogging` or `startLogTable` is called. */
export interface Log {
  debug(event: string, data?: Record<string, unknown>): void;
  info(event: string, data?: Record<string, unknown>): void;
  warn(event: string, data?: Record<string, unknown>): void;
  error(event: string, data?: Record<string, unknown>): void;
  /** For the log table only, and faster than a record: a block may make hundreds of calls. */
  call?(call: FinishedCall): void;
}

/** Creates a log under a category below "vis". */
export function createLog(name: string): Log {
  const category = `vis.${name}`;
  const emit = (level: LogEntry["level"]) => (event: string, data: Record<string, unknown> = {}): void => {
    for (const sink of SINKS) {
      if (LOG_LEVELS.indexOf(level) < LOG_LEVELS.indexOf(sink.level)) continue;
      try {
        sink.write({ level, category, event, data });
      } catch { /* what is logged must not end because it cannot be */ }
    }
  };
  return {
    debug: emit("debug"),
    info: emit("info"),
    warn: emit("warn"),
    error: emit("error"),
    call: (call) => SINKS.forEach((sink) => sink.call?.(call)),
  };
}

/** Sends records at or above `level` to `write`, one JSON line each. Called once, by `app.ts`. */
export function startLogging(
  { level, write }: { readonly level: LogEntry["level"]; readonly write: (line: string) => void },
): void {
  SINKS.add({
    level,
    write: ({ data, ...record }) => write(JSON.stringify({ time: Date.now(), ...record, ...data })),
  });
}

export interface LogRecord extends Pick<LogEntry, "level" | "event"> {
  readonly category: string;
  readonly data: Readonly<Record<string, unknown>>;
}

/** Receives the records at or above its level. */
export interface LogSink {
  readonly level: LogEntry["level"];
  /** What it throws is ignored. */
  write(record: LogRecord): void;
  call?(call: FinishedCall): void;
}

export const SINKS = new Set<LogSink>();

/** A successful call of an extension's function. */
export interface FinishedCall extends Pick<LogEntry, "conversationId" | "iterationId"> {
  readonly ext: string;
  readonly sym: string;
  readonly ms: number;
}
