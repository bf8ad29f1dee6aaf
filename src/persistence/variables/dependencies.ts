import type { Dependency } from "../../domain/records/dependency.ts";
import { Damage } from "../schema/damage.ts";
import type { Database } from "../database/database.ts";
import { intact } from "../schema/intact.ts";
import { readLineage } from "../branches/lineage.ts";

/** `Store.dependencies`: which variables of a branch were made from which others, each pair once. */
export async function readDependencies(db: Database, branchId: string): Promise<readonly Dependency[]> {
  return await db.read(async (tx) => {
    const branches = (await readLineage(tx, branchId)).map((segment) => segment.branchId);
    const pairs = new Map<string, Dependency>();
    for (const edge of await readEdges(tx, branches)) pairs.set(`${edge.name} ${edge.reads}`, edge);
    return [...pairs.values()].sort((a, b) => compare(a.name, b.name) || compare(a.reads, b.reads));
  });
}

/** The edges of these branches between variables. Throws `Damage` if one is missing. */
export async function readEdges(db: Database, branches: readonly string[]): Promise<readonly Dependency[]> {
  const rows = await db.selectFrom("expressionDependency as d")
    .leftJoin("expressionSoul as down", "down.id", "d.downstreamExpressionSoulId")
    .leftJoin("expressionSoul as up", "up.id", "d.upstreamExpressionSoulId")
    .select(["d.conversationStateId as branchId", "d.checksum", "down.name as name", "up.name as reads"])
    .select(["down.id as downId", "up.id as upId"])
    .select(intact("expressionDependency", "d")).select(intact("expressionSoul", "down"))
    .select(intact("expressionSoul", "up"))
    .where("d.conversationStateId", "in", branches).execute();
  const expected = !db.verifies
    ? []
    : await db.selectFrom("conversationState").select(["id", "edges"]).where("id", "in", branches)
      .execute();
  for (const { id, edges } of expected) {
    const found = rows.reduce((sum, { branchId, checksum }) => branchId === id ? sum + checksum : sum, 0);
    if (found !== edges) throw lost(id);
  }
  const loose = rows.find(({ downId, upId }) => downId === null || upId === null);
  if (loose) throw lost(loose.branchId);
  return rows.flatMap(({ name, reads }) => name === null || reads === null ? [] : [{ name, reads }]);
}

function lost(branchId: string): Damage {
  return new Damage(`edges between variables of branch ${branchId} are missing`);
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
