import { sql } from "kysely";
import { UsageError } from "../../domain/errors.ts";
import type { FoundState, StateQuery } from "../../domain/records/extension_state.ts";
import { Content } from "../content/content.ts";
import type { Database } from "../database/database.ts";
import { isSeen } from "../database/is_seen.ts";

const PART = /^[\w$@ -]{1,100}$/;

interface Row {
  readonly conversationId: string | null;
  readonly key: string;
  readonly version: number;
  readonly value: string;
  readonly at: number;
}

/** `StateStore.query`. Runs that were replaced by another run of their query are ignored. */
export async function findStates(
  db: Database,
  { namespace, query }: { readonly namespace: string; readonly query: StateQuery },
): Promise<readonly FoundState[]> {
  const { conversationId, prefix = "", where = {}, since = 0, limit } = query;
  const conditions = Object.entries(where).map(([path, value]) => equal(db, path, value));
  if (conversationId === null) conditions.push(sql`conversation_id IS NULL`);
  if (typeof conversationId === "string") conditions.push(sql`conversation_id = ${conversationId}`);
  if (since > 0) conditions.push(sql`at >= ${since}`);
  const all = [sql`cell IS NOT NULL`, ...conditions];
  const { rows } = await sql<Row>`
    WITH newest AS (${newestStates(db, { namespace, prefix })}), whole AS (
      SELECT conversation_id, key, version, at, stored, cell, ${db.wholeText("cell")} AS text FROM newest
    )
    SELECT conversation_id, key, version, cell AS value, at FROM whole WHERE ${sql.join(all, sql` AND `)}
    ORDER BY stored DESC LIMIT ${sql.lit(limit)}`.execute(db);
  const content = new Content(db);
  await content.load(rows.map(({ value }) => value));
  return rows.map(({ conversationId, key, version, value, at }) => (
    { conversationId, key, version, at, value: JSON.parse(content.text(value)) }
  ));
}

/** The newest version of each key in each place. */
function newestStates(db: Database, { namespace, prefix }: { readonly namespace: string; readonly prefix: string }) {
  const columns = sql`b.conversation_soul_id AS conversation_id, e.key,
    e.value AS cell, e.created_at AS at, e.rowid AS stored`;
  const from = sql`extension_state e LEFT JOIN conversation_state b ON b.id = e.conversation_state_id
    LEFT JOIN conversation_soul c ON c.id = b.conversation_soul_id
    LEFT JOIN query_state s ON s.id = e.query_state_id
    LEFT JOIN query_soul q ON q.id = s.query_soul_id
    WHERE e.namespace = ${namespace} AND substr(e.key, 1, ${prefix.length}) = ${prefix}
      AND ${isSeen(db, "coalesce(e.tenant, c.tenant)")} AND (q.id IS NULL OR s.version = q.runs - 1)`;
  if (db.kind === "postgres") {
    return sql`SELECT DISTINCT ON (e.conversation_state_id, e.key) ${columns}, e.version
      FROM ${from} ORDER BY e.conversation_state_id, e.key, e.version DESC`;
  }
  // Of the rows of a group, SQLite returns the one with the highest version.
  return sql`SELECT ${columns}, max(e.version) AS version
    FROM ${from} GROUP BY e.conversation_state_id, e.key`;
}

/** Compares the value at a path; true and 1 differ, and so do null and a missing value. */
function equal(db: Database, ...[path, value]: readonly [string, string | number | boolean | null]) {
  const parts = path.split(".");
  if (!parts.every((part) => PART.test(part))) {
    throw new UsageError(`Cannot look for states at ${path}: it is not a path`);
  }
  if (db.kind === "postgres") {
    const found = sql`CAST(json_of(text) #> CAST(${parts} AS text[]) AS text)`;
    return sql`${found} = CAST(json_of(${JSON.stringify(value)}) AS text)`;
  }
  const place = `$${parts.map((part) => `."${part}"`).join("")}`;
  const type = sql`json_type(text, ${place})`;
  if (value === null) return sql`${type} = 'null'`;
  if (typeof value === "boolean") return sql`${type} = ${String(value)}`;
  const extracted = sql`json_extract(text, ${place}) = ${value}`;
  if (typeof value === "string") return sql`(${type} = 'text' AND ${extracted})`;
  return sql`(${type} IN ('integer', 'real') AND ${extracted})`;
}
