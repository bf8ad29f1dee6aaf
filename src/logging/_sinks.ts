import type { LogEntry } from "../domain/records/history.ts";
import type { FinishedCall } from "./finished_call.ts";

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
