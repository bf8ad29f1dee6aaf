import type { DatabaseSync } from "node:sqlite";
import { migrations } from "../../migrations/mod.ts";
import { DEFAULT_TENANT } from "../domain/kit/ids.ts";
import { databaseStore, type DatabaseStoreOptions } from "./database_store.ts";
import { quickCheck } from "./maintenance/quick_check.ts";
import { SqliteConnection } from "./sqlite/connection.ts";
import { refuseNewer } from "./sqlite/migrate.ts";
import type { OpenFiles } from "./sqlite/open_files.ts";
import { SqliteDatabase } from "./sqlite/sqlite_database.ts";
import { toStoreError } from "./sqlite/store_error.ts";
import { Transactions } from "./sqlite/transactions.ts";
import type { Store } from "./store/store.ts";

export interface StoreOptions extends Pick<DatabaseStoreOptions, "location" | "now" | "isAlive"> {
  /** The database files, if any. */
  readonly files?: OpenFiles | null;
  /** How long to wait for another writing process. */
  readonly busyMs: number;
}

/** The store in one SQLite database. It takes ownership of the database. */
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
    check: () => quickCheck(db, location),
    fileFault: () => files?.fault() ?? "",
  });
}
