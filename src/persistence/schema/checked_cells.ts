import type { DatabaseSync } from "node:sqlite";
import { CHECKED, type CheckedTable } from "./checksum.ts";
import { snakeCase } from "./snake_case.ts";

/** The columns of a table that its checksums cover, as far as this version of the schema has them. */
export function checkedCells(db: DatabaseSync, table: CheckedTable): readonly string[] {
  const there = db.prepare("SELECT name FROM pragma_table_info(?)").all(snakeCase(table)).map(({ name }) => name);
  return CHECKED[table].map(snakeCase).filter((column) => there.includes(column));
}
