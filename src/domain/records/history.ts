import type { SentMessage } from "../query/model_call.ts";
import type { Dependency } from "../query/variable.ts";

export interface PastConversation {
  readonly id: string;
  readonly title: string;
  readonly workspace: string;
  readonly queries: number;
  readonly createdAt: number;
}

export interface PastQuery {
  readonly id: string;
  readonly request: string;
  readonly status: string;
  readonly answer: string;
  readonly iterations: number;
  readonly createdAt: number;
}

export interface PastIteration {
  readonly id: string;
  /** The number is 1-based. */
  readonly number: number;
  readonly status: string;
  readonly thinking: string;
  readonly modelMs: number;
  readonly blocks: readonly {
    readonly ms: number;
    readonly code: string;
    readonly ok: boolean;
    readonly result: string;
    readonly stdout: string;
    readonly error: string | null;
  }[];
}

export interface PastVariable {
  readonly name: string;
  readonly kind: string;
  readonly type: string;
  readonly versions: number;
  readonly summary: string;
  readonly createdAt: number;
}

export interface PastVersion {
  /** The version is 1-based. */
  readonly version: number;
  readonly type: string;
  readonly summary: string;
  /** The block with this code made the version. */
  readonly code: string;
  readonly createdAt: number;
}

/** The id of a conversation or branch, or its first 8 or more characters, names it. Methods reject with `UsageError`
 * for an unknown one. The id of a conversation names its last used branch, or the running branch in the running
 * conversation. */
export interface HistoryReader {
  search(text: string, filter: SearchFilter): Promise<readonly SearchHit[]>;
  /** The conversation with the newest query comes first. */
  conversations(options: { readonly limit: number }): Promise<readonly PastConversation[]>;
  /** The oldest query comes first. With `newest`, the call takes no longer in a long conversation. */
  queries(conversationId: string, options?: NewestQueries): Promise<readonly PastQuery[]>;
  iterations(queryId: string): Promise<readonly PastIteration[]>;
  /** Returns the messages of the model call of an iteration (1-based), or null without such an iteration. */
  sent(queryId: string, iteration: number): Promise<readonly SentMessage[] | null>;
  /** The most recently defined variable comes first. */
  variables(conversationId: string): Promise<readonly PastVariable[]>;
  /** The oldest version comes first. Returns an empty list for an unknown variable. */
  versions(conversationId: string, name: string): Promise<readonly PastVersion[]>;
  /** A pair names a variable and a variable that a block read to make it. */
  dependencies(conversationId: string): Promise<readonly Dependency[]>;
  /** Returns the newest `limit` entries of Vis's log, oldest first. */
  logs(filter: LogFilter): Promise<readonly LogRow[]>;
  /** `version` is 1-based; the default is the newest. Returns a function or class as its source, and null for a value
   * that Vis could not keep. Rejects with `UsageError` for an unknown version. */
  variable(
    conversationId: string,
    options: { readonly name: string; readonly version?: number | undefined },
  ): Promise<unknown>;
}

export interface NewestQueries {
  /** Without `newest`, the list has all queries. */
  readonly newest?: number | undefined;
}

export type SearchKind = "request" | "code" | "answer";

export interface SearchFilter {
  readonly limit: number;
  readonly conversationId?: string | undefined;
  /** With a branch, the search covers the queries that it shows: its own, and queries of its ancestors up to the
   * forks. */
  readonly branchId?: string | undefined;
  readonly kind?: SearchKind | undefined;
  /** The times are in milliseconds since the epoch. `since` is inclusive, and `until` is exclusive. */
  readonly since?: number | undefined;
  readonly until?: number | undefined;
}

/** A hit contains all searched words. */
export interface SearchHit {
  readonly kind: SearchKind;
  /** In the text around the words, `[` and `]` mark the words. */
  readonly snippet: string;
  readonly conversationId: string;
  readonly branchId: string;
  readonly title: string;
  readonly queryId: string;
  /** For code, these fields are the iteration and its 0-based position. */
  readonly iterationId: string | null;
  readonly position: number | null;
  /** The name belongs to a function or class. */
  readonly variable: string | null;
  readonly at: number;
  readonly ownerTable: string;
  readonly ownerId: string;
  readonly field: string;
}

export interface LogFilter {
  /** The list has at most this many rows: the newest or, with `after`, the oldest. */
  readonly limit: number;
  /** The list has entries of this level and of more severe levels. */
  readonly level?: LogEntry["level"] | undefined;
  readonly conversationId?: string | undefined;
  readonly queryId?: string | undefined;
  readonly since?: number | undefined;
  /** The list has rows after the row with this number. */
  readonly after?: number | undefined;
}

export interface LogRow extends LogEntry {
  readonly seq: number;
  readonly at: number;
}

export interface Archive {
  /** The best match comes first. All words must occur. The text has no query syntax. */
  search(text: string, filter: SearchFilter): Promise<readonly SearchHit[]>;
  /** The oldest entry comes first. */
  logs(filter: LogFilter): Promise<readonly LogRow[]>;
}

export const LOG_LEVELS = ["trace", "debug", "info", "warn", "error", "fatal"] as const;

export interface LogEntry {
  readonly level: typeof LOG_LEVELS[number];
  readonly event: string;
  readonly data: Readonly<Record<string, unknown>>;
  readonly conversationId?: string;
  readonly queryId?: string;
  readonly iterationId?: string;
  /** The 0-based block is within the iteration. An entry cannot refer to a block that is not stored yet. */
  readonly block?: number;
  /** The time is in milliseconds since the epoch. The default is the time at which the store gets the entry. */
  readonly at?: number;
}

/** Accepts `warning` for `warn`. Returns null for an unknown name. */
export function logLevelOf(text: string): LogEntry["level"] | null {
  const name = text === "warning" ? "warn" : text;
  return LOG_LEVELS.find((level) => level === name) ?? null;
}
