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

/** Changes these columns of a row, given their values and its id. */
export function updateText(table: string, columns: readonly string[]): string {
  return known(`update ${table} ${columns.join(" ")}`, () => {
    const set = columns.map((column) => `${snakeCase(column)} = ?`).join(", ");
    return `UPDATE ${snakeCase(table)} SET ${set} WHERE id = ?`;
  });
}

function known(name: string, make: () => string): string {
  const text = TEXTS.get(name) ?? make();
  TEXTS.set(name, text);
  return text;
}
