import { DatabaseSync } from "node:sqlite";
import type { PruneReport } from "../domain/records/database_maintenance.ts";
import { SqliteConnection, tableRows, Transactions } from "./sqlite/connection.ts";
import { openAlone } from "./sqlite/open_database.ts";

/** Vis stores a text before a row refers to it, so another process may still need content younger than this. */
const SETTLED_MS = 24 * 3_600_000;
const TRIES = 3;

interface Options {
  readonly now: number;
  readonly busyMs: number;
}

type Collected = Pick<PruneReport, "contents" | "contentBytes" | "everything">;

export async function collectContent(path: string, options: Options): Promise<Collected> {
  const alone = openAlone(path);
  if (!alone) return await collectBeside(path, options);
  try {
    alone.exec("PRAGMA secure_delete = ON");
    return await new Transactions(new SqliteConnection(alone), options).write(() => {
      return { ...removeUnused(alone), everything: true };
    });
  } finally {
    alone.close();
  }
}

/** The caller must hold a transaction on a connection without foreign keys, and other processes must not write. */
export function removeUnused(db: DatabaseSync): Omit<Collected, "everything"> {
  db.exec("DELETE FROM claim");
  markContent(db);
  return sweep(db, Number.MAX_SAFE_INTEGER);
}

/** If another process has written, Vis starts over. The third attempt marks the content under the lock. */
async function collectBeside(path: string, { now, busyMs }: Options): Promise<Collected> {
  const db = new DatabaseSync(path, { timeout: 50, enableForeignKeyConstraints: false });
  const transactions = new Transactions(new SqliteConnection(db), { busyMs });
  try {
    db.exec("PRAGMA secure_delete = ON");
    for (let time = 1;; time++) {
      db.exec("BEGIN");
      const seen = time < TRIES ? marked(db) : null;
      db.exec("COMMIT");
      const done = await transactions.write(() => {
        if (seen === null) markContent(db);
        else if (seen !== dataVersion(db)) return null;
        return sweep(db, settledRow(db, now));
      });
      if (done) return { ...done, everything: false };
    }
  } finally {
    db.close();
  }
}

function marked(db: DatabaseSync): unknown {
  const seen = dataVersion(db);
  markContent(db);
  return seen;
}

function dataVersion(db: DatabaseSync): unknown {
  return db.prepare("PRAGMA data_version").get()?.data_version;
}

/** Row numbers have the order of creation, so rows up to a row that an old iteration uses are old. */
function settledRow(db: DatabaseSync, now: number): number {
  const row = db.prepare(
    `SELECT max(c.rowid) AS row FROM (
       SELECT llm_user_prompt AS cell FROM iteration WHERE created_at < :old
       UNION ALL SELECT metadata FROM iteration WHERE created_at < :old
       UNION ALL SELECT result FROM expression_state WHERE created_at < :old AND typeof(result) = 'text'
     ) JOIN content c ON c.hash = substr(cell, 8)`,
  ).get({ old: now - SETTLED_MS });
  return Number(row?.row ?? 0);
}

/** Without foreign keys, SQLite does not search the bases for each deleted row. The marks already keep the bases. */
function sweep(db: DatabaseSync, upTo: number): Omit<Collected, "everything"> {
  const where = "WHERE rowid <= ? AND hash NOT IN (SELECT hash FROM mark)";
  const row = db.prepare(`SELECT count(*) AS n, sum(length(bytes)) AS bytes FROM content ${where}`).get(upTo);
  db.prepare(`DELETE FROM content ${where}`).run(upTo);
  return { contents: Number(row?.n), contentBytes: Number(row?.bytes ?? 0) };
}

const REFERENCE = /sha256:([0-9a-f]{64})/g;
/** These columns contain no reference, even if a text looks like one. */
const LITERAL = new Set(["query_soul.query", "expression_state.expr"]);
/** These columns hold JSON, which `markRead` assembles from pieces to find references. */
const JSON_COLUMNS = new Set(["metadata", "data", "value"]);

interface Column {
  readonly table: string;
  readonly column: string;
  readonly text: boolean;
}

/** Text that resembles a reference keeps the content. */
export function markContent(db: DatabaseSync): void {
  db.exec(`CREATE TEMP TABLE IF NOT EXISTS mark (
    hash TEXT PRIMARY KEY, origin TEXT NOT NULL, depth INTEGER NOT NULL, read INTEGER NOT NULL DEFAULT 0
  ) WITHOUT ROWID;
  DELETE FROM mark;`);
  // `INSERT OR IGNORE` keeps the depth of the first mark, so JSON columns come first.
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

function marker(db: DatabaseSync, origin: string): (text: string) => number {
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
