import { Content } from "./_content.ts";
import type { Database } from "./_database.ts";
import { fromJson } from "./_json.ts";

/** Texts of the blocks of a query that were running when it was cut: those of its last iteration, whose end was never
 * stored. */
export async function pendingBlocks(db: Database, queryId: string): Promise<readonly string[]> {
  const last = await db.selectFrom("iteration").select(["status", "metadata"])
    .where("queryStateId", "=", queryId).orderBy("position", "desc").limit(1).executeTakeFirst();
  if (last?.status !== "interrupted") return [];
  const content = new Content(db);
  await content.load([last.metadata]);
  return fromJson<{ readonly pendingBlocks: readonly string[] }>(content.text(last.metadata ?? "{}")).pendingBlocks ??
    [];
}
