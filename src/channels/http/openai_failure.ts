import type { QueryReason, QueryResult } from "../../domain/query_result.ts";
import { Problem } from "./problem.ts";

/** Where the answer only says what went wrong. */
const FAILED: readonly QueryReason[] = [
  "provider",
  "configuration",
  "defect",
  "answer_schema",
  "process_lost",
  "cancelled",
];

/** The problem that a query without an answer is for a client, or null. */
export function openAiFailure({ reason, answer }: Pick<QueryResult, "reason" | "answer">): Problem | null {
  if (!FAILED.includes(reason)) return null;
  return new Problem(answer, {
    kind: reason === "provider" || reason === "answer_schema" ? "provider" : "unavailable",
  });
}
