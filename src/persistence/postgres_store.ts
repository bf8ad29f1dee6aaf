import { databaseStore, type DatabaseStoreOptions } from "./database_store.ts";
import { openPostgres, type OpenPostgresOptions } from "./postgres/open_postgres.ts";
import { toPostgresError } from "./postgres/postgres_error.ts";
import type { Store } from "./store/store.ts";

/** Opens the store in a PostgreSQL database. Throws as `openPostgres`. */
export async function openPostgresStore(
  url: string,
  options: Omit<OpenPostgresOptions, "unfinished"> & Pick<DatabaseStoreOptions, "isAlive">,
): Promise<Store> {
  const { db, server, address, location } = await openPostgres(url, options);
  const { now, isAlive, startMs } = options;
  return databaseStore(db, {
    ...{ now, isAlive, location },
    asNode: async (node) => {
      const { openNodeStore } = await import("./nodes/node_store.ts");
      return openNodeStore(db, { node, address, now, isAlive });
    },
    busyMs: startMs,
    toStoreError: toPostgresError,
    check: () => Promise.resolve([]),
    fileFault: () => server.fault,
  });
}
