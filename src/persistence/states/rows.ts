import type { StatePlace, StateVersion } from "../../domain/records/extension_state.ts";
import { Content } from "../content/content.ts";
import type { Database } from "../database/database.ts";
import { type BranchSegment, readLineage, readLineageAt } from "../branches/lineage.ts";
import type { DatabaseSchema } from "../schema/schema.ts";

/** A branch and its ancestors, the branch first, as for its variables. A child query continues from the iteration that
 * started it. */
async function readStateLineage(db: Database, branchId: string): Promise<readonly BranchSegment[]> {
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

/** A version as stored. */
export type StateRow = Pick<DatabaseSchema["extensionState"], "key" | "version" | "value" | "createdAt">;

/** Rows with their values. */
export async function stateVersions(tx: Database, rows: readonly StateRow[]): Promise<readonly StateVersion[]> {
  const content = new Content(tx);
  await content.load(rows.map(({ value }) => value));
  return rows.map(({ version, value, createdAt: at }) => ({
    version,
    value: value === null ? undefined : JSON.parse(content.text(value)),
    at,
  }));
}

/** What a branch reads from, itself first; null is the global state. */
export async function stateSegments(
  tx: Database,
  { branchId }: StatePlace,
): Promise<readonly (BranchSegment | null)[]> {
  return branchId === null ? [null] : await readStateLineage(tx, branchId);
}
