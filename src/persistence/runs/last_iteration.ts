import { namedQuery } from "../database/named_query.ts";
import { Damage } from "../schema/damage.ts";
import type { Database } from "../database/database.ts";
import { intact } from "../schema/intact.ts";
import { verifiedNewest } from "./iteration_tally.ts";
import type { DatabaseSchema } from "../schema/schema.ts";

type Found =
  & Pick<DatabaseSchema["iteration"], "id" | "queryStateId" | "status" | "metadata" | "position" | "llmThinking">
  & {
    readonly states: number;
  };

const iterationAt = namedQuery((db, { queryId, place }: { readonly queryId: string; readonly place: number }) =>
  // The row that the index `k` leads to contains its own position.
  db.selectFrom("iteration as k").innerJoin("iteration as i", "i.rowid", "k.rowid")
    .select(["i.id", "i.queryStateId", "i.status", "i.metadata", "i.position", "i.llmThinking", "i.states"])
    .where("k.queryStateId", "=", queryId).where("k.position", "=", place).select(intact("iteration", "i"))
);

const newestPair = namedQuery((db, { queryId, until }: { readonly queryId: string; readonly until: number }) =>
  db.selectFrom("iteration as i")
    .select(["i.id", "i.queryStateId", "i.status", "i.metadata", "i.position", "i.llmThinking", "i.states"])
    .where("i.queryStateId", "=", queryId).where("i.position", "<", until).orderBy("i.position", "desc").limit(2)
);

/** The newest iteration of a run. */
export async function lastIteration(db: Database, queryId: string): Promise<Found | null> {
  for await (const last of newestIterations(db, queryId)) return last;
  return null;
}

/** The iterations of a run before `until`, newest first. Where rows are verified, each is looked up by its position: an
 * index scan would skip those that a damaged key hides. */
export async function* newestIterations(
  db: Database,
  queryId: string,
  { until = Infinity }: { readonly until?: number } = {},
): AsyncGenerator<Found> {
  if (!db.verifies) return yield* newestInPairs(db, { queryId, until });
  for (let place = Math.min(await verifiedNewest(db, queryId), until - 1); place >= 0; place--) {
    const [found] = await iterationAt(db, { queryId, place });
    if (found?.position !== place || found.queryStateId !== queryId) {
      throw new Damage(`iteration ${place + 1} of query ${queryId} is missing`);
    }
    yield found;
  }
}

async function* newestInPairs(
  db: Database,
  { queryId, until }: { readonly queryId: string; readonly until: number },
): AsyncGenerator<Found> {
  for (let before = Math.min(until, Number.MAX_SAFE_INTEGER); before > 0;) {
    const rows = await newestPair(db, { queryId, until: before });
    yield* rows;
    before = rows.at(-1)?.position ?? 0;
  }
}
