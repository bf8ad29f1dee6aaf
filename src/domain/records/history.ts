import { counted } from "../kit/text.ts";
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
  readonly code: string;
  readonly createdAt: number;
}

/** A caller may name a conversation or branch by its id or by the beginning of the id. Methods reject with `UsageError`
 * for an unknown conversation. */
export interface HistoryReader {
  search(text: string, filter: SearchFilter): Promise<readonly SearchHit[]>;
  conversations(options: { readonly limit: number }): Promise<readonly PastConversation[]>;
  queries(conversationId: string, options?: NewestQueries): Promise<readonly PastQuery[]>;
  iterations(queryId: string): Promise<readonly PastIteration[]>;
  /** `iteration` is 1-based. */
  sent(queryId: string, iteration: number): Promise<readonly SentMessage[] | null>;
  variables(conversationId: string): Promise<readonly PastVariable[]>;
  versions(conversationId: string, name: string): Promise<readonly PastVersion[]>;
  dependencies(conversationId: string): Promise<readonly Dependency[]>;
  logs(filter: LogFilter): Promise<readonly LogRow[]>;
  /** `version` is 1-based; the default is the newest. */
  variable(
    conversationId: string,
    options: { readonly name: string; readonly version?: number | undefined },
  ): Promise<unknown>;
}

export interface NewestQueries {
  readonly newest?: number | undefined;
}

export type SearchKind = "request" | "code" | "answer";

export interface SearchFilter {
  readonly limit: number;
  readonly conversationId?: string | undefined;
  /** A branch shows its own queries, and queries of its ancestors up to the forks. With an id, the search covers only
   * these. */
  readonly branchId?: string | undefined;
  readonly kind?: SearchKind | undefined;
  /** `since` is inclusive, and `until` is exclusive. */
  readonly since?: number | undefined;
  readonly until?: number | undefined;
}

export interface SearchHit {
  readonly kind: SearchKind;
  /** `[` and `]` mark the searched words. */
  readonly snippet: string;
  readonly conversationId: string;
  readonly branchId: string;
  readonly title: string;
  readonly queryId: string;
  /** For code, these fields are the iteration and its 0-based position. */
  readonly iterationId: string | null;
  readonly position: number | null;
  readonly variable: string | null;
  readonly at: number;
  readonly ownerTable: string;
  readonly ownerId: string;
  readonly field: string;
}

export function bestHits<H extends Pick<SearchHit, "conversationId">>(
  hits: readonly H[],
): readonly { readonly hit: H; readonly others: number }[] {
  return [...Map.groupBy(hits, ({ conversationId }) => conversationId).values()].flatMap(([hit, ...more]) =>
    hit === undefined ? [] : [{ hit, others: more.length }]
  );
}

export function othersText(others: number, isCut: boolean): string {
  if (others === 0) return "";
  return `and ${isCut ? "at least " : ""}${counted(others, "more match")} in this conversation`;
}

export interface LogFilter {
  /** The result has at most this number of rows: the newest, or the oldest with `after`. */
  readonly limit: number;
  readonly level?: LogEntry["level"] | undefined;
  readonly conversationId?: string | undefined;
  readonly queryId?: string | undefined;
  readonly since?: number | undefined;
  readonly after?: number | undefined;
}

export interface LogRow extends LogEntry {
  readonly seq: number;
  readonly at: number;
}

export interface Archive {
  /** The text has no query syntax. The best match comes first. */
  search(text: string, filter: SearchFilter): Promise<readonly SearchHit[]>;
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
  /** `block` is 0-based. The store must already have the block. */
  readonly block?: number;
  readonly at?: number;
}

export function logLevelOf(text: string): LogEntry["level"] | null {
  const name = text === "warning" ? "warn" : text;
  return LOG_LEVELS.find((level) => level === name) ?? null;
}
