import { open, rm, stat } from "node:fs/promises";
import { backup, DatabaseSync } from "node:sqlite";
import { StoreError } from "../../domain/errors.ts";
import { inheritOwner } from "../../domain/kit/files.ts";

const PAGES_AT_ONCE = 4096;

/** Other processes may write to the source during the copy. */
export async function copyDatabase(
  db: DatabaseSync,
  { target, like, mode = 0o600 }: { readonly target: string; readonly like: string; readonly mode?: number },
): Promise<number> {
  try {
    await writeFresh(target, { like, mode }, async () => {
      // Without one snapshot, a write of another process would restart the copy.
      db.exec("BEGIN");
      try {
        db.prepare("SELECT count(*) FROM sqlite_master").get();
        await backup(db, target, { rate: PAGES_AT_ONCE });
      } finally {
        db.exec("ROLLBACK");
      }
      checkCopy(target);
    });
    return (await stat(target)).size;
  } catch (error) {
    for (const end of ["", "-journal", "-wal", "-shm"]) await rm(`${target}${end}`, { force: true });
    throw error;
  }
}

/** The name may lead to another file at any time, so Vis sets the owner and the mode through the descriptor. */
export async function writeFresh(
  path: string,
  { like, mode }: { readonly like: string; readonly mode: number },
  fill: () => void | Promise<void>,
): Promise<void> {
  await rm(path, { force: true });
  const file = await open(path, "wx", 0o600);
  try {
    await fill();
    const hasGroup = await inheritOwner(file, like);
    await file.chmod(hasGroup ? mode : mode & 0o700);
    await file.sync();
  } finally {
    await file.close();
  }
}

export async function modeOf(path: string): Promise<number> {
  return await stat(path).then(({ mode }) => mode & 0o777, () => 0o600);
}

function checkCopy(path: string): void {
  const db = new DatabaseSync(path);
  try {
    db.exec("PRAGMA journal_mode = DELETE");
    const [found] = db.prepare("PRAGMA quick_check(1)").all();
    if (found?.quick_check === "ok") return;
    throw new StoreError(
      `Cannot copy the database: the copy ${path} is damaged (${String(found?.quick_check)}); vis db check shows ` +
        "whether the database is damaged too",
      "corrupt",
    );
  } finally {
    db.close();
  }
}
