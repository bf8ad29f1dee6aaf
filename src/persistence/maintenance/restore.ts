import { realpath, rename, rm } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import type { DatabaseSync } from "node:sqlite";
import { setTimeout as sleep } from "node:timers/promises";
import { StoreError, UsageError } from "../../domain/errors.ts";
import { ensureFolder, renameOver } from "../../domain/kit/files.ts";
import type { DatabaseRestoreReport } from "../../domain/records/database_maintenance.ts";
import { copyDatabase, modeOf } from "../sqlite/copy_database.ts";
import { isDamaged, isNoDatabase } from "../sqlite/error_kinds.ts";
import { openExisting } from "../sqlite/existing_database.ts";
import { toStoreError } from "../sqlite/store_error.ts";
import { closeOnce, notAlone, openAlone } from "./alone.ts";
import { exists } from "./backup.ts";
import { refuseDamaged } from "./refuse_damaged.ts";

/** Longer than a new connection waits for a lock on the file that it opened. It then opens the path again and finds the
 * new file. */
const NEWCOMER_MS = 120;

/** `DatabaseMaintenance.restore`: the backup is copied and checked next to the database before the database is
 * touched. */
export async function restoreDatabase(
  path: string,
  { source, now }: { readonly source: string; readonly now: () => number },
): Promise<DatabaseRestoreReport> {
  const start = performance.now();
  if (path === ":memory:") throw new UsageError("Cannot restore :memory:: it is not a file");
  const from = resolve(source);
  if (await realpath(from).catch(() => from) === await realpath(path).catch(() => path)) {
    throw new UsageError(`Cannot restore ${from}: it is the database itself`);
  }
  const { db, schema } = await openExisting(from, "restore").catch((error) => {
    if (error instanceof UsageError) throw error;
    // Names the backup, not the database.
    throw isNoDatabase(error)
      ? new UsageError(`Cannot restore ${from}: it is not a database`)
      : toStoreError(error, from);
  });
  const partial = `${path}.restoring`;
  try {
    refuseDamaged(db, { doing: `restore ${from}`, path: from, schema });
    await ensureFolder(dirname(path));
    const bytes = await copyDatabase(db, { target: partial, like: path, mode: await modeOf(path) });
    const keptAs = await replace(path, { partial, aside: `${path}.before-restore-${stamp(now())}` });
    return { path, bytes, keptAs, schemaVersion: schema.version, ms: performance.now() - start };
  } catch (error) {
    await rm(partial, { force: true });
    throw error;
  } finally {
    db.close();
  }
}

async function replace(
  path: string,
  { partial, aside }: { readonly partial: string; readonly aside: string },
): Promise<string | null> {
  if (!await exists(path)) {
    await dropLog(path);
    await renameOver(partial, path);
    return null;
  }
  const lock = lockAlone(path);
  const release = lock === null ? () => {} : closeOnce(lock);
  try {
    await renameOver(path, aside, { release });
    // Only a file that is too damaged to be opened still has a log; the log moves with it.
    for (const end of ["-wal", "-shm"]) await rename(`${path}${end}`, `${aside}${end}`).catch(() => undefined);
    await renameOver(partial, path).catch(async (error: unknown) => {
      await renameOver(aside, path);
      throw error;
    });
    if (lock) await sleep(NEWCOMER_MS);
    return aside;
  } finally {
    release();
  }
}

/** Locks the existing file; null if it is too damaged for anyone to use. */
function lockAlone(path: string): DatabaseSync | null {
  try {
    const db = openAlone(path);
    if (db === null) throw notAlone("replace database", path);
    db.exec("BEGIN EXCLUSIVE");
    return db;
  } catch (error) {
    if (error instanceof StoreError) throw error;
    if (isDamaged(error)) return null;
    throw error;
  }
}

async function dropLog(path: string): Promise<void> {
  for (const end of ["-wal", "-shm"]) await rm(`${path}${end}`, { force: true });
}

/** Local time would be ambiguous once a year. */
function stamp(now: number): string {
  return new Date(now).toISOString().replace(/[-:]/g, "").replace(/\.\d+/, "");
}
