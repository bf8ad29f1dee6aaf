import type { Kysely } from "kysely";
import { Content } from "./_content.ts";
import { fromJson } from "./_json.ts";
import type { Schema } from "./_schema.ts";

/** Texts of the blocks of a query that were running when it was cut: those of its last iteration, whose end was never
 * stored. */
export async function pendingBlocks(db: Kysely<Schema>, queryId: string): Promise<readonly string[]> {
  const last = await db.selectFrom("iteration").select(["status", "metadata"])
    .where("queryStateId", "=", queryId).orderBy("position", "desc").limit(1).executeTakeFirst();
  if (last?.status !== "interrupted") return [];
  const content = new Content(db);
  await content.load([last.metadata]);
  return fromJson<{ readonly pendingBlocks: readonly string[] }>(content.text(last.metadata ?? "{}")).pendingBlocks ??
    [];
}
