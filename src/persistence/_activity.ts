import { sql } from "kysely";
import { compiledRows } from "./_compiled_rows.ts";
import type { Database } from "./_database.ts";

/** What the next conversation or query has. */
export const NEXT_ACTIVITY = sql<number>`(SELECT coalesce(max(activity), 0) + 1 FROM conversation_soul)`;

/** Moves the conversation of a branch to the front of the list of all; an imported one has no place before. Not for a
 * child query, which is a part of its parent. Nothing is written for the one that is in front. */
export async function moveToFront(tx: Database, branchId: string): Promise<void> {
  await compiledRows(tx, {
    name: "move a conversation to the front",
    build: () =>
      tx.updateTable("conversationSoul").set({ activity: NEXT_ACTIVITY })
        .where(sql<boolean>`activity = 0 OR activity < (SELECT max(activity) FROM conversation_soul)`)
        .where("id", "=", (on) =>
          on.selectFrom("conversationState as s").select("s.conversationSoulId").where("s.id", "=", branchId)
            .where((on) =>
              on.not(
                on.exists(
                  on.selectFrom("childBranch as c").select("c.depth").whereRef("c.conversationStateId", "=", "s.id"),
                ),
              )
            )),
    parameters: [branchId],
  });
}
