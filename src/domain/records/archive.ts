import type { LogEntry } from "./log_entry.ts";

export type SearchKind = "request" | "code" | "answer";

export interface SearchFilter {
  readonly limit: number;
  readonly conversationId?: string | undefined;
  readonly kind?: SearchKind | undefined;
  /** Milliseconds since the epoch: from `since` on, before `until`. */
  readonly since?: number | undefined;
  readonly until?: number | undefined;
}

/** One place where all words were found. */
export interface SearchHit {
  readonly kind: SearchKind;
  /** Around the words, which stand in `[` and `]`. */
  readonly snippet: string;
  readonly conversationId: string;
  readonly branchId: string;
  readonly title: string;
  readonly queryId: string;
  /** Of code: the iteration and its 0-based position. */
  readonly iterationId: string | null;
  readonly position: number | null;
  /** Of code that is the source of a function or class: its name. */
  readonly variable: string | null;
  readonly at: number;
  /** The row that holds the text. */
  readonly ownerTable: string;
  readonly ownerId: string;
  readonly field: string;
}

export interface LogFilter {
  /** The newest so many; with `after`, the oldest. */
  readonly limit: number;
  /** This level and those above it. */
  readonly level?: LogEntry["level"] | undefined;
  readonly conversationId?: string | undefined;
  readonly queryId?: string | undefined;
  readonly since?: number | undefined;
  /** Only rows written after the one of this number. */
  readonly after?: number | undefined;
}

export interface LogRow extends LogEntry {
  /** Rises from row to row. */
  readonly seq: number;
  readonly at: number;
}

/** What can be looked for in all that is stored. */
export interface Archive {
  /** Best first: all words must occur; nothing in the text has another meaning. */
  search(text: string, filter: SearchFilter): Promise<readonly SearchHit[]>;
  /** Oldest first. */
  logs(filter: LogFilter): Promise<readonly LogRow[]>;
}
