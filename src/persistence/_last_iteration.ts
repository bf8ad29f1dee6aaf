import { compiledRows } from "./_compiled_rows.ts";
import { Damage } from "./_damage.ts";
import type { Database } from "./_database.ts";
import { intact } from "./_intact.ts";
import { verifyIterations } from "./_iteration_tally.ts";
import type { Schema } from "./_schema.ts";

type Last = Pick<Schema["iteration"], "id" | "status" | "metadata" | "position"> & { readonly states: number };

/** The newest iteration of a run. */
export async function lastIteration(db: Database, queryId: string): Promise<Last | null> {
  await verifyIterations(db, queryId);
  const [last] = await compiledRows<Last & { readonly place: number }>(db, {
    name: "last iteration",
    build: () =>
      db.selectFrom("iteration as k").innerJoin("iteration as i", "i.rowid", "k.rowid")
        .select(["k.position as place", "i.id", "i.status", "i.metadata", "i.position", "i.states"])
        .where("k.queryStateId", "=", queryId).select(intact("iteration", "i")).orderBy("k.position", "desc").limit(1),
    parameters: [queryId, 1],
  });
  if (last) verifyPlaces([last], queryId);
  return last ?? null;
}

/** Throws `Damage` where an index leads to another iteration than its key says. */
export function verifyPlaces(
  rows: readonly { readonly place: number; readonly position: number }[],
  queryId: string,
): void {
  if (rows.some(({ place, position }) => place !== position)) {
    throw new Damage(`an index leads to another iteration of query ${queryId}`);
  }
}
