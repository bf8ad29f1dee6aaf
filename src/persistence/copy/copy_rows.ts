import { sql } from "kysely";
import { Cancelled } from "../../domain/errors.ts";
import type { DatabaseCopyProgress, DatabaseCopyRequest } from "../../domain/records/database_maintenance.ts";
import type { Database } from "../database/database.ts";
import { snakeCase } from "../schema/snake_case.ts";
import { COPIED_TABLES, type CopiedTableName } from "./copied_tables.ts";
import { advance, type CopyMark, endCopy } from "./progress.ts";
import { countRows, type Place, readRows, rowsAtOnce } from "./read_rows.ts";
import { ofCopy, unlike, verifyRows } from "./verify_rows.ts";
import { writeRows } from "./write_rows.ts";

const ROWS_AT_ONCE = 100;
const TABLES = Object.keys(COPIED_TABLES) as CopiedTableName[];

export interface CopyWork extends Pick<DatabaseCopyRequest, "signal" | "onProgress"> {
  /** A transaction that reads one snapshot. */
  readonly from: Database;
  readonly to: Database;
}

/** Copies all rows from a mark on, compares every row with its source, and makes the copy usable. Returns the number of
 * rows. */
export async function copyRows(start: CopyMark, work: CopyWork): Promise<number> {
  const counts = new Map<CopiedTableName, number>();
  for (const table of TABLES) counts.set(table, await countRows(work.from, table));
  const of = [...counts.values()].reduce((sum, n) => sum + n, 0);
  const done = TABLES.slice(0, start.table).reduce((sum, table) => sum + (counts.get(table) ?? 0), 0);
  await copyFrom(start, { ...work, onRows: counter("copying", { rows: done, of }, work) });
  await verifyAll(counts, { ...work, onRows: counter("verifying", { rows: 0, of }, work) });
  await ofCopy(() => work.to.write(finish));
  return of;
}

type Counted = CopyWork & { readonly onRows: (rows: number) => void };

function counter(
  step: DatabaseCopyProgress["step"],
  { rows, of }: { readonly rows: number; readonly of: number },
  { onProgress }: CopyWork,
): (rows: number) => void {
  const state = { rows };
  return (more) => onProgress({ step, rows: Math.min(state.rows += more, of), of });
}

async function copyFrom(start: CopyMark, { from, to, signal, onRows }: Counted): Promise<void> {
  let mark = start;
  for (let table = TABLES[mark.table]; table !== undefined; table = TABLES[mark.table]) {
    stopIf(signal);
    const name = table;
    const page = { table: name, after: mark.after, most: ROWS_AT_ONCE };
    const rows = await readRows(from, { ...page, most: await rowsAtOnce(from, page) });
    const last = rows.at(-1);
    const [before, now] = [mark, last ? { ...mark, after: last.place } : { table: mark.table + 1, after: [] }];
    await to.write(async (tx) => {
      await advance(tx, { before, now });
      await tx.deferReferences();
      await writeRows(rows, { table: name, from, to: tx });
    });
    mark = now;
    onRows(rows.length);
  }
}

async function verifyAll(
  counts: ReadonlyMap<CopiedTableName, number>,
  { from, to, signal, onRows }: Counted,
): Promise<void> {
  for (const [table, count] of counts) {
    if (await countRows(to, table) !== count) throw unlike(`the number of rows of ${snakeCase(table)}`);
    for (let after: Place | undefined = []; after !== undefined;) {
      stopIf(signal);
      const page = { table, after, most: ROWS_AT_ONCE };
      const most = Math.min(await rowsAtOnce(from, page), await rowsAtOnce(to, page));
      const rows = await verifyRows({ from, to }, { ...page, most });
      onRows(rows.length);
      after = rows.at(-1)?.place;
    }
  }
}

function stopIf({ aborted }: AbortSignal): void {
  if (aborted) throw new Cancelled("Cancelled; the same command continues the copy");
}

/** Makes what the database computes from all rows. */
async function finish(tx: Database): Promise<void> {
  if (tx.kind === "postgres") await setSequences(tx);
  await endCopy(tx);
}

/** The next rows come after the copied ones. */
async function setSequences(tx: Database): Promise<void> {
  for (const [table, { order: [first] }] of Object.entries(COPIED_TABLES)) {
    if (first !== "rowid" && first !== "id") continue;
    const name = snakeCase(table);
    await sql`SELECT setval(pg_get_serial_sequence(${name}, ${first}), max(${sql.raw(first)})) FROM ${sql.raw(name)}`
      .execute(tx);
  }
  await sql`SELECT setval('activity', max(activity)) FROM conversation_soul WHERE activity > 0`.execute(tx);
}
