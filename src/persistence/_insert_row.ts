import type { Insertable } from "kysely";
import { compiledRows } from "./_compiled_rows.ts";
import type { Database } from "./_database.ts";
import type { Schema } from "./_schema.ts";

/** Inserts one row. No column may be undefined. */
export async function insertRow<T extends keyof Schema & string>(
  db: Database,
  table: T,
  row: Insertable<Schema[T]>,
): Promise<void> {
  await compiledRows(db, {
    name: `insert ${table} ${Object.keys(row).join(" ")}`,
    build: () => db.insertInto(table).values(row),
    parameters: Object.values(row),
  });
}
