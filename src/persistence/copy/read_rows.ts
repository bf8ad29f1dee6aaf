import { sql } from "kysely";
import { Content } from "../content/content.ts";
import type { Database } from "../database/database.ts";
import { COLUMNS } from "../schema/columns.ts";
import { snakeCase } from "../schema/snake_case.ts";
import { COPIED_TABLES, type CopiedTableName } from "./copied_tables.ts";

/** The cells by which a row is found, in the order of its table; empty before the first row. */
export type Place = readonly (string | number)[];
type Row = Readonly<Record<string, unknown>>;

/** A row with its texts and values in full, as it is the same in every database. */
export interface PlainRow {
  readonly cells: Row;
  /** A text that is too large to be in memory as a whole: its reference. */
  readonly large: string | null;
}

/** A row of a table, whose texts and values in `content` are read on demand. */
export interface CopiedRow {
  readonly place: Place;
  plain(): Promise<PlainRow>;
}

interface Page {
  readonly table: CopiedTableName;
  readonly after: Place;
  readonly most: number;
}

/** Cells with a text of any length that is never in `content`. */
const WHOLE_TEXTS: Partial<Readonly<Record<CopiedTableName, readonly string[]>>> = {
  querySoul: ["query"],
  expressionState: ["expr"],
};
/** So many bytes of rows are in memory at a time, if a row is not longer. */
const PAGE_BYTES = 8 << 20;

/** Reads the next rows of a table. */
export async function readRows(db: Database, { table, after, most }: Page): Promise<readonly CopiedRow[]> {
  const { columns, from } = pageOf(table, after);
  const { rows } = await sql<Row>`SELECT ${columns}, t.* FROM ${sql.raw(snakeCase(table))} t
    WHERE ${from} ORDER BY ${columns} LIMIT ${most}`.execute(db);
  const { order } = COPIED_TABLES[table];
  return rows.map((row) => ({
    place: order.map((column) => row[column] as string | number),
    plain: () => plainRow(db, table, row),
  }));
}

/** How many of the next rows are read at once; at least one. */
export async function rowsAtOnce(db: Database, { table, after, most }: Page): Promise<number> {
  const { columns, from } = pageOf(table, after);
  const { texts = [], json = [], bytes = [], jsonBytes = [] } = COPIED_TABLES[table];
  const long = [...texts, ...json, ...bytes, ...jsonBytes, ...WHOLE_TEXTS[table] ?? []].map(snakeCase);
  if (long.length === 0) return most;
  const length = (column: string) =>
    db.kind === "postgres" ? `octet_length(${column})` : `length(CAST(${column} AS BLOB))`;
  const size = sql.raw(long.map((column) => `coalesce(${length(column)}, 0)`).join(" + "));
  const { rows: [found] } = await sql<{ n: number }>`SELECT count(*) AS n FROM (
      SELECT sum(size) OVER (ORDER BY ${columns} ROWS UNBOUNDED PRECEDING) AS so_far FROM (
        SELECT ${columns}, ${size} AS size FROM ${sql.raw(snakeCase(table))} WHERE ${from}
        ORDER BY ${columns} LIMIT ${most}
      ) page
    ) summed WHERE so_far <= ${PAGE_BYTES}`.execute(db);
  return Math.max(1, found?.n ?? 0);
}

function pageOf(table: CopiedTableName, after: Place) {
  const columns = sql.raw(COPIED_TABLES[table].order.map(snakeCase).join(", "));
  return { columns, from: after.length === 0 ? sql`true` : sql`(${columns}) > (${sql.join(after)})` };
}

/** How many rows a table has. */
export async function countRows(db: Database, table: CopiedTableName): Promise<number> {
  const { rows: [found] } = await sql<{ n: number }>`SELECT count(*) AS n FROM ${sql.raw(snakeCase(table))}`.execute(
    db,
  );
  return found?.n ?? 0;
}

async function plainRow(db: Database, table: CopiedTableName, row: Row): Promise<PlainRow> {
  const { texts = [], json = [], bytes = [], jsonBytes = [], order } = COPIED_TABLES[table];
  const [textual, binary] = [new Set([...texts, ...json]), new Set([...bytes, ...jsonBytes])];
  // One for each row: what it loads stays in memory.
  const content = new Content(db);
  await content.load([...textual].map((column) => row[column]));
  const large = bytes.length === 0 ? null : largeOf(content.text(String(row["metadata"] ?? "{}")));
  await content.load(
    [...binary].filter((column) => large === null || column !== "result").map((column) => row[column]),
  );
  const cells: Record<string, unknown> = {};
  for (const column of new Set([...order, ...COLUMNS[table]])) {
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
function isOwner(table: CopiedTableName, row: Row): boolean {
  return table === "conversationSoul" || (table === "extensionState" && row["conversationStateId"] === null);
}

function largeOf(metadata: string): string | null {
  const { large }: { readonly large?: string } = JSON.parse(metadata);
  return large ?? null;
}
