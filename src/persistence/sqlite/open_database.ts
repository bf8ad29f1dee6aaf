import { stat } from "node:fs/promises";
import { DatabaseSync } from "node:sqlite";
import { migrations } from "../../../migrations/mod.ts";
import { damaged } from "./store_error.ts";
import { isBusy } from "./error_kinds.ts";
import { prepareDatabaseFile, protectDatabaseFile } from "./database_file.ts";
import { foundSchema, migrate } from "./migrate.ts";
import { OpenFiles } from "./open_files.ts";
import { refuseDamagedFile, refuseOtherSchema } from "./refuse_damaged_file.ts";

/** For statements outside of transactions; a writer waits in the driver, off the event loop. */
const BUSY_MS = 50;

export interface OpenDatabase {
  readonly db: DatabaseSync;
  /** Null for a database in memory. */
  readonly files: OpenFiles | null;
}

/** Opens one connection to a Vis database with the newest schema; creates the database if missing. */
export async function openDatabase(path: string, now: () => number): Promise<OpenDatabase> {
  if (path !== ":memory:") {
    await prepareDatabaseFile(path);
    await refuseDamagedFile(path);
  }
  // The last connection that is closed removes the log.
  const isLeft = path !== ":memory:" && await stat(`${path}-wal`).then(({ size }) => size > 0, () => false);
  const files = path === ":memory:" ? null : new OpenFiles(path);
  const db = new DatabaseSync(path, { timeout: BUSY_MS });
  try {
    // Nothing is changed, neither mode nor journal, before the file is known to be an undamaged Vis database.
    refuseOther(db, path);
    if (path !== ":memory:") {
      await protectDatabaseFile(path);
      if (isLeft) checkLeft(db, path);
      db.exec("PRAGMA journal_mode = WAL");
    }
    db.exec("PRAGMA synchronous = NORMAL");
    db.exec("PRAGMA foreign_keys = ON");
    db.exec("PRAGMA cell_size_check = ON");
    await migrate(db, migrations, { path, now });
    files?.opened();
    return { db, files };
  } catch (error) {
    db.close();
    throw error;
  }
}

/** Reads one snapshot: another process may be about to migrate it to a newer schema. */
function refuseOther(db: DatabaseSync, path: string): void {
  db.exec("BEGIN");
  try {
    refuseOtherSchema(db, { schema: foundSchema(db, { files: migrations, path }), path });
  } finally {
    db.exec("ROLLBACK");
  }
}

/** Checks the pages of a database that its last process did not close. While another process uses it, SQLite cannot
 * leave WAL mode, and that process has checked it. */
function checkLeft(db: DatabaseSync, path: string): void {
  try {
    db.exec("PRAGMA busy_timeout = 0");
    db.exec("PRAGMA journal_mode = DELETE");
  } catch (error) {
    if (isBusy(error)) return;
    throw error;
  } finally {
    db.exec(`PRAGMA busy_timeout = ${BUSY_MS}`);
  }
  const [found] = db.prepare("PRAGMA quick_check(1)").all();
  if (found?.quick_check !== "ok") throw damaged(path, { what: String(found?.quick_check).replaceAll("\n", " ") });
}
