import type { LogFilter, LogRow, SearchFilter, SearchHit } from "./archive.ts";
import type { Dependency } from "./dependency.ts";
import type { NewestQueries } from "./newest_queries.ts";
import type { SentMessage } from "../query/sent_message.ts";

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
  /** For each variable, the variables that the blocks which made it have read. */
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
