import type { SteeredMessage } from "./steered_message.ts";
import type { QueryEnd } from "./query_result.ts";

interface QueryFacts extends Omit<QueryEnd, "status" | "reason"> {
  readonly queryId: string;
  readonly conversationId: string;
  /** The branch in which it was created. */
  readonly branchId: string;
  readonly text: string;
  readonly createdAt: number;
  /** What the user sent while it ran, oldest first. */
  readonly steered: readonly SteeredMessage[];
  /** Set if a fork shows only its first iterations: when the next one began. */
  readonly forkedAt?: number;
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
