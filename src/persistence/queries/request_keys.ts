import { sql } from "kysely";
import { BusyError } from "../../domain/errors.ts";
import type { RequestKey } from "../../domain/query/stored_query.ts";
import type { Database } from "../database/database.ts";
import { insertRow } from "../database/insert_row.ts";
import type { DatabaseSchema } from "../schema/schema.ts";

const KEPT_MS = 24 * 3_600_000;

/** Stores the key together with the query that it begins, and deletes keys older than a day. Throws `BusyError` if
 * another process received the key in the meantime or has continued its request. */
export async function keepRequestKey(
  tx: Database,
  { requestKey, queryId, now }: { readonly requestKey: RequestKey; readonly queryId: string; readonly now: number },
): Promise<void> {
  const { branchId, key, fingerprint, replaces } = requestKey;
  await tx.deleteFrom("requestKey").where("createdAt", "<=", now - KEPT_MS).execute();
  const known = await findRequestKey(tx, { branchId, key, now });
  const isOther = known !== null && known.queryId !== queryId;
  if (isOther && known.queryId !== replaces) {
    throw new BusyError("Conversation is busy: another process runs the request of this key");
  }
  if (isOther) {
    await tx.deleteFrom("requestKey").where("key", "=", key).where("queryStateId", "=", known.queryId).execute();
  }
  const row = { conversationStateId: branchId, key, fingerprint, queryStateId: queryId, createdAt: now };
  await insertRow(tx, "requestKey", row);
}

/** The key in any branch of the conversation; null if it does not occur within the last day. */
export async function findRequestKey(
  db: Database,
  { branchId, key, now }: { readonly branchId: string; readonly key: string; readonly now: number },
): Promise<{ readonly queryId: string; readonly fingerprint: string } | null> {
  const conversation = await conversationOf(db, branchId);
  const rows = await db.selectFrom("requestKey").select(["conversationStateId", "queryStateId", "fingerprint"])
    .where("key", "=", key).where("createdAt", ">", now - KEPT_MS).execute();
  const accepted = db.kind === "postgres" ? await keyedJobs(db, key) : [];
  for (const { conversationStateId, queryStateId: queryId, fingerprint } of [...accepted, ...rows]) {
    if (await conversationOf(db, conversationStateId) === conversation) return { queryId, fingerprint };
  }
  return null;
}

/** Requests with this key that nodes have accepted; their queries may not have begun. */
async function keyedJobs(db: Database, key: string) {
  const { rows } = await sql<
    Pick<DatabaseSchema["requestKey"], "conversationStateId" | "queryStateId" | "fingerprint">
  >`
    SELECT conversation_state_id, query_id AS query_state_id, fingerprint FROM job WHERE request_key = ${key}`
    .execute(db);
  return rows;
}

async function conversationOf(db: Database, branchId: string): Promise<string | null> {
  const row = await db.selectFrom("conversationState as b").select("b.conversationSoulId").where("b.id", "=", branchId)
    .executeTakeFirst();
  return row?.conversationSoulId ?? null;
}
