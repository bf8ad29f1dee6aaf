import { DatabaseSync } from "node:sqlite";
import { StoreError } from "../domain/errors.ts";

/** `search` is made of tables of its own, which the virtual one fills. */
const MADE_BY_SEARCH = "search\\_%";
/** What is made of the texts of other tables. */
const SEARCH: ReadonlySet<string> = new Set(["search", "search_entry"]);

/** Writes everything that a database holds into a new file without unused pages, rows with their numbers. In place of
 * `VACUUM`, which attaches a database: the runtime forbids that to a program without every permission. The rows are read
 * from the tables, and every index is made from them, the one of searches too: what was damaged there is whole in the new
 * file. Throws where the new file does not hold the same. */
export function rebuild(db: DatabaseSync, target: string): void {
  const made = new DatabaseSync(target, { enableForeignKeyConstraints: false });
  try {
    made.exec("PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; BEGIN");
    for (const { sql } of objects(db, "type = 'table'")) made.exec(sql);
    const tables = objects(db, "type = 'table'").map(({ name }) => name).filter((name) => !SEARCH.has(name));
    for (const table of tables) copyRows(db, { made, table });
    for (const { sql } of objects(db, "type <> 'table'")) made.exec(sql);
    fillSearch(db, made);
    made.exec("COMMIT; INSERT INTO search (search) VALUES ('optimize'); PRAGMA synchronous = FULL");
    made.exec("PRAGMA journal_mode = DELETE");
    for (const table of tables) compare(db, { made, table });
    const [found] = made.prepare("PRAGMA integrity_check(1)").all();
    if (found?.integrity_check !== "ok") throw unlike(String(found?.integrity_check));
  } finally {
    made.close();
  }
}

/** In the order in which they were made; triggers come last, so that they see no row that is copied. */
function objects(db: DatabaseSync, which: string): readonly { readonly name: string; readonly sql: string }[] {
  return db.prepare(
    `SELECT name, sql FROM sqlite_master WHERE ${which} AND sql IS NOT NULL AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\'
       AND (type <> 'table' OR name NOT LIKE '${MADE_BY_SEARCH}' ESCAPE '\\' OR name = 'search_entry')
     ORDER BY type = 'trigger', rowid`,
  ).all().map(({ name, sql }) => ({ name: String(name), sql: String(sql) }));
}

/** The texts that can be found, in the order in which they were stored. */
const TEXTS = `SELECT 'query_soul' AS owner_table, id AS owner_id, 'query' AS field, query AS text, created_at AS at
    FROM query_soul WHERE query IS NOT NULL
  UNION ALL SELECT 'expression_state', id, 'expr', expr, created_at FROM expression_state WHERE expr IS NOT NULL
  UNION ALL SELECT 'query_state', id, 'answer', json_extract(metadata, '$.answer'), created_at FROM query_state_full
    WHERE json_extract(metadata, '$.answer') <> ''`;

/** With the numbers that they have, where all of them have one. */
function fillSearch(db: DatabaseSync, made: DatabaseSync): void {
  made.exec("CREATE TEMP TABLE known (id INTEGER PRIMARY KEY, owner_table TEXT, owner_id TEXT, field TEXT)");
  const known = made.prepare("INSERT OR IGNORE INTO known VALUES (?, ?, ?, ?)");
  for (const row of db.prepare("SELECT id, owner_table, owner_id, field FROM search_entry NOT INDEXED").iterate()) {
    known.run(row.id ?? null, row.owner_table ?? null, row.owner_id ?? null, row.field ?? null);
  }
  made.exec(`CREATE TEMP TABLE texts AS ${TEXTS} ORDER BY at, owner_id`);
  const missing = made.prepare(
    `SELECT 1 FROM texts t LEFT JOIN known k ON k.owner_id = t.owner_id AND k.owner_table = t.owner_table
       AND k.field = t.field WHERE k.id IS NULL LIMIT 1`,
  ).get();
  made.exec(
    `INSERT INTO search_entry (id, owner_table, owner_id, field) ${
      missing
        ? "SELECT rowid, owner_table, owner_id, field FROM texts"
        : "SELECT k.id, t.owner_table, t.owner_id, t.field" +
          " FROM texts t JOIN known k USING (owner_id, owner_table, field) ORDER BY k.id"
    }`,
  );
  made.exec(`INSERT INTO search (rowid, owner_table, owner_id, field, text)
    SELECT n.id, n.owner_table, n.owner_id, n.field, t.text FROM search_entry n
    JOIN texts t USING (owner_id, owner_table, field) ORDER BY n.id`);
}

function copyRows(
  db: DatabaseSync,
  { made, table }: { readonly made: DatabaseSync; readonly table: string },
): void {
  const columns = db.prepare("SELECT name FROM pragma_table_info(?)").all(table).map(({ name }) => `"${String(name)}"`);
  const names = ["rowid", ...columns].join(", ");
  const marks = ["?", ...columns.map(() => "?")].join(", ");
  const insert = made.prepare(`INSERT INTO "${table}" (${names}) VALUES (${marks})`);
  const aliased = columns.map((column, at) => `${column} AS c${at}`);
  const rows = db.prepare(`SELECT rowid AS number, ${aliased.join(", ")} FROM "${table}" NOT INDEXED ORDER BY rowid`);
  for (const row of rows.iterate()) insert.run(row.number ?? null, ...columns.map((_, at) => row[`c${at}`] ?? null));
}

function compare(db: DatabaseSync, { made, table }: { readonly made: DatabaseSync; readonly table: string }): void {
  const columns = db.prepare("SELECT name FROM pragma_table_info(?)").all(table).map(({ name }) => `"${String(name)}"`);
  const sums = columns.map((column, at) =>
    `total(length(${column})) AS l${at}, group_concat(DISTINCT typeof(${column}) ORDER BY typeof(${column})) AS t${at}`
  );
  const sql = `SELECT count(*) AS n, ${sums.join(", ")} FROM "${table}" NOT INDEXED`;
  const [before, after] = [db, made].map((one) => JSON.stringify(one.prepare(sql).get()));
  if (before !== after) throw unlike(`table ${table}`);
}

function unlike(what: string): StoreError {
  return new StoreError(`Cannot vacuum database: the new file is not like the old one (${what})`, "corrupt");
}
