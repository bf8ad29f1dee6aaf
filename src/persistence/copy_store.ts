import { sql } from "kysely";
import { Buffer } from "node:buffer";
import { rename, stat } from "node:fs/promises";
import { Cancelled, StoreError, UsageError } from "../domain/errors.ts";
import { isPostgres } from "../domain/kit/addresses.ts";
import type {
  DatabaseCopyProgress,
  DatabaseCopyReport,
  DatabaseCopyRequest,
} from "../domain/records/database_maintenance.ts";
import { Content, contentPieces, encodingOf, largePieces, putLarge } from "./long_values.ts";
import { Damage, type Database, insertRow } from "./database.ts";
import { SqliteConnection, Transactions } from "./sqlite/connection.ts";
import { openDatabase, openExisting } from "./sqlite/open_database.ts";
import { SqliteDatabase } from "./sqlite/sqlite_database.ts";
import { toStoreError } from "./sqlite/sqlite_error.ts";
import { columnsOf, columnsOfKind, orderOf, snakeCase, USER_TABLES, type UserTable } from "./tables.ts";

const BUSY_MS = 10_000;

interface CopyStoreOptions extends DatabaseCopyRequest {
  readonly password?: string | undefined;
}

interface Side {
  readonly db: Database;
  readonly location: string;
  readonly toStoreError: (error: unknown, location: string) => unknown;
  /** The path of the unfinished copy, if it is not `location`. */
  readonly copy?: string;
  readonly finish?: () => Promise<void>;
}

