import type { LogEntry } from "./log_entry.ts";

export type SearchKind = "request" | "code" | "answer";

export interface SearchFilter {
  readonly limit: number;
  readonly conversationId?: string | undefined;
  /** Only what this branch shows: its own queries, and those of the branches that it continues up to its forks. */
  readonly branchId?: string | undefined;
  readonly kind?: SearchKind | undefined;
  /** Milliseconds since the epoch; includes `since`, excludes `until`. */
  readonly since?: number | undefined;
  readonly until?: number | undefined;
}

/** A place that contains all the words. */
export interface SearchHit {
  readonly kind: SearchKind;
  /** The text around the words, which are marked with `[` and `]`. */
  readonly snippet: string;
  readonly conversationId: string;
  readonly branchId: string;
  readonly title: string;
  readonly queryId: string;
  /** For code: the iteration and its 0-based position. */
  readonly iterationId: string | null;
  readonly position: number | null;
  /** For code that is the source of a function or class: its name. */
  readonly variable: string | null;
  readonly at: number;
  /** The row that contains the text. */
  readonly ownerTable: string;
  readonly ownerId: string;
  readonly field: string;
}

export interface LogFilter {
  /** At most this many, the newest ones; with `after`, the oldest. */
  readonly limit: number;
  /** This level and more severe ones. */
  readonly level?: LogEntry["level"] | undefined;
  readonly conversationId?: string | undefined;
  readonly queryId?: string | undefined;
  readonly since?: number | undefined;
  /** Only rows written after the row with this number. */
  readonly after?: number | undefined;
}

export interface LogRow extends LogEntry {
  /** Increases from row to row. */
  readonly seq: number;
  readonly at: number;
}

/** Searches in everything that is stored. */
export interface Archive {
  /** Best match first. All words must occur; there is no query syntax. */
  search(text: string, filter: SearchFilter): Promise<readonly SearchHit[]>;
  /** Oldest first. */
  logs(filter: LogFilter): Promise<readonly LogRow[]>;
}
