import type { Insertable } from "kysely";
import { CHECKED, type CheckedTable, rowChecksum } from "../schema/checksum.ts";
import type { Database } from "./database.ts";
import type { DatabaseSchema } from "../schema/schema.ts";

/** Inserts one row with its checksum. Returns the checksum; 0 for a table that has none. No column may be undefined. */
export async function insertRow<T extends keyof DatabaseSchema & string>(
  db: Database,
  table: T,
  row: Insertable<DatabaseSchema[T]>,
): Promise<number> {
  // Versions refer to the checksum of the one before.
  const isChecked = db.verifies || table === "expressionState";
  const checked: readonly string[] | undefined = isChecked ? CHECKED[table as CheckedTable] : undefined;
  const given = row as Readonly<Record<string, unknown>>;
  const checksum = checked && rowChecksum(table, checked.map((column) => given[column]));
  await db.insert(table, checksum === undefined ? given : { ...given, checksum });
  return checksum ?? 0;
}
