import type { Kysely } from "kysely";
import { Content } from "./_content.ts";
import { firstWords } from "./_first_words.ts";
import { changeQueryMetadata } from "./_query_metadata.ts";
import { dropLease } from "./_leases.ts";
import type { Schema } from "./_schema.ts";
import type { QueryEnd } from "./store.ts";

const SUBTITLE_CHARS = 60;

/** Ends a running query in the transaction `db`, and with it an iteration that was left running. One that has ended stays
 * as it is. */
export async function endQuery(
  db: Kysely<Schema>,
  { queryId, end, now }: { readonly queryId: string; readonly end: QueryEnd; readonly now: number },
): Promise<void> {
  const { status, ...facts } = end;
  const row = await db.selectFrom("queryState as s").innerJoin("querySoul as q", "q.id", "s.querySoulId")
    .select(["s.status", "q.conversationStateId as branchId"]).where("s.id", "=", queryId).executeTakeFirst();
  if (!row) throw new Error(`Cannot end query ${queryId}: it does not exist`);
  if (row.status !== "running") return;
  await changeQueryMetadata(db, {
    queryId,
    change: () => ({ ...facts, answer: facts.answer.toWellFormed() }),
  });
  const subtitle = await new Content(db).putText(firstWords(end.answer, SUBTITLE_CHARS));
  await db.updateTable("queryState").set({ status, subtitle }).where("id", "=", queryId).execute();
  await db.updateTable("iteration").set({ status: "interrupted", finishedAt: now })
    .where("queryStateId", "=", queryId).where("status", "=", "running").execute();
  await dropLease(db, row.branchId);
}
