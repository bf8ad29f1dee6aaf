import { databaseStore, type DatabaseStoreOptions } from "./database_store.ts";
import { readAddress } from "./postgres/address.ts";
import { migratePostgres } from "./postgres/migrate_postgres.ts";
import { PostgresDatabase } from "./postgres/postgres_database.ts";
import { toPostgresError } from "./postgres/postgres_error.ts";
import { Server } from "./postgres/server.ts";
import type { Store } from "./store/store.ts";

/** How long a statement waits for a lost server. */
const PATIENCE_MS = 10 * 60_000;

export interface PostgresStoreOptions extends Pick<DatabaseStoreOptions, "now" | "isAlive"> {
  /** How long to wait for the server at the start. */
  readonly startMs: number;
  /** Takes the place of the one in the URL. */
  readonly password?: string | undefined;
}

/** Opens the store in a PostgreSQL database and brings its schema up to date. Throws `StoreError`, and `UsageError` for a
 * URL that cannot be used. */
export async function openPostgresStore(
  url: string,
  { startMs, password, ...options }: PostgresStoreOptions,
): Promise<Store> {
  const address = readAddress(url, password);
  const location = address.shown;
  const server = new Server(address, { patienceMs: PATIENCE_MS });
  try {
    const connection = await server.take(startMs);
    try {
      await migratePostgres(connection, { location, now: options.now });
    } catch (error) {
      connection.release(true);
      throw error;
    }
    connection.release();
  } catch (error) {
    await server.close();
    throw toPostgresError(error, location);
  }
  return databaseStore(new PostgresDatabase(server), {
    ...options,
    location,
    busyMs: startMs,
    toStoreError: toPostgresError,
    check: () => Promise.resolve([]),
    fileFault: () => server.fault,
  });
}
