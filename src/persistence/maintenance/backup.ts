import { link, rm, stat } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { UsageError } from "../../domain/errors.ts";
import { ensureFolder, renameOver } from "../../domain/kit/files.ts";
import type { BackupReport } from "../../domain/records/database_maintenance.ts";
import { copyDatabase } from "../sqlite/copy_database.ts";
import { openExisting } from "../sqlite/existing_database.ts";
import { systemError } from "../sqlite/store_error.ts";
import { refuseDamaged } from "./refuse_damaged.ts";

/** `DatabaseMaintenance.backup`. The target appears only once it is complete. */
export async function backupDatabase(path: string, target: string): Promise<BackupReport> {
  const start = performance.now();
  const goal = resolve(target);
  if (await exists(goal)) throw taken(goal);
  const { db, schema } = await openExisting(path, "back up");
  try {
    await ensureFolder(dirname(goal));
    const partial = `${goal}.partial-${crypto.randomUUID().slice(0, 8)}`;
    const bytes = await copyDatabase(db, { target: partial, like: path });
    const copy = new DatabaseSync(partial);
    try {
      refuseDamaged(copy, { doing: `back up ${path}`, path: partial, schema });
    } catch (error) {
      await rm(partial, { force: true });
      throw error;
    } finally {
      copy.close();
    }
    await appear(partial, goal);
    return { path: goal, bytes, schemaVersion: schema.version, ms: performance.now() - start };
  } catch (error) {
    // System errors occur at the place to which the copy is written.
    throw (error instanceof Error && systemError(error, goal)) || error;
  } finally {
    db.close();
  }
}

/** A link fails if the name exists. If the disk does not support links, the name was free a moment ago. */
async function appear(partial: string, goal: string): Promise<void> {
  try {
    await link(partial, goal);
    await rm(partial);
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "EEXIST") {
      await rm(partial, { force: true });
      throw taken(goal);
    }
    await renameOver(partial, goal);
  }
}

function taken(goal: string): UsageError {
  return new UsageError(`Cannot back up to ${goal}: it already exists, choose another path`);
}

export async function exists(path: string): Promise<boolean> {
  return await stat(path).then(() => true, () => false);
}
