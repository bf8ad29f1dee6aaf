import { type AliasedRawBuilder, type RawBuilder, sql } from "kysely";
import { CHECKED, type CheckedTable } from "./checksum.ts";
import { snakeCase } from "./snake_case.ts";

/** By table and alias. */
const TEXTS = new Map<string, string>();

/** A column that makes the connection throw `Damage`, when the statement is done, where a row of `alias` is not what was
 * stored. A row that an outer join did not find is passed over. */
export function intact<A extends string>(table: CheckedTable, alias: A): AliasedRawBuilder<number, `intact${A}`> {
  return isIntact(table, alias).as(`intact${alias}`);
}

/** The same as an expression, always 1. It does not belong into a condition that says what a column of `alias` is equal
 * to: SQLite then puts that value in place of the column, also for rows that it has not compared yet. */
export function isIntact(table: CheckedTable, alias: string): RawBuilder<number> {
  const name = `${table} ${alias}`;
  const text = TEXTS.get(name) ?? `intact('${table}', ${checkedColumns(table, `${alias}.`).join(", ")})`;
  TEXTS.set(name, text);
  return sql.raw<number>(text);
}

/** The checksum and the columns that it is of, as SQL names them. */
export function checkedColumns(table: CheckedTable, prefix = ""): readonly string[] {
  return ["checksum", ...CHECKED[table]].map((column) => prefix + snakeCase(column));
}
