import type { QueryResult } from "./query_result.ts";

/** The answer for a reader who sees nothing else of the result. If it is not stored, it includes the reason. */
export function shownAnswer({ reason, answer, notes }: Pick<QueryResult, "reason" | "answer" | "notes">): string {
  return reason === "unstored" ? `${answer}\n\n${notes.at(-1)}` : answer;
}
