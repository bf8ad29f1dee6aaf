import type { LogEntry } from "../domain/records/history.ts";

/** A successful call of an extension's function. */
export interface FinishedCall extends Pick<LogEntry, "conversationId" | "iterationId"> {
  readonly ext: string;
  readonly sym: string;
  readonly ms: number;
}
