import type { Insertable } from "kysely";
import { CHECKED, type CheckedTable, rowChecksum } from "../schema/checksum.ts";
import type { Database } from "./database.ts";
import type { DatabaseSchema } from "../schema/schema.ts";
import { snakeCase } from "../schema/snake_case.ts";

/** By kind of database, table and columns. */
const TEXTS = new Map<string, string>();

/** Inserts one row with its checksum. Returns the checksum; 0 for a table that has none. No column may be undefined. */
export async function insertRow<T extends keyof DatabaseSchema & string>(
  db: Database,
  table: T,
  row: Insertable<DatabaseSchema[T]>,
): Promise<number> {
  // Versions refer to the checksum of the one before.
  const isChecked = db.verifies || table === "expressionState";
  const checked: readonly string[] | undefined = isChecked ? CHECKED[table as CheckedTable] : undefined;
  const given = row as Readonly<Record<string, unknown>>;
  const checksum = checked && rowChecksum(table, checked.map((column) => given[column]));
  const cells = checksum === undefined ? given : { ...given, checksum };
  const columns = Object.keys(cells);
  const name = `${db.kind} ${table} ${columns.join(" ")}`;
  const text = TEXTS.get(name) ?? textOf(db, table, columns);
  TEXTS.set(name, text);
  await db.store(text, Object.values(cells));
  await db.index(table, given);
  return checksum ?? 0;
}

function textOf(db: Database, ...[table, columns]: readonly [string, readonly string[]]): string {
  const places = columns.map((_, at) => db.placeholder(at + 1)).join(", ");
  return `INSERT INTO ${snakeCase(table)} (${columns.map(snakeCase).join(", ")}) VALUES (${places})`;
}
