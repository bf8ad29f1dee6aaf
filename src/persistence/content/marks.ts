import type { DatabaseSync } from "node:sqlite";
import { tableRows } from "../sqlite/table_rows.ts";

const REFERENCE = /sha256:([0-9a-f]{64})/g;
/** Texts that searches read: never references, even if they look like one. */
const LITERAL = new Set(["query_soul.query", "expression_state.expr"]);
/** Columns with JSON that may refer to content. Only such texts are assembled from pieces and searched. */
const JSON_COLUMNS = new Set(["metadata", "data", "value"]);

interface Column {
  readonly table: string;
  readonly column: string;
  readonly text: boolean;
}

/** Marks the rows of `content` that something refers to, in the temporary table `mark` of a connection. References come
 * from any column of any table, from JSON in such a column or in content, from a list of pieces, and from a difference
 * to its base. A text that only looks like it contains a reference also keeps the content. */
export function markContent(db: DatabaseSync): void {
  db.exec(`CREATE TEMP TABLE IF NOT EXISTS mark (
    hash TEXT PRIMARY KEY, origin TEXT NOT NULL, depth INTEGER NOT NULL, read INTEGER NOT NULL DEFAULT 0
  ) WITHOUT ROWID;
  DELETE FROM mark;`);
  // Texts first: a text may refer to JSON that has further references.
  const all = columns(db).sort((a, b) => rank(a) - rank(b));
  for (const column of all) markCells(db, column);
  for (const column of all) if (column.text) markNested(db, column);
  for (;;) {
    if (markWithin(db) === 0) return;
  }
}

function rank({ text, column }: Column): number {
  return text ? JSON_COLUMNS.has(column) ? 0 : 1 : 2;
}

function columns(db: DatabaseSync): Column[] {
  const rows = db.prepare(
    `SELECT t.name AS "table", c.name AS "column", c.type AS type FROM pragma_table_list t, pragma_table_info(t.name) c
     WHERE t.schema = 'main' AND t.type = 'table' AND t.name NOT IN ('content', 'search_entry', 'schema_migration')
       AND t.name NOT LIKE 'sqlite_%' AND c.type IN ('TEXT', 'BLOB')`,
  ).all();
  return rows.map(({ table, column, type }) => ({
    table: String(table),
    column: String(column),
    text: type === "TEXT",
  })).filter(({ table, column }) => !LITERAL.has(`${table}.${column}`));
}

function markCells(db: DatabaseSync, { table, column, text }: Column): void {
  const origin = `${table}.${column}`;
  db.prepare(
    `INSERT OR IGNORE INTO mark (hash, origin, depth, read)
     SELECT substr("${column}", 8), ?, ?, ? FROM "${table}"
     WHERE typeof("${column}") = 'text' AND "${column}" GLOB 'sha256:*' AND length("${column}") = 71`,
  ).run(origin, text && JSON_COLUMNS.has(column) ? 0 : 1, text ? 0 : 1);
}

function markNested(db: DatabaseSync, { table, column }: Column): void {
  const mark = marker(db, `${table}.${column}`);
  const where = `instr("${column}", 'sha256:') > 0 AND length("${column}") <> 71`;
  for (const { cell } of tableRows(db, { table, columns: `"${column}" AS cell`, where })) mark(String(cell));
}

/** Returns what marks everything that a text refers to, and returns how many new marks that made. */
function marker(db: DatabaseSync, origin: string): (text: string) => number {
  // A text may refer to something that never existed.
  const insert = db.prepare(
    `INSERT OR IGNORE INTO mark (hash, origin, depth, read)
     SELECT hash, ?, 2, 1 FROM content WHERE hash = ?`,
  );
  return (text) => {
    let marked = 0;
    for (const [, hash = ""] of text.matchAll(REFERENCE)) marked += Number(insert.run(origin, hash).changes);
    return marked;
  };
}

/** Follows references by one step: from what is marked to what it consists of or refers to. */
function markWithin(db: DatabaseSync): number {
  const pieces = db.prepare(
    `INSERT OR IGNORE INTO mark (hash, origin, depth, read) SELECT j.value, m.origin, 3, 1
     FROM mark m CROSS JOIN content c ON c.hash = m.hash AND c.encoding = 'chunks', json_each(CAST(c.bytes AS TEXT)) j`,
  ).run();
  const bases = db.prepare(
    `INSERT OR IGNORE INTO mark (hash, origin, depth, read) SELECT c.base, m.origin, 3, 1
     FROM mark m CROSS JOIN content c ON c.hash = m.hash AND c.encoding = 'delta'`,
  ).run();
  return Number(pieces.changes) + Number(bases.changes) + markRead(db);
}

/** Follows texts in content that refer to other content. Pieces and differences are assembled only if they are JSON. One
 * text is in memory at a time. */
function markRead(db: DatabaseSync): number {
  const texts = db.prepare(
    `SELECT m.hash, m.origin FROM mark m CROSS JOIN content c ON c.hash = m.hash
     WHERE m.read = 0 AND c.encoding = 'raw' AND instr(c.bytes, CAST('sha256:' AS BLOB)) > 0
     UNION ALL
     SELECT m.hash, m.origin FROM mark m CROSS JOIN content c ON c.hash = m.hash
     WHERE m.read = 0 AND m.depth = 0 AND c.encoding <> 'raw'`,
  ).all();
  db.exec("UPDATE mark SET read = 1 WHERE read = 0");
  const textOf = db.prepare("SELECT CAST(bytes AS TEXT) AS text FROM content_full WHERE hash = ?");
  const markers = new Map<string, (text: string) => number>();
  return texts.reduce((sum, { hash, origin }) => {
    const mark = markers.get(String(origin)) ?? marker(db, String(origin));
    markers.set(String(origin), mark);
    return sum + mark(String(textOf.get(hash ?? null)?.text ?? ""));
  }, 0);
}
