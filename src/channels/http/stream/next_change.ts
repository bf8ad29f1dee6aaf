import { setTimeout as sleep } from "node:timers/promises";
import type { StoredQuery } from "../../../domain/query/stored_query.ts";
import type { HttpParts } from "../routing/http_parts.ts";

/** A query that another process runs, once it has ended or has another iteration: looked for again and again until the
 * signal, which must end with the client that waits. Null at the signal, and where the query was deleted. */
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
