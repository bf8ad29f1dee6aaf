import { type RawBuilder, sql } from "kysely";
import type { ExternalChat } from "../../domain/records/new_conversation.ts";
import { Damage } from "../schema/damage.ts";
import type { Database } from "../database/database.ts";
import { isIntact } from "../schema/intact.ts";
import { isSeen } from "../database/is_seen.ts";

/** Whether the stored metadata of conversation `alias` contains these values. */
export function has(
  db: Database,
  ...[alias, wanted]: readonly [string, Readonly<Record<string, string>>]
): RawBuilder<boolean> {
  const equal = Object.entries(wanted).map(([key, value]) => sql`${db.jsonText(`${alias}.metadata`, key)} = ${value}`);
  return sql<boolean>`(${isIntact("conversationSoul", alias)} AND ${sql.join(equal, sql` AND `)})`;
}

/** Finds the conversation of a chat. It reads the rows themselves, since a row may be missing from an index. */
export async function externalIn(db: Database, { channel, externalId }: ExternalChat): Promise<string | null> {
  const how = sql.raw(db.verifies ? "NOT INDEXED" : "");
  const chat = db.kind === "sqlite"
    ? has(db, "s", { channel, externalId })
    : sql`s.external_id = ${externalId} AND ${has(db, "s", { channel })}`;
  const { rows: [found] } = await sql<{ id: string }>`SELECT s.id FROM conversation_soul s ${how}
    WHERE ${chat} AND ${isSeen(db, "s.tenant")}
    ORDER BY s.rowid LIMIT 1`.execute(db);
  if (found || !db.verifies) return found?.id ?? null;
  const { rows: [all] } = await sql<{ whole: number }>`
    SELECT (SELECT count(*) FROM conversation_soul NOT INDEXED) = conversations AS whole FROM tally`.execute(db);
  if (all?.whole !== 1) throw new Damage("conversations are missing");
  return null;
}
