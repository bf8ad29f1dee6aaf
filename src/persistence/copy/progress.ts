import { sql } from "kysely";
import { UsageError } from "../../domain/errors.ts";
import type { Database } from "../database/database.ts";
import { snakeCase } from "../schema/snake_case.ts";
import { COPIED_TABLES, type CopiedTableName } from "./copied_tables.ts";
import type { Place } from "./read_rows.ts";

/** Up to where the rows of a table have been copied. */
export interface CopyMark {
  /** An index into the tables. */
  readonly table: number;
  readonly after: Place;
}

interface ProgressRow {
  readonly source: string;
  readonly mark: string;
}

const START: CopyMark = { table: 0, after: [] };

/** Where a copy from `source` continues. Throws `UsageError` if the database has rows of its own. */
export async function beginCopy(
  to: Database,
  { source, location }: { readonly source: string; readonly location: string },
): Promise<CopyMark> {
  return await to.write(async (tx) => {
    await sql`CREATE TABLE IF NOT EXISTS copy_progress (source text NOT NULL, mark text NOT NULL)`.execute(tx);
    const { rows: [found] } = await sql<ProgressRow>`SELECT source, mark FROM copy_progress`.execute(tx);
    if (found?.source === source) return JSON.parse(found.mark);
    if (found) {
      throw new UsageError(
        `Cannot copy to ${location}: it has an unfinished copy of ${found.source}, finish that one or give an empty ` +
          "database",
      );
    }
    await refuseRows(tx, location);
    await sql`INSERT INTO copy_progress VALUES (${source}, ${JSON.stringify(START)})`.execute(tx);
    return START;
  });
}

/** Records progress together with the rows, in their transaction. Throws `UsageError` if another process did so
 * since. */
export async function advance(
  tx: Database,
  { before, now }: { readonly before: CopyMark; readonly now: CopyMark },
): Promise<void> {
  const { numAffectedRows } = await sql`UPDATE copy_progress SET mark = ${JSON.stringify(now)}
    WHERE mark = ${JSON.stringify(before)}`.execute(tx);
  if (numAffectedRows !== 1n) throw new UsageError("Cannot copy: another process copies into the same database");
}

/** Makes the database one that can be used. */
export async function endCopy(tx: Database): Promise<void> {
  await sql`DROP TABLE copy_progress`.execute(tx);
}

async function refuseRows(tx: Database, location: string): Promise<void> {
  for (const table of Object.keys(COPIED_TABLES) as CopiedTableName[]) {
    const { rows: [row] } = await sql`SELECT 1 AS one FROM ${sql.raw(snakeCase(table))} LIMIT 1`.execute(tx);
    if (row) throw new UsageError(`Cannot copy to ${location}: it has conversations already, give an empty database`);
  }
}
