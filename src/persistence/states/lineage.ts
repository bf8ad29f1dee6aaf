import type { Database } from "../sqlite/database.ts";
import { type BranchSegment, readLineage, readLineageAt } from "../branches/lineage.ts";

/** A branch and its ancestors, itself first, as for its variables; and a child query goes on from the iteration that
 * started it. */
export async function readStateLineage(db: Database, branchId: string): Promise<readonly BranchSegment[]> {
  const lineage: BranchSegment[] = [...await readLineage(db, branchId)];
  const met = new Set<string>();
  for (;;) {
    const last = lineage.at(-1)?.branchId ?? branchId;
    const point = met.has(last) ? undefined : await db.selectFrom("childBranch as c")
      .innerJoin("iteration as i", "i.id", "c.iterationId").innerJoin("queryState as s", "s.id", "i.queryStateId")
      .innerJoin("querySoul as q", "q.id", "s.querySoulId")
      .select(["q.conversationStateId as parentId", "q.id as soulId", "q.createdAt as soulCreatedAt"])
      .select(["s.id as queryId", "i.position"]).where("c.conversationStateId", "=", last).executeTakeFirst();
    if (!point) return lineage;
    met.add(last);
    lineage.push(...await readLineageAt(db, point));
  }
}
