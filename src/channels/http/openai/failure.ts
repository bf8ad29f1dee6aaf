import { hasAnswer, type QueryReason, type QueryResult } from "../../../domain/query/query_result.ts";
import { shownAnswer } from "../../../domain/query/shown_answer.ts";
import { Problem } from "../response/problem.ts";

const OF_THE_MODEL: readonly QueryReason[] = ["provider", "answer_schema", "unusable_replies", "unsupported_answer"];

/** The problem to report for a query without an answer, or with one that is not stored; null otherwise. */
export function openAiFailure(result: Pick<QueryResult, "reason" | "answer" | "notes" | "noAnswer">): Problem | null {
  const { reason } = result;
  if (hasAnswer(result) && reason !== "unstored") return null;
  return new Problem(shownAnswer(result), {
    kind: OF_THE_MODEL.includes(reason) ? "provider" : "unavailable",
  });
}
