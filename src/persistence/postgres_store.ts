import { DEFAULT_TENANT } from "../domain/kit/ids.ts";
import { settledWithin } from "../domain/kit/time.ts";
import { databaseStore, type DatabaseStoreOptions } from "./database_store.ts";
import type { Database } from "./database/database.ts";
import { openPostgres, type OpenPostgresOptions } from "./postgres/open_postgres.ts";
import { toPostgresError, wordsOf } from "./postgres/postgres_error.ts";
import type { Server } from "./postgres/server.ts";
import type { Store } from "./store/store.ts";

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
      const { openNodeStore } = await import("./nodes/node_store.ts");
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
