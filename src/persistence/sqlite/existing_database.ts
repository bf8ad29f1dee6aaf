import { stat } from "node:fs/promises";
import { DatabaseSync } from "node:sqlite";
import { migrations } from "../../../migrations/mod.ts";
import { UsageError } from "../../domain/errors.ts";
import { type FoundSchema, foundSchema } from "./migrate.ts";
import { refuseDamagedFile } from "./refuse_damaged_file.ts";

/** How long database maintenance waits until it can begin. */
const WAIT_MS = 5_000;

export interface ExistingDatabase {
  readonly db: DatabaseSync;
  readonly schema: FoundSchema;
}

/** Connects to an existing Vis database as it is: nothing is created, migrated or switched. `action` begins the message
 * of the `UsageError` if there is no database. Throws `StoreError` for a foreign or newer one. */
export async function openExisting(path: string, action: string): Promise<ExistingDatabase> {
  if (path === ":memory:") throw new UsageError(`Cannot ${action} :memory:: it is not a file`);
  const found = await stat(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT" || error.code === "ENOTDIR") return null;
    throw error;
  });
  if (found === null) throw new UsageError(`Cannot ${action} ${path}: there is no such file`);
  if (!found.isFile()) throw new UsageError(`Cannot ${action} ${path}: it is not a regular file`);
  await refuseDamagedFile(path);
  const db = new DatabaseSync(path, { timeout: WAIT_MS, enableForeignKeyConstraints: true });
  try {
    const schema = foundSchema(db, { files: migrations, path });
    if (schema.version === 0) throw new UsageError(`Cannot ${action} ${path}: it is not a database of Vis`);
    return { db, schema };
  } catch (error) {
    db.close();
    throw error;
  }
}
