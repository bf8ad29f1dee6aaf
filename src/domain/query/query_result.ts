import type { JsonValue } from "../text/json_value.ts";
import type { Usage } from "./usage.ts";

export type QueryStatus = "done" | "error" | "interrupted";

/** Why a query ended; docs/architecture.md maps each to its status. */
export const QUERY_REASONS = [
  "answered",
  "max_iterations",
  "error_budget",
  "answer_schema",
  "unusable_replies",
  "unsupported_answer",
  "limit_cost",
  "limit_tokens",
  "limit_time",
  "provider",
  "configuration",
  "cancelled",
  "process_lost",
  "unstored",
  "defect",
] as const;
export type QueryReason = typeof QUERY_REASONS[number];

export type AnswerType = "text" | "markdown";
export type Confidence = "high" | "medium" | "low";

/** What is stored about how a query ended. `answer` is never empty. */
export interface QueryEnd {
  readonly status: QueryStatus;
  readonly reason: QueryReason;
  readonly answer: string;
  readonly answerType: AnswerType;
  readonly confidence: Confidence;
  readonly iterations: number;
  readonly usage: Usage;
  /** Null if the model's price is unknown. */
  readonly costUsd: number | null;
  readonly ms: number;
  readonly notes: readonly string[];
  /** `answer` only says why there is none; otherwise absent. */
  readonly noAnswer?: true;
}

/** The result of a query, however it ended. */
export interface QueryResult extends QueryEnd {
  readonly queryId: string;
  readonly conversationId: string;
  /** The answer as data, if the caller gave a JSON Schema and the answer satisfies it; otherwise absent. */
  readonly value?: JsonValue;
}

const STATUS: Readonly<Record<QueryReason, QueryStatus>> = {
  answered: "done",
  max_iterations: "error",
  error_budget: "error",
  answer_schema: "error",
  unusable_replies: "error",
  unsupported_answer: "error",
  limit_cost: "error",
  limit_tokens: "error",
  limit_time: "error",
  provider: "error",
  configuration: "error",
  unstored: "error",
  defect: "error",
  cancelled: "interrupted",
  process_lost: "interrupted",
};

const WITHOUT_ANSWER: ReadonlySet<QueryReason> = new Set([
  "answer_schema",
  "unusable_replies",
  "unsupported_answer",
  "provider",
  "configuration",
  "cancelled",
  "process_lost",
  "defect",
]);

/** False if `answer` only says what went wrong. A query that reached its budget or a limit may have its best answer. */
export function hasAnswer({ reason, noAnswer }: Pick<QueryResult, "reason" | "noAnswer">): boolean {
  return !noAnswer && !WITHOUT_ANSWER.has(reason);
}

/** The stored status for a reason. */
export function statusOf(reason: QueryReason): QueryStatus {
  return STATUS[reason];
}
