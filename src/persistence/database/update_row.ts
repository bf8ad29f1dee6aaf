import type { Updateable } from "kysely";
import type { CheckedTable } from "../schema/checksum.ts";
import type { Database, RowChange } from "./database.ts";
import type { DatabaseSchema } from "../schema/schema.ts";

/** Changes cells of the row with this id, and its checksum with them. Throws `Damage` for a row that differs from what
 * was stored, since a new checksum would hide that. */
export async function updateRow<T extends CheckedTable>(
  db: Database,
  table: T,
  change: { readonly id: string; readonly changes: Updateable<DatabaseSchema[T]> },
): Promise<void> {
  await db.update(table, change as RowChange);
}
