import { setTimeout as sleep } from "node:timers/promises";
import type { StoredQuery } from "../../../domain/query/stored_query.ts";
import type { HttpParts } from "../routing/http_parts.ts";

/** Waits until a query that another process runs has ended or has another iteration. Polls until the signal aborts,
 * which must happen when the waiting client leaves. Null when the signal aborts and if the query was deleted. */
export async function nextChange(
  { queryId, iterations }: StoredQuery,
  { parts: { conversations, limits }, signal }: {
    readonly parts: Pick<HttpParts, "conversations" | "limits">;
    readonly signal: AbortSignal;
  },
): Promise<StoredQuery | null> {
  while (!signal.aborted) {
    await sleep(limits.lookMs, undefined, { signal }).catch(() => {});
    const found = await conversations.records.query(queryId);
    if (!found?.running || found.iterations !== iterations) return found;
  }
  return null;
}
