import { DEFAULT_TENANT } from "../../domain/kit/ids.ts";
import { settledWithin } from "../../domain/kit/time.ts";
import type { Database } from "../database.ts";
import { databaseStore, type DatabaseStoreOptions } from "../database_store.ts";
import type { Store } from "../store.ts";
import { migratePostgres } from "./migrate_postgres.ts";
import { PostgresDatabase } from "./postgres_database.ts";
import { toPostgresError, wordsOf } from "./postgres_error.ts";
import { type Address, readAddress, Server } from "./server.ts";

/** How long a statement waits for a lost server. */
const PATIENCE_MS = 10 * 60_000;

interface OpenPostgresOptions {
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

interface OpenPostgres {
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

/** Opens the store in a PostgreSQL database. Throws as `openPostgres`. */
export async function openPostgresStore(
  url: string,
  options: Omit<OpenPostgresOptions, "unfinished" | "tenant"> & Pick<DatabaseStoreOptions, "isAlive">,
): Promise<Store> {
  const { db, server, address, location } = await openPostgres(url, { ...options, tenant: DEFAULT_TENANT });
  const { now, isAlive, startMs } = options;
  return databaseStore(db, {
    ...{ now, isAlive, location },
    asNode: async (node) => {
      const { openNodeStore } = await import("../nodes.ts");
      return openNodeStore(db.of(null), { node, address, now, isAlive });
    },
    busyMs: startMs,
    toStoreError: toPostgresError,
    check: () => mayBypass(db),
    fileFault: () => server.fault,
    writeFault: writeFaultOf(db, server),
  });
}

/** How long a write may take before the server counts as one that takes none. */
const WRITE_MS = 5_000;

/** Stores a mark, as every transaction does, after the writes that wait. Those who ask meanwhile share it. */
function writeFaultOf(db: Database, server: Server): () => Promise<string> {
  let writing: Promise<string> | null = null;
  return async () => {
    const fault = writing ??= db.write((tx) => Promise.resolve(tx.run("SELECT 1", []))).then(() => "", wordsOf)
      .finally(() => writing = null);
    if (await settledWithin(fault, WRITE_MS)) return await fault;
    return server.fault === "" ? `a write takes longer than ${WRITE_MS / 1000} seconds` : server.fault;
  };
}

/** Whether the policies that keep tenants apart do not bind the role of the connection. */
async function mayBypass(db: Database): Promise<readonly string[]> {
  const [role] = await db.run(
    "SELECT rolname AS name FROM pg_roles WHERE rolname = current_user AND (rolsuper OR rolbypassrls)",
    [],
  );
  return role ? [`the role ${String(role["name"])} bypasses row-level security, the second wall between tenants`] : [];
}
