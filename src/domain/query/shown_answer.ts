import type { QueryResult } from "./query_result.ts";
import { stoppedText } from "./reason_text.ts";

/** The answer for a reader who sees nothing else of the result. If the query was stopped, or its answer is not stored, it
 * includes the reason. */
export function shownAnswer(result: Pick<QueryResult, "reason" | "answer" | "notes" | "noAnswer">): string {
  const { reason, answer, notes } = result;
  const why = reason === "unstored" ? notes.at(-1) ?? "" : stoppedText(result);
  return why === "" ? answer : `${answer}\n\n${why}`;
}
