import { sql } from "kysely";
import type { Database } from "../database/database.ts";
import { fromJson } from "../database/json.ts";
import { updateRow } from "../database/update_row.ts";

/** The activity number of the next conversation or query. */
export async function nextActivity(tx: Database): Promise<number> {
  if (tx.kind === "postgres") {
    const { rows: [sequence] } = await sql<{ next: number }>`SELECT nextval('activity') AS next`.execute(tx);
    return sequence?.next ?? 1;
  }
  const { newest } = await tx.selectFrom("conversationSoul").select((c) => c.fn.max("activity").as("newest"))
    .executeTakeFirstOrThrow();
  return (newest ?? 0) + 1;
}

/** In PostgreSQL: the sequence knows the number of the conversation at the front. */
const TO_FRONT = `UPDATE conversation_soul SET activity = nextval('activity')
  WHERE id = $1 AND activity <> (SELECT last_value FROM activity)`;

/** Moves the conversation of a branch to the front of the list; an imported one has no place in it yet. Not for a child
 * query, which is part of its parent. Writes nothing if the conversation is already at the front. */
export async function moveToFront(
  tx: Database,
  { conversationId: id, activity, metadata }: {
    readonly conversationId: string;
    readonly activity: number;
    /** That of the branch. */
    readonly metadata: string | null;
  },
): Promise<void> {
  if (fromJson<{ readonly child: boolean }>(metadata).child) return;
  if (tx.kind === "postgres") return await tx.store(TO_FRONT, [id]);
  const next = await nextActivity(tx);
  if (activity !== 0 && activity >= next - 1) return;
  await updateRow(tx, "conversationSoul", { id, changes: { activity: next } });
}
