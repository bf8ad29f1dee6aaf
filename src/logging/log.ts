import { configureSync, getLogger, type LogRecord, resetSync, withFilter } from "@logtape/logtape";
import { QUEUES } from "./_queues.ts";
import type { FinishedCall } from "./finished_call.ts";

export type LogLevel = "debug" | "info" | "warning" | "error" | "fatal";

/** What engines log through: an event name that machines can match, and data. Never a key, never a message text of
 * the user's. Silent until `startLogging` was called. */
export interface Log {
  debug(event: string, data?: Record<string, unknown>): void;
  info(event: string, data?: Record<string, unknown>): void;
  warn(event: string, data?: Record<string, unknown>): void;
  error(event: string, data?: Record<string, unknown>): void;
  /** For the log table alone, and quicker than a record: there may be hundreds in a block. */
  call?(call: FinishedCall): void;
}

/** A log under a category below "vis". */
export function createLog(category: string): Log {
  const path = ["vis", category];
  const logger = getLogger(path);
  // Emitted whole: an event has no placeholders, and LogTape's own methods take several times as long.
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
    // Not by the level of the logger alone: the log table may ask for more.
    sinks: { lines: withFilter(sink, options.level) },
    loggers: [
      { category: ["logtape", "meta"], lowestLevel: "fatal", sinks: [] },
      { category: ["vis"], lowestLevel: options.level, sinks: ["lines"] },
    ],
  });
}
