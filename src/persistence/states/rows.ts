import type { StatePlace, StateVersion } from "../../domain/records/extension_state.ts";
import { Content } from "../content/content.ts";
import type { Database } from "../sqlite/database.ts";
import type { BranchSegment } from "../branches/lineage.ts";
import type { DatabaseSchema } from "../schema/schema.ts";
import { readStateLineage } from "./lineage.ts";

/** A version as it is stored. */
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

/** What a branch reads from, itself first; null stands for what is global. */
export async function stateSegments(
  tx: Database,
  { branchId }: StatePlace,
): Promise<readonly (BranchSegment | null)[]> {
  return branchId === null ? [null] : await readStateLineage(tx, branchId);
}
