import type { Dependency } from "../domain/dependency.ts";
import type { Database } from "./_database.ts";
import { readLineage } from "./_lineage.ts";

/** Which variables of a branch were made from which, each pair once. */
export async function readDependencies(db: Database, branchId: string): Promise<readonly Dependency[]> {
  const branches = (await readLineage(db, branchId)).map((segment) => segment.branchId);
  const rows = await db.selectFrom("expressionDependency as edge")
    .innerJoin("expressionSoul as made", "made.id", "edge.downstreamExpressionSoulId")
    .innerJoin("expressionSoul as read", "read.id", "edge.upstreamExpressionSoulId")
    .select(["made.name as name", "read.name as reads"]).distinct()
    .where("edge.conversationStateId", "in", branches)
    .where("made.name", "is not", null).where("read.name", "is not", null)
    .orderBy("made.name").orderBy("read.name").execute();
  return rows.map(({ name, reads }) => ({ name: name ?? "", reads: reads ?? "" }));
}
