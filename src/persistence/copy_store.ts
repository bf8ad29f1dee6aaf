import { rename, stat } from "node:fs/promises";
import { UsageError } from "../domain/errors.ts";
import { isPostgres } from "../domain/kit/addresses.ts";
import type { DatabaseCopyReport, DatabaseCopyRequest } from "../domain/records/database_maintenance.ts";
import { copyRows } from "./copy/copy_rows.ts";
import { beginCopy } from "./copy/progress.ts";
import type { Database } from "./database/database.ts";
import { Damage } from "./schema/damage.ts";
import { SqliteConnection } from "./sqlite/connection.ts";
import { openExisting } from "./sqlite/existing_database.ts";
import { openDatabase } from "./sqlite/open_database.ts";
import { SqliteDatabase } from "./sqlite/sqlite_database.ts";
import { toStoreError } from "./sqlite/store_error.ts";
import { Transactions } from "./sqlite/transactions.ts";

const BUSY_MS = 10_000;

export interface CopyStoreOptions extends DatabaseCopyRequest {
  /** The password of the PostgreSQL database. */
  readonly password?: string | undefined;
}

interface Side {
  readonly db: Database;
  readonly location: string;
  readonly toStoreError: (error: unknown, location: string) => unknown;
  /** Puts a finished copy in its place. */
  readonly finish?: () => Promise<void>;
}

/** Copies a file to an empty PostgreSQL database, or a PostgreSQL database to a new file. Reads one snapshot of the
 * source. After an interruption, the same call continues. Throws `StoreError`, `UsageError` and `Cancelled`. */
export async function copyStore(options: CopyStoreOptions): Promise<DatabaseCopyReport> {
  const start = performance.now();
  const { from, to } = options;
  if (isPostgres(from) === isPostgres(to)) {
    throw new UsageError(
      isPostgres(from)
        ? "Cannot copy: both are PostgreSQL databases, use pg_dump and pg_restore"
        : "Cannot copy: both are files, use vis db backup",
    );
  }
  await using source = await opened(isPostgres(from) ? openServer(options, from) : openSource(options));
  await using target = await opened(isPostgres(to) ? openServer(options, to, true) : openTarget(options));
  const written = { ...target, toStoreError: unlessDamage(target.toStoreError) };
  const rows = await converted(source, () =>
    source.db.read((tx) =>
      converted(written, async () => {
        const mark = await beginCopy(target.db, { source: source.location, location: target.location });
        return await copyRows(mark, { ...options, from: tx, to: target.db });
      })
    ));
  await target.db.close();
  await target.finish?.();
  return { from: source.location, to: target.location, rows, ms: performance.now() - start };
}

async function opened(side: Promise<Side>): Promise<Side & AsyncDisposable> {
  const open = await side;
  return { ...open, [Symbol.asyncDispose]: () => open.db.close() };
}

async function openServer(
  { password }: CopyStoreOptions,
  url: string,
  unfinished = false,
): Promise<Side> {
  const [{ openPostgres }, { toPostgresError }] = await Promise.all([
    import("./postgres/open_postgres.ts"),
    import("./postgres/postgres_error.ts"),
  ]);
  const { db, location } = await openPostgres(url, {
    now: Date.now,
    password,
    startMs: BUSY_MS,
    unfinished,
    tenant: null,
  });
  return { db, location, toStoreError: toPostgresError };
}

async function openSource({ from }: CopyStoreOptions): Promise<Side> {
  return await converted({ location: from, toStoreError }, async () => {
    (await openExisting(from, "copy")).db.close();
    return await openFile(from, from);
  });
}

/** A file appears under its name when it is complete. */
async function openTarget({ to }: CopyStoreOptions): Promise<Side> {
  if (await stat(to).then(() => true, () => false)) {
    throw new UsageError(`Cannot copy to ${to}: it already exists, choose another path`);
  }
  const partial = `${to}.unfinished`;
  return await converted({ location: to, toStoreError }, async () => ({
    ...await openFile(partial, to),
    finish: () => rename(partial, to),
  }));
}

async function openFile(path: string, location: string): Promise<Side> {
  const { db } = await openDatabase(path, Date.now);
  const connection = new SqliteConnection(db);
  const transactions = new Transactions(connection, { busyMs: BUSY_MS });
  return { db: new SqliteDatabase(connection, { transactions, tenant: null }), location, toStoreError };
}

/** Leaves damage to the source, from which everything is read. */
function unlessDamage(toStoreError: Side["toStoreError"]): Side["toStoreError"] {
  return (error, location) => error instanceof Damage ? error : toStoreError(error, location);
}

/** Runs work on a database and converts its errors. */
async function converted<T>(
  { location, toStoreError }: Pick<Side, "location" | "toStoreError">,
  work: () => Promise<T>,
): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw toStoreError(error, location);
  }
}
