import { sql } from "kysely";
import { Buffer } from "node:buffer";
import { StoreError } from "../domain/errors.ts";
import { Content, contentPieces, encodingOf, largePieces, putLarge } from "./content.ts";
import { Damage, type Database, insertRow } from "./database.ts";
import { columnsOf, columnsOfKind, orderOf, snakeCase, type UserTable } from "./tables.ts";

/** The cells by which a row is found, in the order of its table; empty before the first row. */
export type Place = readonly (string | number)[];
type Row = Readonly<Record<string, unknown>>;

/** A row with its texts and values in full, as it is the same in every database. */
interface PlainRow {
  readonly cells: Row;
  /** A text that is too large to be in memory as a whole: its reference. */
  readonly large: string | null;
}

/** A row of a table, whose texts and values in `content` are read on demand. */
interface CopiedRow {
  readonly place: Place;
  plain(): Promise<PlainRow>;
}

interface Page {
  readonly table: UserTable;
  readonly after: Place;
  readonly most: number;
}

/** So many bytes of rows are in memory at a time, if a row is not longer. */
const PAGE_BYTES = 8 << 20;

/** Reads the next rows of a table. */
export async function readRows(db: Database, { table, after, most }: Page): Promise<readonly CopiedRow[]> {
  const { columns, from } = pageOf(table, after);
  const { rows } = await sql<Row>`SELECT ${columns}, t.* FROM ${sql.raw(snakeCase(table))} t
    WHERE ${from} ORDER BY ${columns} LIMIT ${most}`.execute(db);
  const order = orderOf(table);
  return rows.map((row) => ({
    place: order.map((column) => row[column] as string | number),
    plain: () => plainRow(db, table, row),
  }));
}

/** How many of the next rows are read at once; at least one. */
export async function rowsAtOnce(db: Database, { table, after, most }: Page): Promise<number> {
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

/** How many rows a table has. */
export async function countRows(db: Database, table: UserTable): Promise<number> {
  const { rows: [found] } = await sql<{ n: number }>`SELECT count(*) AS n FROM ${sql.raw(snakeCase(table))}`.execute(
    db,
  );
  return found?.n ?? 0;
}

async function plainRow(db: Database, table: UserTable, row: Row): Promise<PlainRow> {
  const textual = new Set(columnsOfKind(table, "long", "json"));
  const binary = new Set(columnsOfKind(table, "bytes", "jsonBytes"));
  // One for each row: what it loads stays in memory.
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

/** Other rows have the tenant of the conversation that they belong to. */
function isOwner(table: UserTable, row: Row): boolean {
  return table === "conversationSoul" || (table === "extensionState" && row["conversationStateId"] === null);
}

function largeOf(metadata: string): string | null {
  const { large }: { readonly large?: string } = JSON.parse(metadata);
  return large ?? null;
}

/** Stores rows that were read from another database, with what they refer to. */
export async function writeRows(
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
    // The rows have the columns of the table that they were read from.
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

/** The cell of the version of a variable before this one, so that only the difference is stored. */
async function before(db: Database, cells: PlainRow["cells"], column: string): Promise<Uint8Array | string | null> {
  const { version, expressionSoulId } = cells;
  if (!db.dialect.hasDifferences || column !== "result" || typeof version !== "number" || version === 0) return null;
  const row = await db.selectFrom("expressionState").select("result").where("version", "=", version - 1)
    .where("expressionSoulId", "=", String(expressionSoulId)).executeTakeFirst();
  return row?.result ?? null;
}

const REFERENCE = /sha256:[0-9a-f]{64}/g;

/** Copies what the texts of a row refer to, such as images. A text that only looks like it contains a reference also
 * copies that content. */
async function copyContents(
  row: PlainRow,
  { from, to }: { readonly from: Database; readonly to: Database },
): Promise<void> {
  for (const reference of referencesOf(row)) await copyContent(reference, { from, to });
}

/** The contents that the texts of a row refer to, each once; some may not exist. */
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

/** Compares the next rows of a table with those of the other database, with their texts and values, each of which is
 * read and compared with its hash. Returns them. Throws `StoreError` where they differ. */
export async function verifyRows(
  { from, to }: { readonly from: Database; readonly to: Database },
  page: Parameters<typeof readRows>[1],
): Promise<readonly CopiedRow[]> {
  const rows = await readRows(from, page);
  const copies = await ofCopy(() => readRows(to, page));
  for (const [at, { place, plain }] of rows.entries()) {
    const copied = copies[at];
    const row = await plain();
    const copy = copied?.place.every((part, at) => part === place[at]) ? await ofCopy(copied.plain) : null;
    if (copy === null || !isSame(row, copy)) {
      throw unlike(`row ${place.join(" ")} of ${snakeCase(page.table)}`);
    }
    for (const reference of [...referencesOf(row), ...(row.large === null ? [] : [row.large])]) {
      if (await encodingOf(from, reference) === null) continue;
      await ofCopy(async () => {
        // Reading it compares it with its hash.
        for await (const _piece of contentPieces(to, reference));
      });
    }
  }
  return rows;
}

/** The error for a copy that differs from its source. */
export function unlike(what: string): StoreError {
  return new StoreError(
    `Cannot finish the copy: ${what} is another one in the source, which was changed since the copy began; ` +
      "end what uses it, remove the unfinished copy and begin again",
    "unavailable",
  );
}

/** Reads the copy. Throws `StoreError` if it is damaged: all other damage is that of the source. */
export async function ofCopy<T>(read: () => Promise<T>): Promise<T> {
  try {
    return await read();
  } catch (error) {
    if (!(error instanceof Damage)) throw error;
    throw new StoreError(
      `Cannot finish the copy: it is damaged (${error.what}), remove the unfinished copy and begin again`,
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
