import { type RawBuilder, sql } from "kysely";
import type { Database } from "./database.ts";

/** Whether `db` sees rows of the tenant that a column or another expression names. It is no equality for SQLite, which
 * would otherwise find all rows of the tenant and sort them, where an index has them in order. */
export function isSeen(db: Database, expression: string): RawBuilder<boolean> {
  if (db.tenant === null) return sql<boolean>`true`;
  const equal = sql<boolean>`${sql.raw(expression)} = ${db.tenant}`;
  return db.kind === "sqlite" ? sql<boolean>`(${equal}) IS TRUE` : equal;
}
