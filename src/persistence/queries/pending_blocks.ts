import { Content } from "../content/content.ts";
import type { Database } from "../database/database.ts";
import { fromJson } from "../database/json.ts";
import { lastIteration } from "../runs/last_iteration.ts";

/** Source texts of the blocks that were running when a query was interrupted: those of its last iteration, whose end
 * was never stored. */
export async function pendingBlocks(db: Database, queryId: string): Promise<readonly string[]> {
  const last = await lastIteration(db, queryId);
  if (last?.status !== "interrupted") return [];
  const content = new Content(db);
  await content.load([last.metadata]);
  return fromJson<{ readonly pendingBlocks: readonly string[] }>(content.text(last.metadata ?? "{}")).pendingBlocks ??
    [];
}
