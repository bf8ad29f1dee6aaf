import { namedQuery } from "../database/named_query.ts";
import { Damage } from "../schema/damage.ts";
import type { Database } from "../database/database.ts";
import type { BranchSegment } from "../branches/lineage.ts";

const numberOfQuery = namedQuery((db, { soulId }: { readonly soulId: string }) =>
  db.selectFrom("querySoul as q").select("q.number").where("q.id", "=", soulId)
);

const countOfBranch = namedQuery((db, { branchId }: { readonly branchId: string }) =>
  db.selectFrom("conversationState as b").select("b.queries").where("b.id", "=", branchId)
);

/** The number of queries that a segment shows. */
export async function queriesIn(db: Database, { branchId, until }: BranchSegment): Promise<number> {
  if (until === null) return (await countOfBranch(db, { branchId }))[0]?.queries ?? 0;
  const [row] = await numberOfQuery(db, { soulId: until.soulId });
  if (!row) throw new Damage(`query ${until.queryId}, which a branch begins at, is missing`);
  return until.position < 0 ? row.number : row.number + 1;
}
