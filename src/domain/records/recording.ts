import type { BlockResult } from "../query/block_result.ts";
import type { Image } from "../images/image.ts";
import type { JsonValue } from "../text/json_value.ts";
import type { QueryStatus } from "../query/query_result.ts";
import type { StoredQuery } from "../query/stored_query.ts";
import type { SubCall } from "../query/sub_call.ts";

/** A plain model call made by a block. If there is a reply and an error, the model's length limit cut the reply. */
export type RecordedCall = Pick<SubCall, "prompt" | "reply" | "error">;

/** The input of the variable `context`. Its parts can be read while the store is open. */
export interface RecordedContext {
  readonly label: string;
  readonly json: boolean;
  readonly pieces: () => AsyncIterable<Uint8Array>;
}

export interface RecordedBlock {
  readonly code: string;
  readonly result: BlockResult;
  /** What it changed in files, as unified diffs. */
  readonly diffs: readonly string[];
}

export interface RecordedIteration {
  readonly iterationId: string;
  /** 1-based. */
  readonly number: number;
  readonly status: QueryStatus | "running";
  /** The result: executed, empty, failed, refused or final; "" until it is known. */
  readonly outcome: string;
  readonly thinking: string;
  /** The reasoning that the model returned separately from its reply. */
  readonly nativeReasoning: string;
  /** The raw reply; "" if there was none. */
  readonly response: string;
  /** Set if the reply is incomplete: cut by the model's length limit, or broken off. */
  readonly ending?: "cut" | "broken";
  readonly error: string | null;
  readonly notes: readonly string[];
  /** The iteration budget of the query when this one started; null if it was not recorded. */
  readonly budget: number | null;
  readonly blocks: readonly RecordedBlock[];
  readonly calls: readonly RecordedCall[];
  /** Child queries that its blocks ran. */
  readonly children: readonly RecordedQuery[];
}

type QueryFacts = Pick<StoredQuery, "queryId" | "text" | "running" | "status" | "reason" | "answer" | "confidence">;

export interface RecordedQuery
  extends QueryFacts, Pick<StoredQuery, "usage" | "costUsd" | "ms" | "notes" | "steered" | "createdAt"> {
  readonly images: readonly Image[];
  /** The JSON Schema that the answer had to satisfy, or null. */
  readonly answerSchema: JsonValue | null;
  /** Null if there was no input, and for child queries. */
  readonly context: RecordedContext | null;
  readonly iterations: readonly RecordedIteration[];
}

/** A conversation as stored, oldest query first. */
export interface Recording {
  readonly conversationId: string;
  readonly title: string;
  readonly workspace: string;
  readonly createdAt: number;
  readonly queries: readonly RecordedQuery[];
}

/** A query whose iterations are read as they are needed, possibly more than once. */
export interface PagedQuery extends Omit<RecordedQuery, "iterations"> {
  iterations(): AsyncIterable<RecordedIteration> | Iterable<RecordedIteration>;
}

/** A conversation of any size, of which a few iterations are in memory at a time. */
export interface PagedRecording extends Omit<Recording, "queries"> {
  queries(): AsyncIterable<PagedQuery> | Iterable<PagedQuery>;
}
