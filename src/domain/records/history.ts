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
  /** 1-based. */
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
  /** 1-based. */
  readonly version: number;
  readonly type: string;
  readonly summary: string;
  /** The block that made the version. */
  readonly code: string;
  readonly createdAt: number;
}

/** Read access for extensions to stored conversations and to the log. An id, or its first 8 or more characters, names a
 * conversation or branch. Methods reject with `UsageError` for an unknown conversation or branch. The id of a
 * conversation also names its last used branch, or in the running conversation the running branch. */
export interface HistoryReader {
  search(text: string, filter: SearchFilter): Promise<readonly SearchHit[]>;
  /** Lists conversations; the conversation with the newest query comes first. */
  conversations(options: { readonly limit: number }): Promise<readonly PastConversation[]>;
  /** Lists queries, the oldest first. Reading only the newest queries takes no longer in a long conversation. */
  queries(conversationId: string, options?: NewestQueries): Promise<readonly PastQuery[]>;
  iterations(queryId: string): Promise<readonly PastIteration[]>;
  /** Returns the messages sent for an iteration (1-based), or null. */
  sent(queryId: string, iteration: number): Promise<readonly SentMessage[] | null>;
  /** Lists variables, the most recently defined first. */
  variables(conversationId: string): Promise<readonly PastVariable[]>;
  /** Lists versions, the oldest first. The list is empty if the variable does not exist. */
  versions(conversationId: string, name: string): Promise<readonly PastVersion[]>;
  /** Returns, for each variable, the variables that were read by the blocks which made it. */
  dependencies(conversationId: string): Promise<readonly Dependency[]>;
  /** Returns the newest entries of Vis's log, at most `limit`, oldest first. */
  logs(filter: LogFilter): Promise<readonly LogRow[]>;
  /** Returns the value of a version (1-based), by default of the newest version. Returns data as data, a function or
   * class as its source, and null for a value that could not be kept. Rejects with `UsageError` for an unknown
   * version. */
  variable(
    conversationId: string,
    options: { readonly name: string; readonly version?: number | undefined },
  ): Promise<unknown>;
}

export interface NewestQueries {
  /** If absent, the list has all queries. */
  readonly newest?: number | undefined;
}

export type SearchKind = "request" | "code" | "answer";

export interface SearchFilter {
  readonly limit: number;
  readonly conversationId?: string | undefined;
  /** Limits the list to the queries that this branch shows: its own, and its ancestors' up to the forks. */
  readonly branchId?: string | undefined;
  readonly kind?: SearchKind | undefined;
  /** Milliseconds since the epoch; includes `since`, excludes `until`. */
  readonly since?: number | undefined;
  readonly until?: number | undefined;
}

/** A place that contains all searched words. */
export interface SearchHit {
  readonly kind: SearchKind;
  /** The text around the words, which `[` and `]` mark. */
  readonly snippet: string;
  readonly conversationId: string;
  readonly branchId: string;
  readonly title: string;
  readonly queryId: string;
  /** Set for code: its iteration and its 0-based position there. */
  readonly iterationId: string | null;
  readonly position: number | null;
  /** The name of a function or class. */
  readonly variable: string | null;
  readonly at: number;
  readonly ownerTable: string;
  readonly ownerId: string;
  readonly field: string;
}

export interface LogFilter {
  /** The maximum number of rows: the newest rows or, with `after`, the oldest. */
  readonly limit: number;
  /** Limits the list to this level and more severe ones. */
  readonly level?: LogEntry["level"] | undefined;
  readonly conversationId?: string | undefined;
  readonly queryId?: string | undefined;
  readonly since?: number | undefined;
  /** Limits the list to rows written after the row with this number. */
  readonly after?: number | undefined;
}

export interface LogRow extends LogEntry {
  readonly seq: number;
  readonly at: number;
}

export interface Archive {
  /** The best match comes first. All words must occur. The text has no query syntax. */
  search(text: string, filter: SearchFilter): Promise<readonly SearchHit[]>;
  /** Lists entries, the oldest first. */
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
  /** The 0-based block within the iteration. An entry cannot refer to a block that is not stored yet. */
  readonly block?: number;
  /** Milliseconds since the epoch; by default, the time at which the entry is stored. */
  readonly at?: number;
}

/** Accepts `warning` for `warn`. Returns null for an unknown name. */
export function logLevelOf(text: string): LogEntry["level"] | null {
  const name = text === "warning" ? "warn" : text;
  return LOG_LEVELS.find((level) => level === name) ?? null;
}
