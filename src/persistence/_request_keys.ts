import { BusyError } from "../domain/errors.ts";
import type { RequestKey } from "../domain/request_key.ts";
import type { Database } from "./_database.ts";

const KEPT_MS = 24 * 3_600_000;

/** Stores the key together with the query that it begins; those of days before go. Throws `BusyError` for one that
 * another process was given in the meantime, or has continued the request of. */
export async function keepRequestKey(
  tx: Database,
  { requestKey, queryId, now }: { readonly requestKey: RequestKey; readonly queryId: string; readonly now: number },
): Promise<void> {
  const { branchId, key, fingerprint, replaces } = requestKey;
  await tx.deleteFrom("requestKey").where("createdAt", "<=", now - KEPT_MS).execute();
  const known = await findRequestKey(tx, { branchId, key, now });
  if (known && known.queryId !== replaces) {
    throw new BusyError("Conversation is busy: another process runs the request of this key");
  }
  if (known) {
    const renewed = { queryStateId: queryId, createdAt: now };
    await tx.updateTable("requestKey").set(renewed).where("key", "=", key).where("queryStateId", "=", known.queryId)
      .execute();
    return;
  }
  const row = { conversationStateId: branchId, key, fingerprint, queryStateId: queryId, createdAt: now };
  await tx.insertInto("requestKey").values(row).execute();
}

/** Of any branch of the conversation; null where there is none of the last day. */
export async function findRequestKey(
  db: Database,
  { branchId, key, now }: { readonly branchId: string; readonly key: string; readonly now: number },
): Promise<{ readonly queryId: string; readonly fingerprint: string } | null> {
  return await db.selectFrom("requestKey").select(["queryStateId as queryId", "fingerprint"])
    .where("key", "=", key).where("createdAt", ">", now - KEPT_MS)
    .where(
      "conversationStateId",
      "in",
      (any) =>
        any.selectFrom("conversationState as b").select("b.id").where(
          "b.conversationSoulId",
          "=",
          (of) => of.selectFrom("conversationState").select("conversationSoulId").where("id", "=", branchId),
        ),
    )
    .executeTakeFirst() ?? null;
}
