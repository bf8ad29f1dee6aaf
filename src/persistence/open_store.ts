import type { DatabaseSync } from "node:sqlite";
import { setTimeout as sleep } from "node:timers/promises";
import { migrations } from "../../migrations/mod.ts";
import { isPostgres } from "../domain/kit/addresses.ts";
import { DEFAULT_TENANT } from "../domain/kit/ids.ts";
import { databaseStore, type DatabaseStoreOptions } from "./database_store.ts";
import { SqliteConnection, Transactions } from "./sqlite/connection.ts";
import { refuseNewer } from "./sqlite/migrate.ts";
import { openDatabase, type OpenFiles } from "./sqlite/open_database.ts";
import { SqliteDatabase } from "./sqlite/sqlite_database.ts";
import { isBusy, toStoreError } from "./sqlite/sqlite_error.ts";
import type { ProcessOwner, Store } from "./store.ts";

export interface OpenStoreOptions {
  /** The path is a file, ":memory:", or the URL of a PostgreSQL database. */
  readonly path: string;
  readonly password?: string | undefined;
  readonly now?: () => number;
  /** Returns null if this machine cannot know whether the process exists. */
  readonly isAlive?: (owner: ProcessOwner) => boolean | null;
  /** SQLite: a write that waits longer for another process rejects with `StoreError` of code "busy". PostgreSQL:
   * after this time, `openStore` begins no further attempt to reach the server. */
  readonly busyMs?: number;
  readonly signal?: AbortSignal;
}

/** Rejects with `StoreError`, with `UsageError` for an unusable URL, or, for a file, with the reason of an aborted
 * `signal`. */
export async function openStore(options: OpenStoreOptions): Promise<Store> {
  const { path, now = Date.now, busyMs = 10_000, signal, isAlive = () => null } = options;
  if (isPostgres(path)) {
    const { openPostgresStore } = await import("./postgres/open_postgres.ts");
    return await openPostgresStore(path, { now, isAlive, startMs: busyMs, password: options.password });
  }
  const start = performance.now();
  for (;;) {
    signal?.throwIfAborted();
    try {
      const { db, files } = await openDatabase(path, now);
      return sqliteStore(db, { location: path, files, now, busyMs, isAlive });
    } catch (error) {
      if (!isBusy(error) || performance.now() - start > busyMs) throw toStoreError(error, path);
    }
    await sleep(25, undefined, signal ? { signal } : {}).catch(() => signal?.throwIfAborted());
  }
}

interface StoreOptions extends Pick<DatabaseStoreOptions, "location" | "now" | "isAlive"> {
  readonly files?: OpenFiles | null;
  readonly busyMs: number;
}

export function sqliteStore(database: DatabaseSync, options: StoreOptions): Store {
  const { location, files = null, now, busyMs, isAlive } = options;
  const connection = new SqliteConnection(database);
  const transactions = new Transactions(connection, {
    busyMs,
    begun: refuseNewer(database, { files: migrations, path: location }),
    committed: () => files?.check(),
  });
  const db = new SqliteDatabase(connection, { transactions, tenant: DEFAULT_TENANT });
  return databaseStore(db, {
    ...{ location, now, isAlive, busyMs, toStoreError },
    check: async () => await (await import("./sqlite/check_database.ts")).quickCheck(db, location),
    fileFault: () => files?.fault() ?? "",
    checkFile: () => files?.check(),
  });
}
