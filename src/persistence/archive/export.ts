import { createHash } from "node:crypto";
import { sql } from "kysely";
import { ARCHIVE_FORMAT, ARCHIVE_VERSION, type ArchivePart } from "../../domain/records/conversation_archive.ts";
import {
  ARCHIVE_TABLES,
  archived,
  type ArchiveTable,
  type CellKinds,
  jsonCells,
  type Row,
  toArchiveRow,
} from "./cells.ts";
import { Content } from "../content/content.ts";
import { contentPieces } from "../content/content_pieces.ts";
import type { Database } from "../database/database.ts";
import { isOfConversation } from "../schema/conversation_rows.ts";
import { columnName } from "../schema/column_name.ts";
import { snakeCase } from "../schema/snake_case.ts";

const ROWS_AT_ONCE = 20;
const PREFIX = "sha256:";

/** The order of the rows of a table `t`, and the column that identifies one. */
interface Order {
  readonly by: string;
  readonly key: string;
}

const STORED: Order = { by: "t.rowid", key: "id" };
const ORDER: { readonly [T in ArchiveTable]?: Order } = {
  conversationState: { by: "t.version", key: "id" },
  expressionState: { by: "t.expression_soul_id, t.version", key: "id" },
  scopeChange: { by: "t.id", key: "id" },
  childBranch: { by: "t.rowid", key: "conversation_state_id" },
};

/** A cell whose text or value an archive has among its contents, though the database has it in its row. */
interface LongCell {
  readonly table: ArchiveTable;
  readonly key: unknown;
  readonly column: string;
}

/** Gives `take` all rows of a conversation and then what they refer to, of which a few are in memory at a time. Run it
 * in a transaction, so that everything is from one moment. Throws `Damage`, possibly after some parts. */
export async function exportConversation(
  db: Database,
  { conversationId, take }: {
    readonly conversationId: string;
    readonly take: (part: ArchivePart) => Promise<void>;
  },
): Promise<void> {
  const wanted = new Set<string>();
  const inRows = new Map<string, LongCell>();
  await take({ format: ARCHIVE_FORMAT, version: ARCHIVE_VERSION });
  for (const table of Object.keys(ARCHIVE_TABLES) as ArchiveTable[]) {
    await take({ table });
    for await (const { row, content } of rowsOf(db, { table, conversationId })) {
      const adopt = (column: string, bytes: Uint8Array): string => {
        const hash = createHash("sha256").update(bytes).digest("hex");
        inRows.set(hash, { table, key: row[camelKey(table)], column });
        return hash;
      };
      const kinds: CellKinds = ARCHIVE_TABLES[table];
      const refer = (hash: string) => wanted.add(hash);
      const given = settled(table, toArchiveRow(archived(table, row), { kinds, content, refer, adopt }));
      if (table === "querySoul") { for (const hash of imagesOf(given)) refer(hash); }
      await take({ row: given });
    }
  }
  for (const sha256 of [...wanted].sort()) {
    const cell = inRows.get(sha256);
    const pieces = () => cell === undefined ? contentPieces(db, PREFIX + sha256) : bytesOf(db, cell);
    await take({ sha256, pieces });
  }
}

/** The rows of a table in order, a few at a time, with what converts them loaded. */
async function* rowsOf(
  db: Database,
  { table, conversationId }: { readonly table: ArchiveTable; readonly conversationId: string },
): AsyncGenerator<{ readonly row: Row; readonly content: Content }> {
  const { by, key } = ORDER[table] ?? STORED;
  const name = sql.raw(snakeCase(table));
  const { rows: keys } = await sql<{ key: string | number }>`SELECT t.${sql.raw(key)} AS key FROM ${name} t
    WHERE ${isOfConversation(table, conversationId)} ORDER BY ${sql.raw(by)}`.execute(db);
  for (let from = 0; from < keys.length; from += ROWS_AT_ONCE) {
    const some = keys.slice(from, from + ROWS_AT_ONCE).map((one) => one.key);
    const { rows } = await sql<Row>`SELECT t.* FROM ${name} t
      WHERE t.${sql.raw(key)} IN (${sql.join(some)}) ORDER BY ${sql.raw(by)}`.execute(db);
    // One for each page: what it loads stays in memory.
    const content = new Content(db);
    await content.load(jsonCells(rows, ARCHIVE_TABLES[table]));
    for (const row of rows) yield { row, content };
  }
}

function keyOf(table: ArchiveTable): string {
  return (ORDER[table] ?? STORED).key;
}

function camelKey(table: ArchiveTable): string {
  return columnName(keyOf(table));
}

async function* bytesOf(db: Database, { table, key, column }: LongCell): AsyncGenerator<Uint8Array> {
  const { rows: [row] } = await sql<{ cell: unknown }>`SELECT ${sql.raw(snakeCase(column))} AS cell
    FROM ${sql.raw(snakeCase(table))} WHERE ${sql.raw(keyOf(table))} = ${key}`.execute(db);
  const cell = row?.cell;
  yield cell instanceof Uint8Array ? cell : new TextEncoder().encode(String(cell));
}

/** Settles rows that were still running, since nothing runs when the file is read. Earlier versions stored the owner
 * process with a query. */
function settled(table: ArchiveTable, row: Row): Row {
  if (table !== "queryState" && table !== "iteration") return row;
  const status = row["status"] === "running" ? "interrupted" : row["status"];
  if (table === "iteration") return { ...row, status };
  const { owner: _owner, ...metadata } = row["metadata"] as Row;
  return { ...row, status, metadata };
}

function imagesOf(query: Row): readonly string[] {
  const { images = [] } = query["metadata"] as { readonly images?: readonly { readonly content?: string }[] };
  return images.flatMap(({ content }) => content === undefined ? [] : [content.slice(PREFIX.length)]);
}