/** After an interruption, a call with the same arguments continues the copy. */
export async function copyStore(options: CopyStoreOptions): Promise<DatabaseCopyReport> {
  const start = performance.now();
  const { from, to } = options;
  if (isPostgres(from) === isPostgres(to)) {
    throw new UsageError(
      isPostgres(from)
        ? "Cannot copy the database: FROM and TO both name PostgreSQL databases; use PGOPTIONS='-c vis.tenant=*' " +
          "pg_dump --enable-row-security, and pg_restore"
        : "Cannot copy the database: FROM and TO both name files; use vis db backup",
    );
  }
  await using source = await opened(isPostgres(from) ? openServer(options, from) : openSource(options));
  await using target = await opened(isPostgres(to) ? openServer(options, to, true) : openTarget(options));
  const written = { ...target, toStoreError: unlessDamage(target.toStoreError) };
  const rows = await converted(source, () =>
    source.db.read((tx) =>
      converted(written, async () => {
        const mark = await beginCopy(target.db, { source: source.location, location: target.location });
        return await copyRows(mark, { ...options, from: tx, to: target.db, copy: target.copy ?? target.location });
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

async function openTarget({ to }: CopyStoreOptions): Promise<Side> {
  if (await stat(to).then(() => true, () => false)) {
    throw new UsageError(`Cannot copy to ${to}: it already exists; choose another path`);
  }
  const partial = `${to}.unfinished`;
  return await converted({ location: to, toStoreError }, async () => ({
    ...await openFile(partial, to),
    copy: partial,
    finish: () => rename(partial, to),
  }));
}

async function openFile(path: string, location: string): Promise<Side> {
  const { db } = await openDatabase(path, Date.now);
  const connection = new SqliteConnection(db);
  const transactions = new Transactions(connection, { busyMs: BUSY_MS });
  return { db: new SqliteDatabase(connection, { transactions, tenant: null }), location, toStoreError };
}

/** `copyStore` reports `Damage` as damage of the source, so the result leaves `Damage` unchanged. */
function unlessDamage(toStoreError: Side["toStoreError"]): Side["toStoreError"] {
  return (error, location) => error instanceof Damage ? error : toStoreError(error, location);
}

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
  readonly from: Database;
  readonly to: Database;
  readonly copy: string;
}

async function copyRows(start: CopyMark, work: CopyWork): Promise<number> {
  const counts = new Map<UserTable, number>();
  for (const table of USER_TABLES) counts.set(table, await countRows(work.from, table));
  const of = [...counts.values()].reduce((sum, n) => sum + n, 0);
  const done = USER_TABLES.slice(0, start.table).reduce((sum, table) => sum + (counts.get(table) ?? 0), 0);
  await copyFrom(start, { ...work, onRows: counter("copying", { rows: done, of }, work) });
  await verifyAll(counts, { ...work, onRows: counter("verifying", { rows: 0, of }, work) });
  await ofCopy(work.copy, () => work.to.write(finish));
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

async function copyFrom(start: CopyMark, { from, to, copy, signal, onRows }: Counted): Promise<void> {
  let mark = start;
  for (let table = USER_TABLES[mark.table]; table !== undefined; table = USER_TABLES[mark.table]) {
    stopIf(signal);
    const name = table;
    const page = { table: name, after: mark.after, most: ROWS_AT_ONCE };
    const rows = await readRows(from, { ...page, most: await rowsAtOnce(from, page) });
    const last = rows.at(-1);
    const [before, now] = [mark, last ? { ...mark, after: last.place } : { table: mark.table + 1, after: [] }];
    await to.write(async (tx) => {
      await advance(tx, { before, now, copy });
      await tx.dialect.deferReferences(tx);
      await writeRows(rows, { table: name, from, to: tx });
    });
    mark = now;
    onRows(rows.length);
  }
}

async function verifyAll(
  counts: ReadonlyMap<UserTable, number>,
  { from, to, copy, signal, onRows }: Counted,
): Promise<void> {
  for (const [table, count] of counts) {
    if (await countRows(to, table) !== count) throw unlike(`the number of rows of ${snakeCase(table)}`, copy);
    for (let after: Place | undefined = []; after !== undefined;) {
      stopIf(signal);
      const page = { table, after, most: ROWS_AT_ONCE };
      const most = Math.min(await rowsAtOnce(from, page), await rowsAtOnce(to, page));
      const rows = await verifyRows({ from, to, copy }, { ...page, most });
      onRows(rows.length);
      after = rows.at(-1)?.place;
    }
  }
}

function stopIf({ aborted }: AbortSignal): void {
  if (aborted) throw new Cancelled("Cancelled; the same command continues the copy");
}

async function finish(tx: Database): Promise<void> {
  await tx.dialect.afterCopy(tx);
  await endCopy(tx);
}

interface CopyMark {
  readonly table: number;
  readonly after: Place;
}

interface ProgressRow {
  readonly source: string;
  readonly mark: string;
}

const START: CopyMark = { table: 0, after: [] };

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
        `Cannot copy to ${location}: it has an unfinished copy of ${found.source}; finish that copy, or name ` +
          "another target",
      );
    }
    await refuseRows(tx, location);
    await sql`INSERT INTO copy_progress VALUES (${source}, ${JSON.stringify(START)})`.execute(tx);
    return START;
  });
}

async function advance(
  tx: Database,
  { before, now, copy }: Readonly<Record<"before" | "now", CopyMark>> & Pick<CopyWork, "copy">,
): Promise<void> {
  const { numAffectedRows } = await sql`UPDATE copy_progress SET mark = ${JSON.stringify(now)}
    WHERE mark = ${JSON.stringify(before)}`.execute(tx);
  if (numAffectedRows !== 1n) {
    throw new UsageError(
      `Cannot copy to ${copy}: another process copies to it; wait until that copy ends`,
    );
  }
}

async function endCopy(tx: Database): Promise<void> {
  await sql`DROP TABLE copy_progress`.execute(tx);
}

async function refuseRows(tx: Database, location: string): Promise<void> {
  for (const table of USER_TABLES) {
    const { rows: [row] } = await sql`SELECT 1 AS one FROM ${sql.raw(snakeCase(table))} LIMIT 1`.execute(tx);
    if (row) {
      throw new UsageError(
        `Cannot copy to ${location}: it already has data (table ${snakeCase(table)}); use an empty database`,
      );
    }
  }
}

type Place = readonly (string | number)[];
type Row = Readonly<Record<string, unknown>>;

interface PlainRow {
  readonly cells: Row;
  readonly large: string | null;
}

interface CopiedRow {
  readonly place: Place;
  plain(): Promise<PlainRow>;
}

