import { type RawBuilder, sql } from "kysely";
import type { ExternalChat } from "../../domain/records/conversations.ts";
import type { Database } from "../database/database.ts";
import { isSeen } from "../database/is_seen.ts";

/** Whether the stored metadata of conversation `alias` contains these values. */
export function has(
  db: Database,
  ...[alias, wanted]: readonly [string, Readonly<Record<string, string>>]
): RawBuilder<boolean> {
  const equal = Object.entries(wanted).map(([key, value]) => sql`${db.jsonText(`${alias}.metadata`, key)} = ${value}`);
  return sql<boolean>`(${sql.join(equal, sql` AND `)})`;
}

/** Finds the conversation of a chat. */
export async function externalIn(db: Database, { channel, externalId }: ExternalChat): Promise<string | null> {
  const chat = db.kind === "sqlite"
    ? has(db, "s", { channel, externalId })
    : sql`s.external_id = ${externalId} AND ${has(db, "s", { channel })}`;
  const { rows: [found] } = await sql<{ id: string }>`SELECT s.id FROM conversation_soul s
    WHERE ${chat} AND ${isSeen(db, "s.tenant")}
    ORDER BY s.rowid LIMIT 1`.execute(db);
  return found?.id ?? null;
}
