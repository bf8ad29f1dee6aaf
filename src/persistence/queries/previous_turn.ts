import { together } from "../../domain/kit/together.ts";
import { verifyAbsent } from "../database/absent.ts";
import type { Database } from "../database/database.ts";
import { fromJson } from "../database/json.ts";
import { namedQuery } from "../database/named_query.ts";
import { Content } from "../content/content.ts";
import { Damage } from "../schema/damage.ts";
import { intact } from "../schema/intact.ts";
import { readLineage } from "../branches/lineage.ts";
import { newestThinkings } from "../runs/last_iteration.ts";
import type { PreviousTurn } from "../store/query_store.ts";
import type { ExtrasMetadata } from "./extras.ts";
import { pendingBlocks } from "./pending_blocks.ts";
import { runBefore, shownQueries, type ShownRow, shownRows } from "./query_rows.ts";

const HANDED_OVER_THINKINGS = 2;

/** `QueryStore.previousTurn`. What was before a query no longer changes; rows that are verified are compared with counts
 * of the same moment. */
export async function previousTurn(
  db: Database,
  place: { readonly branchId: string; readonly before: string },
): Promise<PreviousTurn | null> {
  return await (db.verifies ? db.read((tx) => read(tx, place)) : read(db, place));
}

async function read(
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
    newestThinkings(content, { queryId, until: found.until ? iterations : Infinity, most: HANDED_OVER_THINKINGS }),
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
    .where("s.id", "=", queryId).select(intact("queryState", "s")).select(intact("querySoul", "q"))
);

/** The last run that the ancestors of a branch show, for its first query; the last ended one of the branch and its
 * ancestors, if it has no such query. */
async function lastShown(
  tx: Database,
  { branchId, before }: { readonly branchId: string; readonly before: string },
): Promise<ShownRow | undefined> {
  const [mark] = await numberOfRun(tx, { queryId: before });
  if (mark && mark.number > 0) throw new Damage(`query ${mark.number} of branch ${branchId} is missing`);
  if (!mark && before !== "") await verifyAbsent(tx, { table: "queryState", id: before });
  const [own, ...ancestors] = await readLineage(tx, branchId);
  // Only the newest can be running.
  const mine = mark ? [] : await shownRows(tx, { lineage: [own], newest: 2 });
  return mine.findLast(({ row }) => row.status !== "running") ??
    (await shownRows(tx, { lineage: ancestors, newest: 1 })).at(-1);
}
