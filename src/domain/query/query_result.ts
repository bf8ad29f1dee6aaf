import type { z } from "zod";
import type { Frozen } from "../reports/frozen.ts";
import type { QueryResultSchema } from "./query_schemas.ts";

/** Why a query ended; docs/architecture.md maps each to its status. `forked` is never stored: it is the reason of a query
 * in a fork that shows only its first iterations. */
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
  "forked",
] as const;
export type QueryReason = typeof QUERY_REASONS[number];

/** The result of a query, however it ended. */
export type QueryResult = Frozen<z.infer<typeof QueryResultSchema>>;
/** What is stored about how a query ended. */
export type QueryEnd = Omit<QueryResult, "queryId" | "conversationId" | "value">;
export type QueryStatus = QueryResult["status"];
export type AnswerType = QueryResult["answerType"];
export type Confidence = QueryResult["confidence"];

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
  forked: "interrupted",
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
  "forked",
]);

/** False if `answer` only says what went wrong. A query that reached its budget or a limit may have its best answer. */
export function hasAnswer({ reason, noAnswer }: Pick<QueryResult, "reason" | "noAnswer">): boolean {
  return !noAnswer && !WITHOUT_ANSWER.has(reason);
}

/** The stored status for a reason. */
export function statusOf(reason: QueryReason): QueryStatus {
  return STATUS[reason];
}
