import { DatabaseSync } from "node:sqlite";
import { StoreError } from "../../domain/errors.ts";
import { isBusy } from "../sqlite/says.ts";

/** A connection to a database that no other one is open on, with its log written back into the file; null while another
 * one is. Foreign keys are off. Leaving WAL mode needs to be alone, so SQLite itself finds the others. */
export function openAlone(path: string): DatabaseSync | null {
  const db = new DatabaseSync(path, { timeout: 0, enableForeignKeyConstraints: false });
  try {
    db.exec("PRAGMA journal_mode = DELETE");
    return db;
  } catch (error) {
    db.close();
    if (isBusy(error)) return null;
    throw error;
  }
}

/** Why something that must be alone cannot be done now. */
export function notAlone(action: string, path: string): StoreError {
  return new StoreError(`Cannot ${action} ${path}: another process uses it, end that and try again`, "busy");
}
