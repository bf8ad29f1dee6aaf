import type { Insertable } from "kysely";
import { CHECKED, type CheckedTable, rowChecksum } from "../schema/checksum.ts";
import { compiledRows } from "./compiled_rows.ts";
import type { Database } from "./database.ts";
import type { DatabaseSchema } from "../schema/schema.ts";

/** Inserts one row with its checksum. Returns the checksum; 0 for a table that has none. No column may be undefined. */
export async function insertRow<T extends keyof DatabaseSchema & string>(
  db: Database,
  table: T,
  row: Insertable<DatabaseSchema[T]>,
): Promise<number> {
  const checked: readonly string[] | undefined = CHECKED[table as CheckedTable];
  const given = row as Readonly<Record<string, unknown>>;
  const checksum = checked && rowChecksum(table, checked.map((column) => given[column]));
  const cells = (checksum === undefined ? row : { ...row, checksum }) as Insertable<DatabaseSchema[T]>;
  await compiledRows(db, {
    name: `insert ${table} ${Object.keys(cells).join(" ")}`,
    build: () => db.insertInto(table).values(cells),
    parameters: Object.values(cells),
  });
  return checksum ?? 0;
}
