import { sql } from "kysely";
import type { ConversationFilter, ConversationSummary } from "../../domain/records/conversation_maintenance.ts";
import { branchesWithQueries, newestBranchesOf } from "./branch_rows.ts";
import { has } from "./chats.ts";
import { Damage } from "../schema/damage.ts";
import type { Database } from "../database/database.ts";
import { isIntact } from "../schema/intact.ts";
import { isSeen } from "../database/is_seen.ts";
import type { Branch } from "../store/conversation_store.ts";

/** Whether conversation `c` has a query. A conversation with a missing branch counts, so that reading it reports the
 * damage. */
const ASKED = sql<boolean>`(SELECT count(*) <> c.branches OR
  coalesce(max(s.queries > 0 AND ${isIntact("conversationState", "s")}), 0)
  FROM conversation_state s WHERE s.conversation_soul_id = c.id)`;

const HAS_QUERY = sql<boolean>`EXISTS (
  SELECT 1 FROM conversation_state s WHERE s.conversation_soul_id = c.id AND s.queries > 0)`;

/** Reads conversations by their last use. The index of last use is compared with the conversations once, and again after
 * another process has written; what this process writes is counted by triggers. */
export class ActiveConversations {
  readonly #db: Database;
  /** `PRAGMA data_version` at the last comparison; it changes when another connection commits. */
  #comparedAt: number | null = null;

  constructor(db: Database) {
    this.#db = db;
  }

  /** `Store.latestConversation`. */
  latest(workspace: string): Promise<Branch | null> {
    return this.#db.read(async (tx) => {
      await this.#verifyOrder(tx);
      const found = await byActivity(tx).where(has(tx, "c", { workspace })).where(tx.verifies ? ASKED : HAS_QUERY)
        .limit(1).execute();
      return (await newestBranchesOf(tx, found.map(({ id }) => id)))[0] ?? null;
    });
  }

  /** `Store.listConversations`. */
  list({ limit, after, channel, workspace }: ConversationFilter): Promise<readonly (Branch & ConversationSummary)[]> {
    return this.#db.read(async (tx) => {
      await this.#verifyOrder(tx);
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

  /** Throws `Damage` if the index of last use does not match the conversations. */
  async #verifyOrder(tx: Database): Promise<void> {
    if (!tx.verifies) return;
    const { rows: [now] } = await sql<{ dataVersion: number }>`PRAGMA data_version`.execute(tx);
    const version = now?.dataVersion ?? null;
    if (version !== null && version === this.#comparedAt) return;
    const { rows: [all] } = await sql<{ whole: number }>`
      SELECT count(c.activity) = t.conversations AND coalesce(sum(c.activity), 0) = t.activity AS whole
      FROM tally t LEFT JOIN conversation_soul c`.execute(tx);
    if (all?.whole !== 1) throw new Damage("conversations are missing, or their order is not what was stored");
    this.#comparedAt = version;
  }
}

/** Orders by last use, newest first. A page does not read the conversations after it. */
function byActivity(db: Database) {
  return db.selectFrom("conversationSoul as c").select(["c.id", "c.activity"]).where(isSeen(db, "c.tenant"))
    .orderBy("c.activity", "desc");
}
