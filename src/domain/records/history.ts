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
  /** Time spent in model calls. */
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
  /** The block that made it. */
  readonly code: string;
  readonly createdAt: number;
}

/** Read access for extensions to everything stored. A conversation is identified by its id or the first 8 characters of
 * it, a branch of it likewise; methods reject with `UsageError` if there is none. The id of a conversation stands for
 * its newest branch, that of the running conversation for the running branch. */
export interface HistoryReader {
  search(text: string, filter: SearchFilter): Promise<readonly SearchHit[]>;
  /** Newest query first. */
  conversations(options: { readonly limit: number }): Promise<readonly PastConversation[]>;
  /** Oldest first. Reading only the newest ones does not take longer in a long conversation. */
  queries(conversationId: string, options?: NewestQueries): Promise<readonly PastQuery[]>;
  iterations(queryId: string): Promise<readonly PastIteration[]>;
  /** The messages sent for an iteration (1-based); null if there is none. */
  sent(queryId: string, iteration: number): Promise<readonly SentMessage[] | null>;
  /** Most recently defined first. */
  variables(conversationId: string): Promise<readonly PastVariable[]>;
  /** The versions of a variable, oldest first, with the block that made each; empty if there is none. */
  versions(conversationId: string, name: string): Promise<readonly PastVersion[]>;
  /** Returns, for each variable, the variables that were read by the blocks which made it. */
  dependencies(conversationId: string): Promise<readonly Dependency[]>;
  /** Entries of Vis's log, oldest first: the newest ones up to `limit`. */
  logs(filter: LogFilter): Promise<readonly LogRow[]>;
  /** The value of a version (1-based, by default the newest): data as data, functions and classes as their source,
   * values that could not be kept as null. Rejects with `UsageError` if there is none. */
  variable(
    conversationId: string,
    options: { readonly name: string; readonly version?: number | undefined },
  ): Promise<unknown>;
}

export interface NewestQueries {
  /** The history has this many of the latest requests; all if absent. */
  readonly newest?: number | undefined;
}

export type SearchKind = "request" | "code" | "answer";

export interface SearchFilter {
  readonly limit: number;
  readonly conversationId?: string | undefined;
  /** The list has only the queries that this branch shows: its own, and those of the branches that it continues up
   * to its forks. */
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
  /** Code has its iteration and its 0-based position there. */
  readonly iterationId: string | null;
  readonly position: number | null;
  /** The source of a function or class has its name here. */
  readonly variable: string | null;
  readonly at: number;
  /** The row that contains the text. */
  readonly ownerTable: string;
  readonly ownerId: string;
  readonly field: string;
}

export interface LogFilter {
  /** The list has at most this many rows: the newest ones or, with `after`, the oldest. */
  readonly limit: number;
  /** This level and more severe ones. */
  readonly level?: LogEntry["level"] | undefined;
  readonly conversationId?: string | undefined;
  readonly queryId?: string | undefined;
  readonly since?: number | undefined;
  /** The list has only rows that were written after the row with this number. */
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
