import { sql } from "kysely";
import { BusyError, UsageError } from "../../domain/errors.ts";
import type { LabelUse, QueryIterations } from "../../domain/records/conversations.ts";
import { type BranchSegment, isShownIteration, isShownRun, readLineage } from "../branches/lineage.ts";
import type { Database } from "../database/database.ts";
import { idsWith } from "../database/ids_with.ts";
import { noteErasable } from "../maintenance/erase.ts";
import { CONVERSATION_TABLE_NAMES, CONVERSATION_TABLES, isOfConversation } from "../schema/conversation_rows.ts";
import { snakeCase } from "../schema/snake_case.ts";

const MIN_PREFIX = 8;

/** `ConversationMaintenance.deleteConversation`. What its rows referred to is noted in the same transaction. */
export function removeConversation(db: Database, conversationId: string): Promise<void> {
  return db.write(async (tx) => {
    // No query begins meanwhile.
    await tx.selectFrom("conversationState").select("id").where("conversationSoulId", "=", conversationId)
      .forNoKeyUpdate().execute();
    if (await runningQuery(tx, conversationId) !== null) {
      throw new BusyError(`Cannot delete conversation ${conversationId}: a query is running in it`);
    }
    await noteErasable(tx, conversationId);
    if (tx.kind === "postgres") await removeRemaining(tx, conversationId);
    const { numDeletedRows } = await leavingNothing(
      tx,
      () => tx.deleteFrom("conversationSoul").where("id", "=", conversationId).executeTakeFirstOrThrow(),
    );
    if (numDeletedRows === 0n) {
      throw new UsageError(`Cannot delete conversation ${conversationId}: no conversation has this id`);
    }
  });
}

/** SQLite would leave the bytes of deleted rows in its pages, and their words in the search index until that is merged. */
async function leavingNothing<T>(tx: Database, work: () => Promise<T>): Promise<T> {
  if (tx.kind === "postgres") return await work();
  const set = (on: 0 | 1) => tx.run(`INSERT INTO search (search, rank) VALUES ('secure-delete', ${on})`, []);
  await tx.run("PRAGMA secure_delete = ON", []);
  try {
    await set(1);
    const done = await work();
    await set(0);
    return done;
  } finally {
    await tx.run("PRAGMA secure_delete = OFF", []);
  }
}

/** Removes the rows of the conversation that no foreign key removes. */
async function removeRemaining(tx: Database, conversationId: string): Promise<void> {
  for (const table of CONVERSATION_TABLE_NAMES) {
    if (!CONVERSATION_TABLES[table].stays) continue;
    await sql`DELETE FROM ${sql.raw(snakeCase(table))} t WHERE ${isOfConversation(table, conversationId)}`.execute(tx);
  }
}

/** `ConversationMaintenance.findQuery`. */
export async function queryByPrefix(db: Database, prefix: string): Promise<string | null> {
  const from = prefix.toLowerCase();
  if (from.length < MIN_PREFIX) return null;
  const [id = null, other] = await idsWith(db, { table: "queryState", prefix: from });
  return other === undefined ? id : null;
}

/** `ConversationMaintenance.labelUse`. */
export async function labelUse(db: Database, since: number): Promise<readonly LabelUse[]> {
  const { rows } = await sql<LabelUse>`
    SELECT ${db.wholeText("s.run_label")} AS label, count(*) AS queries,
      coalesce(sum(CAST(${db.jsonText("s.metadata", "costUsd")} AS double precision)), 0.0) AS "costUsd"
    FROM query_state s
    WHERE s.created_at >= ${since} AND s.run_label IS NOT NULL GROUP BY 1`
    .execute(db);
  return rows;
}

/** `ConversationMaintenance.turns`. */
export function readTurns(db: Database, branchId: string): Promise<readonly QueryIterations[]> {
  return db.read(async (tx) => {
    const turns: QueryIterations[] = [];
    for (const segment of (await readLineage(tx, branchId)).toReversed()) {
      turns.push(...await turnsOf(tx, segment));
    }
    return turns;
  });
}

/** The running query of the user; child queries run within it. */
export async function runningQuery(db: Database, conversationId: string): Promise<string | null> {
  const found = await db.selectFrom("queryState as s").innerJoin("querySoul as q", "q.id", "s.querySoulId")
    .innerJoin("conversationState as b", "b.id", "q.conversationStateId")
    .leftJoin("childBranch as c", "c.conversationStateId", "b.id").select("s.id")
    .where("s.status", "=", "running").where("b.conversationSoulId", "=", conversationId)
    .where("c.depth", "is", null).limit(1).executeTakeFirst();
  return found?.id ?? null;
}

/** The runs that a segment shows, with the number of their shown iterations. */
async function turnsOf(tx: Database, segment: BranchSegment): Promise<readonly QueryIterations[]> {
  return await tx.selectFrom("queryState as s").innerJoin("querySoul as q", "q.id", "s.querySoulId")
    .leftJoin(
      tx.selectFrom("iteration as i").innerJoin("queryState as s", "s.id", "i.queryStateId")
        .innerJoin("querySoul as q", "q.id", "s.querySoulId")
        .where("q.conversationStateId", "=", segment.branchId).where((on) => isShownIteration(on, segment))
        .select((i) => ["i.queryStateId", i.fn.countAll<number>().as("shown")])
        .groupBy("i.queryStateId")
        .as("n"),
      "n.queryStateId",
      "s.id",
    )
    .select((on) => ["s.id as queryId", on.fn.coalesce("n.shown", on.lit(0)).as("iterations")])
    .where("q.conversationStateId", "=", segment.branchId).where((on) => isShownRun(on, segment))
    .orderBy("q.number").execute();
}
