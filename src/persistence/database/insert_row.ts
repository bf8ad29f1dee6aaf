import type { Insertable } from "kysely";
import type { Database, ResultRow } from "./database.ts";
import type { DatabaseSchema } from "../schema/schema.ts";

/** Inserts one row. No column may be undefined. */
export async function insertRow<T extends keyof DatabaseSchema & string>(
  db: Database,
  table: T,
  row: Insertable<DatabaseSchema[T]>,
): Promise<void> {
  await db.insert(table, row as ResultRow);
}
