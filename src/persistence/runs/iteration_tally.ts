import { namedQuery } from "../database/named_query.ts";
import { Damage } from "../schema/damage.ts";
import type { Database } from "../database/database.ts";
import { sql } from "kysely";

const iterationsOfRun = namedQuery((db, { queryId }: { readonly queryId: string }) =>
  db.selectFrom("queryState as s").leftJoin("iteration as i", "i.queryStateId", "s.id")
    .select((i) => ["s.iterations as expected", i.fn.max("i.position").as("newest")])
    // A key that was changed counts as missing: a search would go wrong at it.
    .select(sql<number>`coalesce(sum((i.position + 1) * (i.query_state_id = s.id)), 0)`.as("found"))
    .where("s.id", "=", queryId).groupBy("s.id")
);

/** Throws `Damage` if an iteration of a run is missing, which the sum of the positions in the index shows through which
 * iterations are read. */
export async function verifyIterations(db: Database, queryId: string): Promise<void> {
  if (db.verifies) await verifiedNewest(db, queryId);
}

/** The same, where rows are verified. Returns the position of the newest iteration; -1 for none. */
export async function verifiedNewest(db: Database, queryId: string): Promise<number> {
  const [row] = await iterationsOfRun(db, { queryId });
  if (row && row.expected !== row.found) throw lostIterations(queryId);
  return row?.newest ?? -1;
}

/** Throws `Damage` if an iteration of a run is missing, or a block or version that it stored. */
export async function verifyStates(db: Database, queryId: string): Promise<void> {
  if (!db.verifies) return;
  await verifyIterations(db, queryId);
  const row = await db.selectFrom("iteration as i").select("i.position").where("i.queryStateId", "=", queryId)
    .where(
      "i.states",
      "<>",
      sql<number>`(SELECT coalesce(sum(e.checksum), 0) FROM expression_state e WHERE e.iteration_id = i.id)`,
    )
    .limit(1).executeTakeFirst();
  if (row) throw lostStates(queryId, row.position);
}

/** The same check on the rows that were read of one iteration. */
export function verifySum(
  db: Database,
  rows: readonly { readonly checksum: number }[],
  { expected, lost }: { readonly expected: number; readonly lost: () => Damage },
): void {
  if (db.verifies && rows.reduce((sum, { checksum }) => sum + checksum, 0) !== expected) throw lost();
}

export function lostIterations(queryId: string): Damage {
  return new Damage(`iterations of query ${queryId} are missing`);
}

export function lostStates(queryId: string, position: number): Damage {
  return new Damage(`blocks or variables of iteration ${position + 1} of query ${queryId} are missing`);
}
