import { configureSync, getLogger, type LogRecord, resetSync, withFilter } from "@logtape/logtape";
import { QUEUES } from "./_queues.ts";
import type { FinishedCall } from "./finished_call.ts";

export type LogLevel = "debug" | "info" | "warning" | "error" | "fatal";

/** The engine's log: an event name that machines can match, and data. Never contains a key or a user's message text.
 * Silent until `startLogging` is called. */
export interface Log {
  debug(event: string, data?: Record<string, unknown>): void;
  info(event: string, data?: Record<string, unknown>): void;
  warn(event: string, data?: Record<string, unknown>): void;
  error(event: string, data?: Record<string, unknown>): void;
  /** For the log table only, and faster than a record: a block may make hundreds of calls. */
  call?(call: FinishedCall): void;
}

/** Creates a log under a category below "vis". */
export function createLog(category: string): Log {
  const path = ["vis", category];
  const logger = getLogger(path);
  // Emits the record directly: an event has no placeholders, and LogTape's own methods are several times slower.
  const emit = (level: LogRecord["level"], event: string, data: Record<string, unknown>): void => {
    if (!logger.isEnabledFor(level)) return;
    const record = {
      category: path,
      level,
      timestamp: Date.now(),
      message: [event],
      rawMessage: event,
      properties: data,
    };
    logger.emit(record);
  };
  return {
    debug: (event, data = {}) => emit("debug", event, data),
    info: (event, data = {}) => emit("info", event, data),
    warn: (event, data = {}) => emit("warning", event, data),
    error: (event, data = {}) => emit("error", event, data),
    call: (call) => QUEUES.forEach((queue) => queue.addCall(call)),
  };
}

/** Sends records at or above `level` to `write`, one JSON line each. Called once, by `app.ts`. */
export function startLogging(options: { readonly level: LogLevel; readonly write: (line: string) => void }): void {
  const sink = (record: LogRecord): void => {
    const { timestamp, level, category, rawMessage, properties } = record;
    const event = typeof rawMessage === "string" ? rawMessage : rawMessage.join("");
    options.write(JSON.stringify({ time: timestamp, level, category: category.join("."), event, ...properties }));
  };
  resetSync();
  configureSync({
    // The logger's level alone is not enough: the log table may need more.
    sinks: { lines: withFilter(sink, options.level) },
    loggers: [
      { category: ["logtape", "meta"], lowestLevel: "fatal", sinks: [] },
      { category: ["vis"], lowestLevel: options.level, sinks: ["lines"] },
    ],
  });
}
