import { together } from "../../domain/kit/concurrency.ts";
import { readLineage } from "../branches/lineage.ts";
import { Content } from "../content/content.ts";
import type { Database } from "../database/database.ts";
import { fromJson } from "../database/json.ts";
import { namedQuery } from "../database/named_query.ts";
import { newestThinkings } from "../runs/last_iteration.ts";
import type { PreviousTurn } from "../store/query_store.ts";
import type { ExtrasMetadata } from "./extras.ts";
import { pendingBlocks } from "./pending_blocks.ts";
import { runBefore, shownQueries, type ShownRow, shownRows } from "./query_rows.ts";

/** `QueryStore.previousTurn`. What was before a query no longer changes, so that no snapshot is needed. */
export async function previousTurn(
  tx: Database,
  { branchId, before }: { readonly branchId: string; readonly before: string },
): Promise<PreviousTurn | null> {
  const [row] = await runBefore(tx, { queryId: before });
  const found = row ? { row, until: null } : await lastShown(tx, { branchId, before });
  if (!found) return null;
  const content = new Content(tx);
  const [query] = await shownQueries(content, [found]);
  if (!query || query.running) return null;
  const { text, answer, status, queryId, iterations, notes } = query;
  const { images = [] } = fromJson<ExtrasMetadata>(content.text(found.row.soulMetadata ?? "{}"));
  const [thinkings, pending] = await together([
    newestThinkings(content, { queryId, until: found.until ? iterations : Infinity }),
    // A query that ends with an answer leaves no running block.
    status === "done" ? [] : pendingBlocks(tx, queryId),
  ]);
  return {
    ...{ queryId, text, answer, status, thinkings },
    ...(notes.length > 0 ? { notes } : {}),
    ...(images.length > 0 ? { images: images.length } : {}),
    ...(pending.length > 0 ? { pending } : {}),
  };
}

const numberOfRun = namedQuery((db, { queryId }: { readonly queryId: string }) =>
  db.selectFrom("queryState as s").innerJoin("querySoul as q", "q.id", "s.querySoulId").select("q.number")
    .where("s.id", "=", queryId)
);

/** The last run that the ancestors of a branch show, for its first query; the last ended one of the branch and its
 * ancestors, if it has no such query. */
async function lastShown(
  tx: Database,
  { branchId, before }: { readonly branchId: string; readonly before: string },
): Promise<ShownRow | undefined> {
  const [mark] = await numberOfRun(tx, { queryId: before });
  const [own, ...ancestors] = await readLineage(tx, branchId);
  // Only the newest can be running.
  const mine = mark ? [] : await shownRows(tx, { lineage: [own], newest: 2 });
  return mine.findLast(({ row }) => row.status !== "running") ??
    (await shownRows(tx, { lineage: ancestors, newest: 1 })).at(-1);
}
