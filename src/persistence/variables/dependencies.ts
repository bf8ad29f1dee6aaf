import type { Dependency } from "../../domain/query/variable.ts";
import { readLineage } from "../branches/lineage.ts";
import type { Database } from "../database/database.ts";

/** `Store.dependencies`: which variables of a branch were made from which others, each pair once. */
export async function readDependencies(db: Database, branchId: string): Promise<readonly Dependency[]> {
  return await db.read(async (tx) => {
    const branches = (await readLineage(tx, branchId)).map((segment) => segment.branchId);
    const pairs = new Map<string, Dependency>();
    for (const edge of await readEdges(tx, branches)) pairs.set(`${edge.name} ${edge.reads}`, edge);
    return [...pairs.values()].sort((a, b) => compare(a.name, b.name) || compare(a.reads, b.reads));
  });
}

/** The edges of these branches between variables. */
export async function readEdges(db: Database, branches: readonly string[]): Promise<readonly Dependency[]> {
  const rows = await db.selectFrom("expressionDependency as d")
    .innerJoin("expressionSoul as down", "down.id", "d.downstreamExpressionSoulId")
    .innerJoin("expressionSoul as up", "up.id", "d.upstreamExpressionSoulId")
    .select(["down.name as name", "up.name as reads"]).where("d.conversationStateId", "in", branches).execute();
  return rows.flatMap(({ name, reads }) => name === null || reads === null ? [] : [{ name, reads }]);
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
