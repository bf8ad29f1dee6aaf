import { Cancelled, UsageError } from "../../domain/errors.ts";
import { withPatience } from "../../domain/kit/patience.ts";
import { isOwnEnd, type QueryEvent } from "../../domain/query/query_event.ts";
import type { NodeStore } from "../../persistence/store/node_store.ts";
import type { Store } from "../../persistence/store/store.ts";
import { endEvent } from "../stored_events.ts";
import { type Bell, ringOrLook } from "./bell.ts";
import type { LocalEvents, NumberedQueryEvent } from "./local_events.ts";

/** The last event comes soon after its query is stored as ended, unless its node was lost in between. */
const LOOKS_AFTER_END = 2;

export interface FollowParts {
  readonly store: Pick<Store, "query">;
  readonly nodes: Pick<NodeStore, "eventsAfter" | "job">;
  readonly bell: Bell;
  /** The events of a query that this node runs. */
  readonly local: (queryId: string) => LocalEvents | null;
}

/** The events of a query after a number, whichever node runs it, up to its end. The signal ends it. Throws `UsageError`
 * for a request that could not begin, and `Cancelled` for one that was withdrawn. */
export async function* followQuery(
  queryId: string,
  parts: FollowParts,
  options: { readonly after: number; readonly signal: AbortSignal },
): AsyncGenerator<NumberedQueryEvent> {
  try {
    yield* eventsAfter(queryId, parts, options);
  } finally {
    parts.bell.ring(queryId); // nobody may wait for it any more
  }
}

async function* eventsAfter(
  queryId: string,
  parts: FollowParts,
  { after, signal }: { readonly after: number; readonly signal: AbortSignal },
): AsyncGenerator<NumberedQueryEvent> {
  let last = after, here: LocalEvents | null = null, looks = 0;
  while (!signal.aborted) {
    const ring = parts.bell.next(queryId);
    here = parts.local(queryId) ?? here;
    const found = here?.after(last) ?? await withPatience(undefined, () => storedAfter(queryId, last, parts));
    for (const one of found) {
      last = one.number;
      yield one;
      if (isOwnEnd(one.event)) return;
    }
    if (found.length > 0) {
      looks = 0;
      continue;
    }
    // All events of the nodes before are read.
    if (here && last < here.before) last = here.before;
    else {
      if (looks > 0 && !parts.local(queryId)) {
        const patient = looks <= LOOKS_AFTER_END;
        const end = await withPatience(undefined, () => endOf(queryId, last, { parts, patient }));
        if (end) return yield end;
      }
      looks++;
      await ringOrLook(ring, signal);
    }
  }
}

async function storedAfter(
  queryId: string,
  last: number,
  { nodes }: Pick<FollowParts, "nodes">,
): Promise<readonly NumberedQueryEvent[]> {
  const found = await nodes.eventsAfter(queryId, last);
  return found.map(({ number, body }) => {
    const event: QueryEvent | { readonly refused: string } = JSON.parse(body);
    if ("refused" in event) throw new UsageError(event.refused);
    return { number, event };
  });
}

/** The end of a query whose last event nobody sent; null while it may still come. */
async function endOf(
  queryId: string,
  last: number,
  { parts: { store, nodes }, patient }: { readonly parts: FollowParts; readonly patient: boolean },
): Promise<NumberedQueryEvent | null> {
  if (await nodes.job(queryId)) return null;
  const query = await store.query(queryId);
  if (!query) throw new Cancelled("Cancelled");
  if (query.running || patient) return null;
  const facts = { seq: 0, at: Date.now(), queryId, iteration: null };
  return { number: last + 1, event: { ...facts, ...endEvent(query) } };
}
