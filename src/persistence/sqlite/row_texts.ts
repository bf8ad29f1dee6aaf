import { CHECKED, type CheckedTable } from "../schema/checksum.ts";
import { checkedColumns } from "../schema/intact.ts";
import { snakeCase } from "../schema/snake_case.ts";

/** By what they do, table and columns. */
const TEXTS = new Map<string, string>();

/** Inserts a row with these columns. */
export function insertText(table: string, columns: readonly string[]): string {
  return known(`insert ${table} ${columns.join(" ")}`, () => {
    const places = columns.map(() => "?").join(", ");
    return `INSERT INTO ${snakeCase(table)} (${columns.map(snakeCase).join(", ")}) VALUES (${places})`;
  });
}

/** Changes these columns of a row and its checksum: their values, those of them that the checksum covers, the id. */
export function updateText(table: CheckedTable, columns: readonly string[]): string {
  return known(`update ${table} ${columns.join(" ")}`, () => {
    const after = CHECKED[table].map((column) => columns.includes(column) ? "?" : snakeCase(column));
    const checksum = `changed_checksum('${table}', ${[...checkedColumns(table), ...after].join(", ")})`;
    const set = [...columns.map((column) => `${snakeCase(column)} = ?`), `checksum = ${checksum}`];
    return `UPDATE ${snakeCase(table)} SET ${set.join(", ")} WHERE id = ?`;
  });
}

function known(name: string, make: () => string): string {
  const text = TEXTS.get(name) ?? make();
  TEXTS.set(name, text);
  return text;
}
