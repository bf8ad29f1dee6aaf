import { Content } from "../content/content.ts";
import { largePieces, putLarge } from "../content/large_text.ts";
import type { Database } from "../database/database.ts";
import { insertRow } from "../database/insert_row.ts";
import { COPIED_TABLES, type CopiedTableName } from "./copied_tables.ts";
import { copyContents } from "./contents.ts";
import type { CopiedRow, PlainRow } from "./read_rows.ts";

/** Stores rows that were read from another database, with what they refer to. */
export async function writeRows(
  rows: readonly CopiedRow[],
  { table, from, to }: { readonly table: CopiedTableName; readonly from: Database; readonly to: Database },
): Promise<void> {
  for (const { plain } of rows) {
    const row = await plain();
    const content = new Content(to);
    const cells = await storedCells(row, { table, content });
    if (row.large !== null) {
      cells["result"] = content.largeCell(await putLarge(to, largePieces(from, row.large)));
    }
    await copyContents(row, { from, to });
    // The rows have the columns of the table that they were read from.
    await insertRow(to, table, cells as never);
  }
}

async function storedCells(
  { cells }: PlainRow,
  { table, content }: { readonly table: CopiedTableName; readonly content: Content },
): Promise<Record<string, unknown>> {
  const { texts = [], json = [] } = COPIED_TABLES[table];
  const stored: Record<string, unknown> = {};
  for (const [column, cell] of Object.entries(cells)) {
    if (cell instanceof Uint8Array) {
      stored[column] = await content.putBytes(cell, await before(content.db, cells, column));
    } else if (typeof cell !== "string") stored[column] = cell;
    else stored[column] = texts.includes(column) || json.includes(column) ? await content.putText(cell) : cell;
  }
  return stored;
}

/** The cell of the version of a variable before this one, so that only the difference is stored. */
async function before(db: Database, cells: PlainRow["cells"], column: string): Promise<Uint8Array | string | null> {
  const { version, expressionSoulId } = cells;
  if (db.kind === "postgres" || column !== "result" || typeof version !== "number" || version === 0) return null;
  const row = await db.selectFrom("expressionState").select("result").where("version", "=", version - 1)
    .where("expressionSoulId", "=", String(expressionSoulId)).executeTakeFirst();
  return row?.result ?? null;
}
