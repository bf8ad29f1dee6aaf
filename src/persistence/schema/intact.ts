import { type AliasedRawBuilder, type RawBuilder, sql } from "kysely";
import { CHECKED, type CheckedTable } from "./checksum.ts";
import { snakeCase } from "./snake_case.ts";

/** By table and alias. */
const TEXTS = new Map<string, string>();

/** A column that makes the connection throw `Damage` after the statement if a row of `alias` differs from what was
 * stored. Rows that an outer join did not find are skipped. */
export function intact<A extends string>(table: CheckedTable, alias: A): AliasedRawBuilder<number, `intact${A}`> {
  return isIntact(table, alias).as(`intact${alias}`);
}

/** The same as an expression, always 1. Do not use it in a condition that compares a column of `alias` for equality:
 * SQLite then substitutes that value for the column, even in rows that it has not compared yet. */
export function isIntact(table: CheckedTable, alias: string): RawBuilder<number> {
  const name = `${table} ${alias}`;
  const text = TEXTS.get(name) ?? `intact('${table}', ${checkedColumns(table, `${alias}.`).join(", ")})`;
  TEXTS.set(name, text);
  return sql.raw<number>(text);
}

/** The checksum and the columns that it covers, as SQL names. */
export function checkedColumns(table: CheckedTable, prefix = ""): readonly string[] {
  return ["checksum", ...CHECKED[table]].map((column) => prefix + snakeCase(column));
}

/** Whether SQL is such an expression. */
export function isIntactText(text: string): boolean {
  return text.startsWith("intact('");
}
