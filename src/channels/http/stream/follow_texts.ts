import { isChild, isEnd } from "../../../domain/query/query_event.ts";
import { eventText, runTexts } from "./event_stream.ts";
import type { StoredQuery } from "../../../domain/query/stored_query.ts";
import type { HttpParts } from "../routing/http_parts.ts";
import { nextChange } from "./next_change.ts";
import type { LiveRun } from "./run.ts";
import { storedEvents } from "../../../conversation/stored_events.ts";

/** The events of a query after `lastId`: from the run while it has them, otherwise rebuilt from rows, as they are
 * stored if another process runs it. Ids of rebuilt events are `r1`, `r2` …; events that a run adds to them keep its
 * numbers. The signal ends it for the client. */
export async function* followTexts(
  query: StoredQuery,
  { parts, run, lastId, signal }: {
    readonly parts: Pick<HttpParts, "conversations" | "model" | "limits">;
    readonly run: LiveRun | null;
    readonly lastId: string;
    readonly signal: AbortSignal;
  },
): AsyncGenerator<string> {
  const after = Number(/^\d{1,9}$/.exec(lastId)?.[0] ?? 0);
  if (run && after + 1 >= run.oldest && after <= run.newest) return yield* runTexts(run, after);
  // Read before the rows, so that no event is missed between the two.
  const next = run ? run.oldest : 0;
  let seen = Number(/^r(\d{1,9})$/.exec(lastId)?.[1] ?? 0);
  for (let now: StoredQuery | null = query; now; now = await nextChange(now, { parts, signal })) {
    // Read after the query: a query that has ended has all of them.
    const iterations = await parts.conversations.iterations(query.queryId);
    for (const [at, event] of storedEvents(now, { iterations, model: parts.model }).entries()) {
      if (isEnd(event) && run?.running) break;
      if (at + 1 > seen) yield eventText(event, `r${seen = at + 1}`);
      if (isEnd(event)) return;
    }
    const stored = iterations.filter(({ status }) => status !== "running").length;
    if (run) return yield* restOf(run, { from: next, stored });
  }
}

/** The run's events for iterations that no row covered. */
async function* restOf(
  run: LiveRun,
  { from, stored }: { readonly from: number; readonly stored: number },
): AsyncGenerator<string> {
  for (let found = await run.next(from - 1); found; found = await run.next(found.number)) {
    const { event, number } = found;
    if (event.iteration !== null && event.iteration <= stored) continue;
    if (event.type === "started" && !isChild(event)) continue;
    yield eventText(event, String(number));
  }
}
