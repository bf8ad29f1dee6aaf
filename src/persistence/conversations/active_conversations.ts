import { sql } from "kysely";
import type { ConversationFilter, ConversationSummary } from "../../domain/records/conversations.ts";
import type { Database } from "../database/database.ts";
import { isSeen } from "../database/is_seen.ts";
import { Damage } from "../schema/damage.ts";
import type { Branch } from "../store/conversation_store.ts";
import { branchesWithQueries, newestBranchesOf } from "./branch_rows.ts";
import { has } from "./chats.ts";

/** Whether conversation `c` has a query. */
const ASKED = sql<boolean>`EXISTS (
  SELECT 1 FROM conversation_state s WHERE s.conversation_soul_id = c.id AND s.queries > 0)`;

/** `Store.latestConversation`. */
export function latestConversation(db: Database, workspace: string): Promise<Branch | null> {
  return db.read(async (tx) => {
    const found = await byActivity(tx).where(has(tx, "c", { workspace })).where(ASKED).limit(1).execute();
    return (await newestBranchesOf(tx, found.map(({ id }) => id)))[0] ?? null;
  });
}

/** `Store.listConversations`. */
export function listConversations(
  db: Database,
  { limit, after, channel, workspace }: ConversationFilter,
): Promise<readonly (Branch & ConversationSummary)[]> {
  return db.read(async (tx) => {
    const all = byActivity(tx).limit(Math.max(0, Math.floor(limit)));
    const mine = channel === undefined ? all : all.where(has(tx, "c", { channel }));
    const rows = workspace === undefined ? mine : mine.where(has(tx, "c", { workspace }));
    const found = await (after === undefined ? rows : rows.where("c.activity", "<", after)).execute();
    const listed = await branchesWithQueries(tx, found.map(({ id }) => id));
    return found.map(({ id, activity }) => {
      const one = listed.get(id);
      if (one) return { ...one, place: activity };
      throw new Damage(`conversation ${id} is missing`);
    });
  });
}

/** Orders by last use, newest first. A page does not read the conversations after it. */
function byActivity(db: Database) {
  return db.selectFrom("conversationSoul as c").select(["c.id", "c.activity"]).where(isSeen(db, "c.tenant"))
    .orderBy("c.activity", "desc");
}
