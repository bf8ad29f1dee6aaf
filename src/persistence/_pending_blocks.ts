import { Content } from "./_content.ts";
import type { Database } from "./_database.ts";
import { intact } from "./_intact.ts";
import { fromJson } from "./_json.ts";

/** Texts of the blocks of a query that were running when it was cut: those of its last iteration, whose end was never
 * stored. Its iterations are known to be all there. */
export async function pendingBlocks(db: Database, queryId: string): Promise<readonly string[]> {
  const last = await db.selectFrom("iteration as i").select(["i.status", "i.metadata"])
    .where("i.queryStateId", "=", queryId).select(intact("iteration", "i")).orderBy("i.position", "desc").limit(1)
    .executeTakeFirst();
  if (last?.status !== "interrupted") return [];
  const content = new Content(db);
  await content.load([last.metadata]);
  return fromJson<{ readonly pendingBlocks: readonly string[] }>(content.text(last.metadata ?? "{}")).pendingBlocks ??
    [];
}
