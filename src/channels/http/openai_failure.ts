import type { QueryReason, QueryResult } from "../../domain/query_result.ts";
import { shownAnswer } from "../../domain/shown_answer.ts";
import { Problem } from "./problem.ts";

/** Where the answer only says what went wrong, or is not stored. */
const FAILED: readonly QueryReason[] = [
  "unstored",
  "provider",
  "configuration",
  "defect",
  "answer_schema",
  "unusable_replies",
  "process_lost",
  "cancelled",
];

const OF_THE_MODEL: readonly QueryReason[] = ["provider", "answer_schema", "unusable_replies"];

/** The problem that a query without an answer, or with one that is not stored, is for a client; null otherwise. */
export function openAiFailure(result: Pick<QueryResult, "reason" | "answer" | "notes">): Problem | null {
  const { reason } = result;
  if (!FAILED.includes(reason)) return null;
  return new Problem(shownAnswer(result), {
    kind: OF_THE_MODEL.includes(reason) ? "provider" : "unavailable",
  });
}
