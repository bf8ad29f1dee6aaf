import { messageOf } from "../../domain/errors.ts";
import type { Database } from "../database/database.ts";
import { toStoreError } from "../sqlite/store_error.ts";
import { sql } from "kysely";

/** `Store.check`. */
export async function quickCheck(db: Database, location: string): Promise<readonly string[]> {
  try {
    const structure = await sql<{ quickCheck: string }>`PRAGMA quick_check`.execute(db);
    const foreign = await sql<{ table: string }>`PRAGMA foreign_key_check`.execute(db);
    return [
      ...structure.rows.map((row) => row.quickCheck).filter((line) => line !== "ok"),
      ...foreign.rows.map((row) => `A row of ${row.table} refers to one that is missing`),
    ];
  } catch (error) {
    const problem = toStoreError(error, location);
    return [messageOf(problem)];
  }
}
