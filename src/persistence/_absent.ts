import { sql } from "kysely";
import { Damage } from "./_damage.ts";
import type { Database } from "./_database.ts";
import { snakeCase } from "./_snake_case.ts";

/** Throws `Damage` where a row has an id that begins so, although an index did not find it. It reads the whole table. */
export async function verifyAbsent(
  db: Database,
  { table, prefix }: {
    readonly table: "conversationSoul" | "conversationState" | "queryState";
    readonly prefix: string;
  },
): Promise<void> {
  const name = snakeCase(table);
  // Branches of child queries are not found by their ids.
  const where = table === "conversationState" ? sql`json_extract(metadata, '$.child') IS NULL` : sql`true`;
  const { rows: [row] } = await sql<{ id: string }>`
    SELECT id FROM ${sql.raw(name)} NOT INDEXED WHERE id >= ${prefix} AND id < ${`${prefix}~`} AND ${where} LIMIT 1`
    .execute(db);
  if (row) throw new Damage(`an index has lost row ${row.id} of ${name}`);
}
