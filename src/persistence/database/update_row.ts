import type { Updateable } from "kysely";
import { CHECKED, type CheckedTable } from "../schema/checksum.ts";
import type { Database } from "./database.ts";
import { checkedColumns } from "../schema/intact.ts";
import type { DatabaseSchema } from "../schema/schema.ts";
import { snakeCase } from "../schema/snake_case.ts";

/** By table and changed columns. */
const TEXTS = new Map<string, string>();

/** Changes cells of the row with this id, and its checksum with them. Throws `Damage` for a row that differs from what
 * was stored, since a new checksum would hide that. */
export async function updateRow<T extends CheckedTable>(
  db: Database,
  table: T,
  { id, changes }: { readonly id: string; readonly changes: Updateable<DatabaseSchema[T]> },
): Promise<void> {
  const given = changes as Readonly<Record<string, unknown>>;
  const columns = Object.keys(given);
  if (!db.verifies) {
    const set = columns.map((column, at) => `${snakeCase(column)} = ${db.placeholder(at + 1)}`).join(", ");
    const text = `UPDATE ${snakeCase(table)} SET ${set} WHERE id = ${db.placeholder(columns.length + 1)}`;
    await db.store(text, [...Object.values(given), id]);
    await db.index(table, { ...given, id });
    return;
  }
  const again = CHECKED[table].filter((column) => column in given);
  const name = `${table} ${columns.join(" ")}`;
  const text = TEXTS.get(name) ?? textOf(table, columns);
  TEXTS.set(name, text);
  await db.store(text, [...columns.map((column) => given[column]), ...again.map((column) => given[column]), id]);
}

function textOf(table: CheckedTable, columns: readonly string[]): string {
  const after = CHECKED[table].map((column) => columns.includes(column) ? "?" : snakeCase(column));
  const checksum = `changed_checksum('${table}', ${[...checkedColumns(table), ...after].join(", ")})`;
  const set = [...columns.map((column) => `${snakeCase(column)} = ?`), `checksum = ${checksum}`];
  return `UPDATE ${snakeCase(table)} SET ${set.join(", ")} WHERE id = ?`;
}