interface Page {
  readonly table: UserTable;
  readonly after: Place;
  readonly most: number;
}

const PAGE_BYTES = 8 << 20;

async function readRows(db: Database, { table, after, most }: Page): Promise<readonly CopiedRow[]> {
  const { columns, from } = pageOf(table, after);
  const { rows } = await sql<Row>`SELECT ${columns}, t.* FROM ${sql.raw(snakeCase(table))} t
    WHERE ${from} ORDER BY ${columns} LIMIT ${most}`.execute(db);
  const order = orderOf(table);
  return rows.map((row) => ({
    place: order.map((column) => row[column] as string | number),
    plain: () => plainRow(db, table, row),
  }));
}

async function rowsAtOnce(db: Database, { table, after, most }: Page): Promise<number> {
  const { columns, from } = pageOf(table, after);
  const long = columnsOfKind(table, "searched", "long", "json", "bytes", "jsonBytes").map(snakeCase);
  if (long.length === 0) return most;
  const size = sql.raw(long.map((column) => `coalesce(${db.dialect.byteLength(column)}, 0)`).join(" + "));
  const { rows: [found] } = await sql<{ n: number }>`SELECT count(*) AS n FROM (
      SELECT sum(size) OVER (ORDER BY ${columns} ROWS UNBOUNDED PRECEDING) AS so_far FROM (
        SELECT ${columns}, ${size} AS size FROM ${sql.raw(snakeCase(table))} WHERE ${from}
        ORDER BY ${columns} LIMIT ${most}
      ) page
    ) summed WHERE so_far <= ${PAGE_BYTES}`.execute(db);
  return Math.max(1, found?.n ?? 0);
}

function pageOf(table: UserTable, after: Place) {
  const columns = sql.raw(orderOf(table).map(snakeCase).join(", "));
  return { columns, from: after.length === 0 ? sql`true` : sql`(${columns}) > (${sql.join(after)})` };
}

async function countRows(db: Database, table: UserTable): Promise<number> {
  const { rows: [found] } = await sql<{ n: number }>`SELECT count(*) AS n FROM ${sql.raw(snakeCase(table))}`.execute(
    db,
  );
  return found?.n ?? 0;
}

async function plainRow(db: Database, table: UserTable, row: Row): Promise<PlainRow> {
  const textual = new Set(columnsOfKind(table, "long", "json"));
  const binary = new Set(columnsOfKind(table, "bytes", "jsonBytes"));
  // Each row has its own `Content`, because a `Content` keeps loaded contents in memory.
  const content = new Content(db);
  await content.load([...textual].map((column) => row[column]));
  const large = table !== "expressionState" ? null : largeOf(content.text(String(row["metadata"] ?? "{}")));
  await content.load(
    [...binary].filter((column) => large === null || column !== "result").map((column) => row[column]),
  );
  const cells: Record<string, unknown> = {};
  for (const column of new Set([...orderOf(table), ...Object.keys(columnsOf(table))])) {
    if (column === "tenant" && !isOwner(table, row)) continue;
    const cell = row[column];
    if (typeof cell === "string" && textual.has(column)) cells[column] = content.text(cell);
    else if (cell === null || !binary.has(column)) cells[column] = cell;
    else if (large === null || column !== "result") cells[column] = content.bytes(cell as Uint8Array | string);
    else cells[column] = null;
  }
  return { cells, large };
}

function isOwner(table: UserTable, row: Row): boolean {
  return table === "conversationSoul" || (table === "extensionState" && row["conversationStateId"] === null);
}

function largeOf(metadata: string): string | null {
  const { large }: { readonly large?: string } = JSON.parse(metadata);
  return large ?? null;
}

async function writeRows(
  rows: readonly CopiedRow[],
  { table, from, to }: { readonly table: UserTable; readonly from: Database; readonly to: Database },
): Promise<void> {
  for (const { plain } of rows) {
    const row = await plain();
    const content = new Content(to);
    const cells = await storedCells(row, { table, content });
    if (row.large !== null) {
      cells["result"] = to.dialect.largeCell(await putLarge(to, largePieces(from, row.large)));
    }
    await copyContents(row, { from, to });
    await insertRow(to, table, cells as never);
  }
}

