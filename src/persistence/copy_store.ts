import { sql } from "kysely";
import { rename, stat } from "node:fs/promises";
import { Cancelled, UsageError } from "../domain/errors.ts";
import { isPostgres } from "../domain/kit/addresses.ts";
import type {
  DatabaseCopyProgress,
  DatabaseCopyReport,
  DatabaseCopyRequest,
} from "../domain/records/database_maintenance.ts";
import { countRows, ofCopy, type Place, readRows, rowsAtOnce, unlike, verifyRows, writeRows } from "./copied_rows.ts";
import { Damage, type Database } from "./database.ts";
import { SqliteConnection, Transactions } from "./sqlite/connection.ts";
import { openDatabase, openExisting } from "./sqlite/open_database.ts";
import { SqliteDatabase } from "./sqlite/sqlite_database.ts";
import { toStoreError } from "./sqlite/store_error.ts";
import { snakeCase, USER_TABLES, type UserTable } from "./tables.ts";

const BUSY_MS = 10_000;

interface CopyStoreOptions extends DatabaseCopyRequest {
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

const ROWS_AT_ONCE = 100;
interface CopyWork extends Pick<DatabaseCopyRequest, "signal" | "onProgress"> {
  /** A transaction that reads one snapshot. */
  readonly from: Database;
  readonly to: Database;
}

/** Copies all rows from a mark on, compares every row with its source, and makes the copy usable. Returns the number of
 * rows. */
async function copyRows(start: CopyMark, work: CopyWork): Promise<number> {
  const counts = new Map<UserTable, number>();
  for (const table of USER_TABLES) counts.set(table, await countRows(work.from, table));
  const of = [...counts.values()].reduce((sum, n) => sum + n, 0);
  const done = USER_TABLES.slice(0, start.table).reduce((sum, table) => sum + (counts.get(table) ?? 0), 0);
  await copyFrom(start, { ...work, onRows: counter("copying", { rows: done, of }, work) });
  await verifyAll(counts, { ...work, onRows: counter("verifying", { rows: 0, of }, work) });
  await ofCopy(() => work.to.write(finish));
  return of;
}

type Counted = CopyWork & { readonly onRows: (rows: number) => void };

function counter(
  step: DatabaseCopyProgress["step"],
  { rows, of }: { readonly rows: number; readonly of: number },
  { onProgress }: CopyWork,
): (rows: number) => void {
  const state = { rows };
  return (more) => onProgress({ step, rows: Math.min(state.rows += more, of), of });
}

async function copyFrom(start: CopyMark, { from, to, signal, onRows }: Counted): Promise<void> {
  let mark = start;
  for (let table = USER_TABLES[mark.table]; table !== undefined; table = USER_TABLES[mark.table]) {
    stopIf(signal);
    const name = table;
    const page = { table: name, after: mark.after, most: ROWS_AT_ONCE };
    const rows = await readRows(from, { ...page, most: await rowsAtOnce(from, page) });
    const last = rows.at(-1);
    const [before, now] = [mark, last ? { ...mark, after: last.place } : { table: mark.table + 1, after: [] }];
    await to.write(async (tx) => {
      await advance(tx, { before, now });
      await tx.dialect.deferReferences(tx);
      await writeRows(rows, { table: name, from, to: tx });
    });
    mark = now;
    onRows(rows.length);
  }
}

async function verifyAll(
  counts: ReadonlyMap<UserTable, number>,
  { from, to, signal, onRows }: Counted,
): Promise<void> {
  for (const [table, count] of counts) {
    if (await countRows(to, table) !== count) throw unlike(`the number of rows of ${snakeCase(table)}`);
    for (let after: Place | undefined = []; after !== undefined;) {
      stopIf(signal);
      const page = { table, after, most: ROWS_AT_ONCE };
      const most = Math.min(await rowsAtOnce(from, page), await rowsAtOnce(to, page));
      const rows = await verifyRows({ from, to }, { ...page, most });
      onRows(rows.length);
      after = rows.at(-1)?.place;
    }
  }
}

function stopIf({ aborted }: AbortSignal): void {
  if (aborted) throw new Cancelled("Cancelled; the same command continues the copy");
}

/** Makes what the database computes from all rows. */
async function finish(tx: Database): Promise<void> {
  await tx.dialect.afterCopy(tx);
  await endCopy(tx);
}

/** Up to where the rows of a table have been copied. */
interface CopyMark {
  /** An index into the tables. */
  readonly table: number;
  readonly after: Place;
}

interface ProgressRow {
  readonly source: string;
  readonly mark: string;
}

const START: CopyMark = { table: 0, after: [] };

/** Where a copy from `source` continues. Throws `UsageError` if the database has rows of its own. */
async function beginCopy(
  to: Database,
  { source, location }: { readonly source: string; readonly location: string },
): Promise<CopyMark> {
  return await to.write(async (tx) => {
    await sql`CREATE TABLE IF NOT EXISTS copy_progress (source text NOT NULL, mark text NOT NULL)`.execute(tx);
    const { rows: [found] } = await sql<ProgressRow>`SELECT source, mark FROM copy_progress`.execute(tx);
    if (found?.source === source) return JSON.parse(found.mark);
    if (found) {
      throw new UsageError(
        `Cannot copy to ${location}: it has an unfinished copy of ${found.source}, finish that one or give an empty ` +
          "database",
      );
    }
    await refuseRows(tx, location);
    await sql`INSERT INTO copy_progress VALUES (${source}, ${JSON.stringify(START)})`.execute(tx);
    return START;
  });
}

/** Records progress together with the rows, in their transaction. Throws `UsageError` if another process did so
 * since. */
async function advance(
  tx: Database,
  { before, now }: { readonly before: CopyMark; readonly now: CopyMark },
): Promise<void> {
  const { numAffectedRows } = await sql`UPDATE copy_progress SET mark = ${JSON.stringify(now)}
    WHERE mark = ${JSON.stringify(before)}`.execute(tx);
  if (numAffectedRows !== 1n) throw new UsageError("Cannot copy: another process copies into the same database");
}

/** Makes the database one that can be used. */
async function endCopy(tx: Database): Promise<void> {
  await sql`DROP TABLE copy_progress`.execute(tx);
}

async function refuseRows(tx: Database, location: string): Promise<void> {
  for (const table of USER_TABLES) {
    const { rows: [row] } = await sql`SELECT 1 AS one FROM ${sql.raw(snakeCase(table))} LIMIT 1`.execute(tx);
    if (row) throw new UsageError(`Cannot copy to ${location}: it has conversations already, give an empty database`);
  }
}
