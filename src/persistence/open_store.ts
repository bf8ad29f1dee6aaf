import { DatabaseSync } from "node:sqlite";
import { setTimeout as sleep } from "node:timers/promises";
import { migrations } from "../../migrations/mod.ts";
import { prepareDatabaseFile, protectDatabaseFile } from "./_database_file.ts";
import { isBusy } from "./_is_busy.ts";
import { checkedVersion, migrate } from "./_migrate.ts";
import { SqliteStore } from "./_sqlite_store.ts";
import { toStoreError } from "./_store_error.ts";
import type { Store } from "./store.ts";

export interface OpenStoreOptions {
  /** A file, or ":memory:". */
  readonly path: string;
  readonly now?: () => number;
  /** How long to wait for another process that writes, before `StoreError` of kind busy. */
  readonly busyMs?: number;
  /** Ends the waiting while the database is opened. */
  readonly signal?: AbortSignal;
}

/** Opens the database, makes it where there is none, and brings its schema up to date. Throws `StoreError`; the reason of
 * `signal` when that is aborted. */
export async function openStore(options: OpenStoreOptions): Promise<Store> {
  const { path, now = Date.now, busyMs = 10_000, signal } = options;
  const start = performance.now();
  for (;;) {
    signal?.throwIfAborted();
    try {
      return new SqliteStore(await openDatabase(path, now), { location: path, now, busyMs });
    } catch (error) {
      if (!isBusy(error) || performance.now() - start > busyMs) throw toStoreError(error, path);
    }
    await sleep(25, undefined, signal ? { signal } : {}).catch(() => signal?.throwIfAborted());
  }
}

async function openDatabase(path: string, now: () => number): Promise<DatabaseSync> {
  if (path !== ":memory:") await prepareDatabaseFile(path);
  // The short timeout is for the moments without a transaction; a writer waits in the driver, off the event loop.
  const db = new DatabaseSync(path, { timeout: 50 });
  try {
    // Nothing is changed before the file is known to be ours: neither its mode nor its journal.
    checkedVersion(db, { files: migrations, path });
    if (path !== ":memory:") {
      await protectDatabaseFile(path);
      db.exec("PRAGMA journal_mode = WAL");
    }
    db.exec("PRAGMA synchronous = NORMAL");
    db.exec("PRAGMA foreign_keys = ON");
    await migrate(db, migrations, { path, now });
    return db;
  } catch (error) {
    db.close();
    throw error;
  }
}
