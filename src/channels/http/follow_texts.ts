import { eventText, runTexts } from "./event_stream.ts";
import type { StoredQuery } from "./find_query.ts";
import type { HttpParts } from "./http_parts.ts";
import type { Run } from "./run.ts";
import { storedEvents } from "./stored_events.ts";

/** The events of a query after `lastId`: from the run while it has them, else rebuilt from rows. Ids of rebuilt events
 * are `r1`, `r2` …; what a run adds to them has its numbers again. */
export async function* followTexts(
  query: StoredQuery,
  { parts, run, lastId }: {
    readonly parts: Pick<HttpParts, "conversations" | "model">;
    readonly run: Run | null;
    readonly lastId: string;
  },
): AsyncGenerator<string> {
  const after = Number(/^\d{1,9}$/.exec(lastId)?.[0] ?? 0);
  if (run && after + 1 >= run.oldest && after <= run.newest) return yield* runTexts(run, after);
  // Looked at before the rows are read, so that no event falls between the two.
  const next = run ? run.oldest : 0;
  const iterations = await parts.conversations.iterations(query.queryId);
  const seen = Number(/^r(\d{1,9})$/.exec(lastId)?.[1] ?? 0);
  for (const [at, event] of storedEvents(query, { iterations, model: parts.model }).entries()) {
    const isEnd = event.type === "final" || event.type === "failed" || event.type === "cancelled";
    if (isEnd && run?.running) break;
    if (at + 1 > seen) yield eventText(event, `r${at + 1}`);
    if (isEnd) return;
  }
  if (run) yield* restOf(run, { from: next, stored: iterations.filter(({ status }) => status !== "running").length });
}

/** What a run tells of the iterations that no row told of. */
async function* restOf(
  run: Run,
  { from, stored }: { readonly from: number; readonly stored: number },
): AsyncGenerator<string> {
  for (let found = await run.next(from - 1); found; found = await run.next(found.number)) {
    const { event, number } = found;
    if (event.iteration !== null && event.iteration <= stored) continue;
    if (event.type === "started" && event.parentQueryId === undefined) continue;
    yield eventText(event, String(number));
  }
}
