import { sql } from "kysely";
import type { Listed, ListOptions } from "../domain/conversation_care.ts";
import { newestBranchesOf } from "./_branch_rows.ts";
import { has } from "./_chats.ts";
import { Damage } from "./_damage.ts";
import type { Database } from "./_database.ts";
import { intact, isIntact } from "./_intact.ts";
import { fromJson } from "./_json.ts";
import type { Branch } from "./store.ts";

/** Whether a query was asked in conversation `c`. One with a missing branch counts, so that it is read and refused. */
const ASKED = sql<boolean>`(SELECT count(*) <> c.branches OR
  coalesce(max(s.queries > 0 AND ${isIntact("conversationState", "s")}), 0)
  FROM conversation_state s WHERE s.conversation_soul_id = c.id)`;

interface Active {
  readonly queries: number;
  readonly activeAt: number;
  readonly running: boolean;
}

/** `Store.latestConversation`. */
export function latestConversation(db: Database, workspace: string): Promise<Branch | null> {
  return db.read(async (tx) => {
    await verifyOrder(tx);
    const found = await byActivity(tx).where(has("c", { workspace })).where(ASKED).limit(1).execute();
    return (await newestBranchesOf(tx, found.map(({ id }) => id)))[0] ?? null;
  });
}

/** `Store.listConversations`. */
export function listConversations(
  db: Database,
  { limit, after, channel }: ListOptions,
): Promise<readonly (Branch & Listed)[]> {
  return db.read(async (tx) => {
    await verifyOrder(tx);
    const all = byActivity(tx).limit(Math.max(0, Math.floor(limit)));
    const rows = channel === undefined ? all : all.where(has("c", { channel }));
    const found = await (after === undefined ? rows : rows.where("c.activity", "<", after)).execute();
    const ids = found.map(({ id }) => id);
    const active = await activeOf(tx, ids);
    return (await newestBranchesOf(tx, ids)).map((branch, n) => {
      const { queries = 0, activeAt = branch.createdAt, running = false } = active.get(branch.conversationId) ?? {};
      return { ...branch, queries, activeAt, running, place: found[n]?.activity ?? 0 };
    });
  });
}

/** The conversation that was used last first. A page reads none of the conversations behind it. */
function byActivity(db: Database) {
  return db.selectFrom("conversationSoul as c").select(["c.id", "c.activity"]).select(intact("conversationSoul", "c"))
    .orderBy("c.activity", "desc");
}

/** What the newest query of each conversation says. A query that runs is the newest one of its branch. */
async function activeOf(db: Database, ids: readonly string[]): Promise<ReadonlyMap<string, Active>> {
  const rows = await db.selectFrom("conversationState as s")
    .leftJoin(
      "querySoul as q",
      (join) => join.onRef("q.conversationStateId", "=", "s.id").on("q.number", "=", sql<number>`s.queries - 1`),
    )
    .leftJoin(
      "queryState as r",
      (join) => join.onRef("r.querySoulId", "=", "q.id").on("r.version", "=", sql<number>`q.runs - 1`),
    )
    .select(["s.conversationSoulId as id", "s.metadata", "s.queries", "q.createdAt", "r.status"])
    .select(intact("conversationState", "s")).select(intact("querySoul", "q")).select(intact("queryState", "r"))
    .where("s.conversationSoulId", "in", ids).orderBy("q.rowid").execute();
  const found = new Map<string, Active>();
  for (const { id, metadata, queries, createdAt, status } of rows) {
    if (fromJson<{ readonly child: boolean }>(metadata).child || queries === 0) continue;
    if (createdAt === null || status === null) throw new Damage(`the newest query of conversation ${id} is missing`);
    const known = found.get(id) ?? { queries: 0, running: false };
    found.set(id, {
      queries: known.queries + queries,
      activeAt: createdAt,
      running: known.running || status === "running",
    });
  }
  return found;
}

/** Throws `Damage` where the index that says which conversation was used last is not that of the conversations. */
async function verifyOrder(db: Database): Promise<void> {
  const { rows: [all] } = await sql<{ whole: number }>`
    SELECT count(c.activity) = t.conversations AND coalesce(sum(c.activity), 0) = t.activity AS whole
    FROM tally t LEFT JOIN conversation_soul c`.execute(db);
  if (all?.whole !== 1) throw new Damage("conversations are missing, or their order is not what was stored");
}
