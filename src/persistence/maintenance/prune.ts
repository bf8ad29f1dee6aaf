import type { DatabaseSync } from "node:sqlite";
import type { PruneReport } from "../../domain/records/database_maintenance.ts";
import { SqliteConnection } from "../sqlite/connection.ts";
import { Transactions } from "../sqlite/transactions.ts";

interface Options {
  /** Milliseconds since the epoch. */
  readonly before: number;
  readonly now: number;
  readonly dryRun: boolean;
  readonly busyMs: number;
}

/** A running query holds a lease, which its process renews. A lease this old was left by a process that nobody could
 * check. */
const STALE_MS = 120_000;

/** A fresh lease keeps its conversation, whichever process holds it. */
const idle = (which: string): string =>
  `WITH activity AS (
  SELECT b.conversation_soul_id AS id, max(b.created_at, coalesce(max(q.created_at), 0), coalesce(max(r.created_at), 0),
    coalesce(max(i.created_at), 0), coalesce(max(i.finished_at), 0)) AS last, count(DISTINCT q.id) AS queries,
    sum(r.status = 'running') AS running, max(l.heartbeat_at) AS heartbeat
  FROM conversation_state b LEFT JOIN query_soul q ON q.conversation_state_id = b.id
  LEFT JOIN query_state r ON r.query_soul_id = q.id LEFT JOIN iteration i ON i.query_state_id = r.id
  LEFT JOIN lease l ON l.conversation_state_id = b.id
  ${which}
  GROUP BY b.id
)
SELECT id, max(last) AS last, sum(queries) AS queries,
  (SELECT t.title FROM conversation_state_full t WHERE t.conversation_soul_id = a.id ORDER BY t.version LIMIT 1) AS title
FROM activity a GROUP BY id
HAVING max(last) < :before AND coalesce(max(heartbeat), 0) < :before
  AND (coalesce(sum(running), 0) = 0 OR coalesce(max(heartbeat), 0) < :stale) ORDER BY last`;
const ALL = idle("");
const ONE = idle("WHERE b.conversation_soul_id = :id");

const LOG_ROWS_AT_ONCE = 2_000;

/** Deletes conversations without activity since then, one per transaction, so that other writers wait only briefly. */
export async function pruneRows(
  db: DatabaseSync,
  { before, now, dryRun, busyMs }: Options,
): Promise<Pick<PruneReport, "conversations" | "logRows">> {
  const stale = now - STALE_MS;
  const found = db.prepare(ALL).all({ before, stale });
  const listed = found.map(({ id, title, queries, last }) => ({
    conversationId: String(id),
    title: String(title ?? ""),
    queries: Number(queries),
    lastActivity: Number(last),
  }));
  const logRows = Number(db.prepare("SELECT count(*) AS n FROM log WHERE created_at < ?").get(before)?.n);
  if (dryRun) return { conversations: listed, logRows };
  const transactions = new Transactions(new SqliteConnection(db), { busyMs });
  const conversations = [];
  // Prepared once: the runtime keeps the memory of each statement, and preparing these takes longer than running them.
  const idleOne = db.prepare(ONE);
  db.exec("PRAGMA secure_delete = ON");
  const remove = db.prepare("DELETE FROM conversation_soul WHERE id = ?");
  for (const one of listed) {
    // Checked again under the lock: a query may have started since.
    const gone = await transactions.write(() => {
      const still = idleOne.get({ before, stale, id: one.conversationId });
      if (still) remove.run(one.conversationId);
      return still !== undefined;
    });
    if (gone) conversations.push(one);
  }
  // Otherwise the index keeps words of deleted texts until it is merged.
  if (conversations.length > 0) {
    await transactions.write(() => db.exec("INSERT INTO search (search) VALUES ('optimize')"));
  }
  const some = db.prepare(
    "DELETE FROM log WHERE rowid IN (SELECT rowid FROM log WHERE created_at < ? ORDER BY created_at LIMIT ?)",
  );
  const work = (): number => Number(some.run(before, LOG_ROWS_AT_ONCE).changes);
  while (await transactions.write(work) > 0);
  return { conversations, logRows };
}
