import { chmod, open, rm, stat } from "node:fs/promises";
import { backup, DatabaseSync } from "node:sqlite";
import { StoreError } from "../../domain/errors.ts";

const PAGES_AT_ONCE = 4096;

/** Copies the current state of a database to a new file that only the user can access, checks the copy and syncs it to
 * disk. Writers of the source continue meanwhile. Returns its size; leaves no file if it throws. */
export async function copyDatabase(db: DatabaseSync, target: string): Promise<number> {
  await rm(target, { force: true });
  await (await open(target, "wx", 0o600)).close();
  try {
    // One snapshot for the whole copy: without it, each write of another process would restart the copy.
    db.exec("BEGIN");
    try {
      db.prepare("SELECT count(*) FROM sqlite_master").get();
      await backup(db, target, { rate: PAGES_AT_ONCE });
    } finally {
      db.exec("ROLLBACK");
    }
    checkCopy(target);
    const file = await open(target, "r+");
    await file.sync().finally(() => file.close());
    await chmod(target, 0o600);
    return (await stat(target)).size;
  } catch (error) {
    for (const end of ["", "-journal", "-wal", "-shm"]) await rm(`${target}${end}`, { force: true });
    throw error;
  }
}

function checkCopy(path: string): void {
  const db = new DatabaseSync(path);
  try {
    // A copy is a single file, without a log next to it.
    db.exec("PRAGMA journal_mode = DELETE");
    const [found] = db.prepare("PRAGMA quick_check(1)").all();
    if (found?.quick_check === "ok") return;
    throw new StoreError(`Cannot copy database: the copy is damaged (${String(found?.quick_check)})`, "corrupt");
  } finally {
    db.close();
  }
}
