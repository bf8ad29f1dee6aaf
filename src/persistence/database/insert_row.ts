import { createHash } from "node:crypto";
import type { Insertable } from "kysely";
import { CHECKED, type CheckedTable, rowChecksum } from "../schema/checksum.ts";
import type { Database } from "./database.ts";
import type { DatabaseSchema } from "../schema/schema.ts";

/** Longer cells count as their hash where no reader compares a row with its checksum. */
const LONG = 1024;

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
  const counted = (column: string): unknown => db.verifies ? given[column] : brief(given[column]);
  const checksum = checked && rowChecksum(table, checked.map(counted));
  await db.insert(table, checksum === undefined ? given : { ...given, checksum });
  return checksum ?? 0;
}

/** A checksum makes a text of all cells, which takes many times the memory of a long one. */
function brief(cell: unknown): unknown {
  const isLong = (typeof cell === "string" || cell instanceof Uint8Array) && cell.length > LONG;
  return isLong ? createHash("sha256").update(cell).digest("hex") : cell;
}
