import type { DatabaseSync } from "node:sqlite";

/** The tables, indexes, views and triggers of a database by name, except what SQLite and FTS5 create themselves and the
 * table of applied migrations, which no migration creates. Comments and spaces do not count: a column that is added
 * later stands on no line of its own. */
export function schemaObjects(db: DatabaseSync): ReadonlyMap<string, string> {
  const rows = db.prepare(
    `SELECT type, name, tbl_name AS "on", sql FROM sqlite_master WHERE sql IS NOT NULL AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\'
       AND name <> 'schema_migration'
       AND (type <> 'table' OR name NOT LIKE 'search\\_%' ESCAPE '\\' OR name = 'search_entry') ORDER BY name`,
  ).all();
  return new Map(
    rows.map(({ type, name, on, sql }) => [`${String(type)} ${String(name)}`, `${String(on)}: ${plain(String(sql))}`]),
  );
}

function plain(sql: string): string {
  return sql.replace(/--.*/g, "").replace(/\s+/g, " ").replace(/ ?([(),]) ?/g, "$1");
}

/** One number for all of them: 32-bit FNV-1a, which changes if any character changes. */
export function schemaDigest(db: DatabaseSync): number {
  const text = JSON.stringify([...schemaObjects(db)]);
  let sum = 0x811c9dc5;
  for (let at = 0; at < text.length; at++) sum = Math.imul(sum ^ text.charCodeAt(at), 0x01000193);
  return sum;
}
