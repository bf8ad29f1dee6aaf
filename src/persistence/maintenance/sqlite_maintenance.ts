import type * as care from "../../domain/records/database_maintenance.ts";
import { backupDatabase } from "./backup.ts";
import { checkDatabase } from "./check.ts";
import { collectContent } from "./collect_content.ts";
import { openExisting } from "../sqlite/existing_database.ts";
import { openDatabase } from "../sqlite/open_database.ts";
import { pruneRows } from "./prune.ts";
import { restoreDatabase } from "./restore.ts";
import { databaseStats } from "./stats.ts";
import { toStoreError } from "../sqlite/store_error.ts";
import { vacuumDatabase } from "./vacuum.ts";

const BUSY_MS = 10_000;

/** Maintains an SQLite database with a separate connection for each action: a store that is open on it keeps
 * working. */
export class SqliteMaintenance implements care.DatabaseMaintenance {
  readonly location: string;
  readonly #now: () => number;

  constructor({ path, now = Date.now }: { readonly path: string; readonly now?: () => number }) {
    this.location = path;
    this.#now = now;
  }

  backup(target: string): Promise<care.BackupReport> {
    return this.#guard(() => backupDatabase(this.location, target));
  }

  restore(source: string): Promise<care.DatabaseRestoreReport> {
    return this.#guard(() => restoreDatabase(this.location, { source, now: this.#now }));
  }

  check(): Promise<care.CheckReport> {
    return this.#guard(() => checkDatabase(this.location));
  }

  stats(): Promise<care.DatabaseStats> {
    return this.#guard(() => databaseStats(this.location));
  }

  prune({ before, dryRun }: { readonly before: number; readonly dryRun: boolean }): Promise<care.PruneReport> {
    return this.#guard(async () => {
      (await openExisting(this.location, "prune")).db.close();
      const { db } = await openDatabase(this.location, this.#now);
      const options = { before, now: this.#now(), dryRun, busyMs: BUSY_MS };
      const pruned = await pruneRows(db, options).finally(() => db.close());
      const collected = dryRun
        ? { contents: 0, contentBytes: 0, everything: false }
        : await collectContent(this.location, { now: this.#now(), busyMs: BUSY_MS });
      return { dryRun, ...pruned, ...collected };
    });
  }

  vacuum(): Promise<care.VacuumReport> {
    return this.#guard(() => vacuumDatabase(this.location));
  }

  async #guard<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      throw toStoreError(error, this.location);
    }
  }
}