async function storedCells(
  { cells }: PlainRow,
  { table, content }: { readonly table: UserTable; readonly content: Content },
): Promise<Record<string, unknown>> {
  const textual = columnsOfKind(table, "long", "json");
  const stored: Record<string, unknown> = {};
  for (const [column, cell] of Object.entries(cells)) {
    if (cell instanceof Uint8Array) {
      stored[column] = await content.putBytes(cell, await before(content.db, cells, column));
    } else if (typeof cell !== "string") stored[column] = cell;
    else stored[column] = textual.includes(column) ? await content.putText(cell) : cell;
  }
  return stored;
}

async function before(db: Database, cells: PlainRow["cells"], column: string): Promise<Uint8Array | string | null> {
  const { version, expressionSoulId } = cells;
  if (!db.dialect.hasDifferences || column !== "result" || typeof version !== "number" || version === 0) return null;
  const row = await db.selectFrom("expressionState").select("result").where("version", "=", version - 1)
    .where("expressionSoulId", "=", String(expressionSoulId)).executeTakeFirst();
  return row?.result ?? null;
}

const REFERENCE = /sha256:[0-9a-f]{64}/g;

async function copyContents(
  row: PlainRow,
  { from, to }: { readonly from: Database; readonly to: Database },
): Promise<void> {
  for (const reference of referencesOf(row)) await copyContent(reference, { from, to });
}

/** Text that resembles a reference counts, so a reference in the result may lead to no content. */
function referencesOf({ cells }: PlainRow): ReadonlySet<string> {
  const found = new Set<string>();
  for (const cell of Object.values(cells)) {
    if (typeof cell === "string") { for (const [reference] of cell.matchAll(REFERENCE)) found.add(reference); }
  }
  return found;
}

async function copyContent(
  reference: string,
  { from, to }: { readonly from: Database; readonly to: Database },
): Promise<void> {
  if (await encodingOf(from, reference) === null || await encodingOf(to, reference) !== null) return;
  await putLarge(to, contentPieces(from, reference));
}

async function verifyRows(
  { from, to, copy }: Pick<CopyWork, "from" | "to" | "copy">,
  page: Parameters<typeof readRows>[1],
): Promise<readonly CopiedRow[]> {
  const rows = await readRows(from, page);
  const copies = await ofCopy(copy, () => readRows(to, page));
  for (const [at, { place, plain }] of rows.entries()) {
    const copied = copies[at];
    const row = await plain();
    const same = copied?.place.every((part, at) => part === place[at]) ? await ofCopy(copy, copied.plain) : null;
    if (same === null || !isSame(row, same)) {
      throw unlike(`row ${place.join(" ")} of ${snakeCase(page.table)}`, copy);
    }
    for (const reference of [...referencesOf(row), ...(row.large === null ? [] : [row.large])]) {
      if (await encodingOf(from, reference) === null) continue;
      await ofCopy(copy, async () => {
        for await (const _piece of contentPieces(to, reference));
      });
    }
  }
  return rows;
}

function unlike(what: string, copy: string): StoreError {
  return new StoreError(
    `Cannot finish the copy: ${what} differs between the source and the copy; end the processes that use them, ` +
      `remove the unfinished copy ${copy}, and start again`,
    "unavailable",
  );
}

async function ofCopy<T>(copy: string, read: () => Promise<T>): Promise<T> {
  try {
    return await read();
  } catch (error) {
    if (!(error instanceof Damage)) throw error;
    throw new StoreError(
      `Cannot finish the copy: it is damaged (${error.what}); remove the unfinished copy ${copy}, and start again`,
      "corrupt",
      { cause: error },
    );
  }
}

function isSame(one: PlainRow, other: PlainRow): boolean {
  const names = Object.keys(one.cells).filter((name) => name !== "rowid");
  if (one.large !== other.large) return false;
  return names.every((name) => {
    const [a, b] = [one.cells[name], other.cells[name]];
    return a instanceof Uint8Array && b instanceof Uint8Array ? Buffer.from(a).equals(b) : a === b;
  });
}
