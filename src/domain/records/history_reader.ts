import type { SearchFilter, SearchHit } from "./archive.ts";
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
  /** What the model took. */
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

/** What an extension may read of everything that is stored. A conversation is named by its id or the first 8 characters
 * of it, and rejects with `UsageError` where there is none. */
export interface HistoryReader {
  search(text: string, filter: SearchFilter): Promise<readonly SearchHit[]>;
  /** The one with the newest query first. */
  conversations(options: { readonly limit: number }): Promise<readonly PastConversation[]>;
  /** Oldest first; the newest ones alone costs no more in a long conversation. */
  queries(conversationId: string, options?: NewestQueries): Promise<readonly PastQuery[]>;
  iterations(queryId: string): Promise<readonly PastIteration[]>;
  /** The messages that an iteration (1-based) was asked with, null where there is none. */
  sent(queryId: string, iteration: number): Promise<readonly SentMessage[] | null>;
  /** The ones defined last first. */
  variables(conversationId: string): Promise<readonly PastVariable[]>;
  /** The value of a version (1-based, the newest by default): data as data, functions and classes as their source, what
   * could not be kept as null. Rejects with `UsageError` where there is none. */
  variable(
    conversationId: string,
    options: { readonly name: string; readonly version?: number | undefined },
  ): Promise<unknown>;
}
