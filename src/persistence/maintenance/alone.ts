import { DatabaseSync } from "node:sqlite";
import { StoreError } from "../../domain/errors.ts";
import { isBusy } from "../sqlite/error_kinds.ts";

/** Opens a database that no other connection has open, with its log written back into the file; null while another
 * connection has it open. Foreign keys are off. Leaving WAL mode requires exclusive access, so SQLite itself detects
 * other connections. */
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

/** The error for an action that needs exclusive access and cannot get it now. */
export function notAlone(action: string, path: string): StoreError {
  return new StoreError(`Cannot ${action} ${path}: another process is using it, end that and try again`, "busy");
}

/** A function that closes a database the first time it is called: before its file is replaced where the system asks for
 * that, and afterwards elsewhere. */
export function closeOnce(db: DatabaseSync): () => void {
  const open = new Set([db]);
  return () => {
    if (open.delete(db)) db.close();
  };
}
