import { DatabaseSync } from "node:sqlite";
import { StoreError } from "../../domain/errors.ts";
import { tableRows } from "../sqlite/table_rows.ts";

/** `search` consists of its own tables, which the virtual table fills. */
const MADE_BY_SEARCH = "search\\_%";

/** Writes everything in a database to a new file without unused pages, keeping the row numbers. Used instead of
 * `VACUUM`, which attaches a database: the runtime forbids that to a program that lacks any permission. Throws if the
 * content of the new file differs. */
export function rebuild(db: DatabaseSync, target: string): void {
  const made = new DatabaseSync(target, { enableForeignKeyConstraints: false });
  try {
    made.exec("PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; BEGIN");
    for (const { sql } of objects(db, "type = 'table'")) made.exec(sql);
    for (const { name } of objects(db, "type = 'table'")) copyRows(db, { made, table: name });
    for (const { sql } of objects(db, "type <> 'table'")) made.exec(sql);
    made.exec("COMMIT; INSERT INTO search (search) VALUES ('optimize'); PRAGMA synchronous = FULL");
    made.exec("PRAGMA journal_mode = DELETE");
    for (const { name } of objects(db, "type = 'table'")) compare(db, { made, table: name });
    const [found] = made.prepare("PRAGMA integrity_check(1)").all();
    if (found?.integrity_check !== "ok") throw unlike(String(found?.integrity_check));
  } finally {
    made.close();
  }
}

/** In order of creation. Triggers come last, so that copied rows do not fire them. */
function objects(db: DatabaseSync, which: string): readonly { readonly name: string; readonly sql: string }[] {
  return db.prepare(
    `SELECT name, sql FROM sqlite_master WHERE ${which} AND sql IS NOT NULL AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\'
       AND (type <> 'table' OR name NOT LIKE '${MADE_BY_SEARCH}' ESCAPE '\\' OR name = 'search_entry')
     ORDER BY type = 'trigger', rowid`,
  ).all().map(({ name, sql }) => ({ name: String(name), sql: String(sql) }));
}

function copyRows(
  db: DatabaseSync,
  { made, table }: { readonly made: DatabaseSync; readonly table: string },
): void {
  const columns = db.prepare("SELECT name FROM pragma_table_info(?)").all(table).map(({ name }) => `"${String(name)}"`);
  const names = ["rowid", ...columns].join(", ");
  const marks = ["?", ...columns.map(() => "?")].join(", ");
  const insert = made.prepare(`INSERT INTO "${table}" (${names}) VALUES (${marks})`);
  const aliased = columns.map((column, at) => `${column} AS c${at}`).join(", ");
  for (const row of tableRows(db, { table, columns: aliased })) {
    insert.run(row.place ?? null, ...columns.map((_, at) => row[`c${at}`] ?? null));
  }
}

function compare(db: DatabaseSync, { made, table }: { readonly made: DatabaseSync; readonly table: string }): void {
  const columns = db.prepare("SELECT name FROM pragma_table_info(?)").all(table).map(({ name }) => `"${String(name)}"`);
  const sums = columns.map((column, at) =>
    `total(length(${column})) AS l${at}, group_concat(DISTINCT typeof(${column}) ORDER BY typeof(${column})) AS t${at}`
  );
  const sql = `SELECT count(*) AS n, ${sums.join(", ")} FROM "${table}"`;
  const [before, after] = [db, made].map((one) => JSON.stringify(one.prepare(sql).get()));
  if (before !== after) throw unlike(`table ${table}`);
}

function unlike(what: string): StoreError {
  return new StoreError(`Cannot vacuum database: the new file is not like the old one (${what})`, "corrupt");
}
