import { sql } from "kysely";
import { LOG_LEVELS, type LogFilter, logLevelOf, type LogRow } from "../../domain/records/history.ts";
import { Content } from "../content/content.ts";
import type { Database } from "../database/database.ts";
import { isSeen } from "../database/is_seen.ts";
import { fromJson } from "../database/json.ts";

/** `Archive.logs`. */
export async function readLogs(db: Database, filter: LogFilter): Promise<readonly LogRow[]> {
  const { limit, level = "trace", conversationId, queryId, since, after } = filter;
  const levels = LOG_LEVELS.slice(LOG_LEVELS.indexOf(level));
  let wanted = db.selectFrom("log")
    .select(["level", "event", "data", "conversationSoulId", "queryStateId", "iterationId", "createdAt"])
    .select(sql<number>`rowid`.as("seq"))
    .orderBy(sql`rowid`, after === undefined ? "desc" : "asc").limit(Math.max(0, Math.floor(limit)));
  if (db.tenant !== null) {
    wanted = wanted.where((on) =>
      on.exists(
        on.selectFrom("conversationSoul as c").select("c.id").where(isSeen(db, "c.tenant"))
          .whereRef("c.id", "=", "log.conversationSoulId"),
      )
    );
  }
  if (levels.length < LOG_LEVELS.length) wanted = wanted.where("level", "in", levels);
  if (conversationId !== undefined) wanted = wanted.where("conversationSoulId", "=", conversationId);
  if (queryId !== undefined) wanted = wanted.where("queryStateId", "=", queryId);
  if (since !== undefined) wanted = wanted.where("createdAt", ">=", since);
  if (after !== undefined) wanted = wanted.where(sql<boolean>`rowid > ${after}`);
  const rows = await wanted.execute();
  if (after === undefined) rows.reverse();
  const content = new Content(db);
  await content.load(rows.map(({ data }) => data));
  return rows.map((row) => ({
    seq: row.seq,
    at: row.createdAt,
    level: logLevelOf(row.level) ?? "info",
    event: row.event,
    data: fromJson<Record<string, unknown>>(content.text(row.data ?? "{}")),
    ...(row.conversationSoulId === null ? {} : { conversationId: row.conversationSoulId }),
    ...(row.queryStateId === null ? {} : { queryId: row.queryStateId }),
    ...(row.iterationId === null ? {} : { iterationId: row.iterationId }),
  }));
}
