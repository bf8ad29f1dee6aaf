import type { StoredQuery } from "../../domain/query/stored_query.ts";
import type { NewestQueries } from "../../domain/records/history.ts";
import { readLineage } from "../branches/lineage.ts";
import { Content } from "../content/content.ts";
import type { Database } from "../database/database.ts";
import { runById, shownQueries, shownRows } from "./query_rows.ts";

/** `QueryStore.query`. */
export async function queryById(db: Database, queryId: string): Promise<StoredQuery | null> {
  const rows = await runById(db, { queryId });
  const [found] = await shownQueries(new Content(db), rows.map((row) => ({ row, until: null })));
  return found ?? null;
}

/** `QueryStore.queries`: queries of ancestors up to the fork come before the branch's own. */
export async function queriesOfBranch(
  db: Database,
  { branchId, newest = Infinity }: NewestQueries & { readonly branchId: string },
): Promise<readonly StoredQuery[]> {
  return await db.read(async (tx) => {
    const rows = await shownRows(tx, { lineage: await readLineage(tx, branchId), newest });
    return await shownQueries(new Content(tx), rows);
  });
}
