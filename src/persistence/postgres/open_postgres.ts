import { type Address, readAddress } from "./address.ts";
import { migratePostgres } from "./migrate_postgres.ts";
import { PostgresDatabase } from "./postgres_database.ts";
import { toPostgresError } from "./postgres_error.ts";
import { Server } from "./server.ts";

/** How long a statement waits for a lost server. */
const PATIENCE_MS = 10 * 60_000;

export interface OpenPostgresOptions {
  readonly now: () => number;
  /** Whose rows are seen; null for those of all tenants. */
  readonly tenant: string | null;
  /** How long to wait for the server at the start. */
  readonly startMs: number;
  /** Takes the place of the one in the URL. */
  readonly password?: string | undefined;
  /** Whether a database may be opened that another one is being copied to. */
  readonly unfinished?: boolean;
}

export interface OpenPostgres {
  readonly db: PostgresDatabase;
  readonly server: Server;
  readonly address: Address;
  /** The URL for people. */
  readonly location: string;
}

/** Connects to a PostgreSQL database and brings its schema up to date. Throws `StoreError`, and `UsageError` for a URL
 * that cannot be used. */
export async function openPostgres(url: string, options: OpenPostgresOptions): Promise<OpenPostgres> {
  const address = readAddress(url, options.password);
  const location = address.shown;
  const server = new Server(address, { patienceMs: PATIENCE_MS });
  try {
    const connection = await server.take(options.startMs);
    try {
      await migratePostgres(connection, { ...options, location });
    } catch (error) {
      connection.release(true);
      throw error;
    }
    connection.release();
  } catch (error) {
    await server.close();
    throw toPostgresError(error, location);
  }
  return { db: new PostgresDatabase(server, { tenant: options.tenant }), server, address, location };
}
