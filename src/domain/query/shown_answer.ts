import type { QueryResult } from "./query_result.ts";

/** The answer for a reader who gets nothing else of the result: with why it is not stored, where that is so. */
export function shownAnswer({ reason, answer, notes }: Pick<QueryResult, "reason" | "answer" | "notes">): string {
  return reason === "unstored" ? `${answer}\n\n${notes.at(-1)}` : answer;
}
