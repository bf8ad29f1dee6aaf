import type { BlockResult } from "../query/block_result.ts";
import type { Image } from "../images/image.ts";
import type { JsonValue } from "../text/json_value.ts";
import type { Confidence, QueryReason, QueryStatus } from "../query/query_result.ts";
import type { Usage } from "../query/usage.ts";

/** A plain model call that a block made. */
export interface RecordedCall {
  readonly prompt: string;
  /** Null where it failed. With an error, the length limit of the model cut it. */
  readonly reply: string | null;
  readonly error: string | null;
}

/** What the variable `context` was given. Its pieces can be read while the store is open. */
export interface RecordedContext {
  readonly label: string;
  readonly json: boolean;
  readonly pieces: () => AsyncIterable<Uint8Array>;
}

export interface RecordedIteration {
  readonly iterationId: string;
  /** 1-based. */
  readonly number: number;
  readonly status: QueryStatus | "running";
  /** What came of it: executed, empty, failed, refused, final; "" while it is not known. */
  readonly outcome: string;
  readonly thinking: string;
  /** The part of the thinking that the model gave beside its reply. */
  readonly nativeReasoning: string;
  /** The raw reply, "" where none came. */
  readonly response: string;
  /** Where the reply is a part of one: cut by the length limit of the model, or broken off. */
  readonly ending?: "cut" | "broken";
  readonly error: string | null;
  readonly notes: readonly string[];
  /** Iterations that the query might use when this one began, null where that is not recorded. */
  readonly budget: number | null;
  readonly blocks: readonly { readonly code: string; readonly result: BlockResult }[];
  readonly calls: readonly RecordedCall[];
  /** Child queries that its blocks ran. */
  readonly children: readonly RecordedQuery[];
}

export interface RecordedQuery {
  readonly queryId: string;
  readonly text: string;
  readonly running: boolean;
  readonly status: QueryStatus | "running";
  /** Null while it runs. */
  readonly reason: QueryReason | null;
  readonly answer: string;
  readonly confidence: Confidence;
  readonly usage: Usage;
  readonly costUsd: number | null;
  readonly ms: number;
  readonly notes: readonly string[];
  readonly images: readonly Image[];
  /** The JSON Schema that the answer had to satisfy, null where there was none. */
  readonly answerSchema: JsonValue | null;
  /** Null where nothing was given, and for child queries. */
  readonly context: RecordedContext | null;
  readonly iterations: readonly RecordedIteration[];
  readonly createdAt: number;
}

/** A conversation as the store has it, oldest query first. */
export interface Recording {
  readonly conversationId: string;
  readonly title: string;
  readonly workspace: string;
  readonly createdAt: number;
  readonly queries: readonly RecordedQuery[];
}
