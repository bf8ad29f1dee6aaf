import type { SteeredMessage } from "./steered_message.ts";
import type { AnswerType, Confidence, QueryReason, QueryStatus } from "./query_result.ts";
import type { Usage } from "./usage.ts";

/** What is stored about how a query ended. */
export interface QueryEnd {
  readonly status: QueryStatus;
  readonly reason: QueryReason;
  readonly answer: string;
  readonly answerType: AnswerType;
  readonly confidence: Confidence;
  readonly iterations: number;
  readonly usage: Usage;
  readonly costUsd: number | null;
  readonly ms: number;
  readonly notes: readonly string[];
  readonly noAnswer?: true;
}

interface QueryFacts extends Omit<QueryEnd, "status" | "reason"> {
  readonly queryId: string;
  readonly conversationId: string;
  /** The branch in which it was created. */
  readonly branchId: string;
  readonly text: string;
  readonly createdAt: number;
  /** What the user sent while it ran, oldest first. */
  readonly steered: readonly SteeredMessage[];
}

/** While it runs, in any process, its answer is "". */
export interface RunningQuery extends QueryFacts {
  readonly running: true;
  readonly status: "running";
  readonly reason: null;
}

export interface EndedQuery extends QueryFacts, QueryEnd {
  readonly running: false;
}

/** A query of a branch, as stored in the database. */
export type StoredQuery = RunningQuery | EndedQuery;
