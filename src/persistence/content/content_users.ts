import type { DatabaseSync } from "node:sqlite";
import { CHECKED, type CheckedTable } from "../schema/checksum.ts";
import { rowPlace } from "../schema/row_place.ts";
import { snakeCase } from "../schema/snake_case.ts";

const MOST = 3;

/** Describes the rows that refer to a content, with where they belong: " (variable x of conversation …)", or "" if
 * there are none. */
export function contentUsers(db: DatabaseSync, hash: string): string {
  const found = new Set<string>();
  for (const [table, column] of referringColumns(db)) {
    const [first] = CHECKED[table];
    // Metadata may refer to it within its JSON.
    const where = column === "metadata" ? `instr("${column}", ?) > 0` : `"${column}" = 'sha256:' || ?`;
    const rows = db.prepare(
      `SELECT ${snakeCase(first)} AS id FROM ${snakeCase(table)} NOT INDEXED WHERE ${where} LIMIT ?`,
    )
      .all(hash, MOST);
    for (const { id } of rows) {
      found.add(rowPlace({ table, id: String(id) }, (sql, parameters) => db.prepare(sql).all(...parameters)));
    }
    if (found.size >= MOST) break;
  }
  found.delete("");
  return [...found].slice(0, MOST).join("");
}

function referringColumns(db: DatabaseSync): readonly (readonly [CheckedTable, string])[] {
  return (Object.keys(CHECKED) as CheckedTable[]).flatMap((table) =>
    db.prepare("SELECT name FROM pragma_table_info(?) WHERE type IN ('TEXT', 'BLOB') AND name NOT LIKE '%id'")
      .all(snakeCase(table)).map(({ name }) => [table, String(name)] as const)
  );
}
