import type { Updateable } from "kysely";
import type { Database, RowChange } from "./database.ts";
import type { DatabaseSchema } from "../schema/schema.ts";

/** Changes cells of the row with this id. */
export async function updateRow<T extends keyof DatabaseSchema & string>(
  db: Database,
  table: T,
  change: { readonly id: string; readonly changes: Updateable<DatabaseSchema[T]> },
): Promise<void> {
  await db.update(table, change as RowChange);
}
