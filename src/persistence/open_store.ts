import { setTimeout as sleep } from "node:timers/promises";
import { isPostgres } from "../domain/kit/addresses.ts";
import { sqliteStore } from "./sqlite_store.ts";
import { isBusy } from "./sqlite/error_kinds.ts";
import { openDatabase } from "./sqlite/open_database.ts";
import { toStoreError } from "./sqlite/store_error.ts";
import type { ProcessOwner } from "./store/query_store.ts";
import type { Store } from "./store/store.ts";

export interface OpenStoreOptions {
  /** A file, ":memory:", or the `postgres://` URL of a database. */
  readonly path: string;
  /** The password of a PostgreSQL database, if it is not in the URL. */
  readonly password?: string | undefined;
  readonly now?: () => number;
  /** Whether the process of a lease exists; null if this machine cannot tell (by default for every process). */
  readonly isAlive?: (owner: ProcessOwner) => boolean | null;
  /** How long to wait for another writing process before `StoreError` of kind busy. */
  readonly busyMs?: number;
  /** Aborts the wait while the database is opened. */
  readonly signal?: AbortSignal;
}

/** Opens the database, creates it if missing, and brings its schema up to date. Throws `StoreError`, or the reason of
 * `signal` if that is aborted. */
export async function openStore(options: OpenStoreOptions): Promise<Store> {
  const { path, now = Date.now, busyMs = 10_000, signal, isAlive = () => null } = options;
  if (isPostgres(path)) {
    const { openPostgresStore } = await import("./postgres_store.ts");
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
