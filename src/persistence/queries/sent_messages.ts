import type { SentMessage } from "../../domain/query/model_call.ts";
import { Content } from "../content/content.ts";
import type { Database } from "../database/database.ts";

/** The messages that were sent for an iteration; null if there is no iteration at that position. */
export async function readSentMessages(
  db: Database,
  { queryId, position }: { readonly queryId: string; readonly position: number },
): Promise<readonly SentMessage[] | null> {
  const row = await db.selectFrom("iteration as i").select(["i.llmSystemPrompt", "i.llmUserPrompt"])
    .where("i.queryStateId", "=", queryId).where("i.position", "=", position)
    .executeTakeFirst();
  if (!row) return null;
  const content = new Content(db);
  await content.load([row.llmSystemPrompt, row.llmUserPrompt]);
  const told: readonly { readonly role: "user"; readonly content: string }[] = JSON.parse(
    content.text(row.llmUserPrompt ?? "[]"),
  );
  const sent = told.map(({ role, content: text }) => ({ role, text }));
  // If roles must alternate, a single message holds everything, including the system text.
  if (sent.length === 1) return sent;
  return [{ role: "system", text: content.text(row.llmSystemPrompt ?? "") }, ...sent];
}
