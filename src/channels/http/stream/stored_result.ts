import { Cancelled } from "../../../domain/errors.ts";
import type { QueryResult } from "../../../domain/query/query_result.ts";
import type { StoredQuery } from "../../../domain/query/stored_query.ts";
import { nextChange } from "./next_change.ts";
import { resultOf } from "../../../conversation/stored_events.ts";

/** The result of a query, once it has ended in any process. Rejects if the signal aborts before. */
export async function storedResult(
  query: StoredQuery,
  waiting: Parameters<typeof nextChange>[1],
): Promise<QueryResult> {
  for (let now: StoredQuery | null = query; now; now = await nextChange(now, waiting)) {
    if (!now.running) return resultOf(now);
  }
  throw new Cancelled("Cancelled");
}
