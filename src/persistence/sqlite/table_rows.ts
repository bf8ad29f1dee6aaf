import type { DatabaseSync, SQLOutputValue } from "node:sqlite";

type TableRow = Readonly<Record<string, SQLOutputValue>>;

/** The rows of a table in the order of their `rowid`, which each has as `place`. One is in memory at a time. It throws
 * where a page cannot be read: `StatementSync.iterate()` would end there as after the last row. */
export function* tableRows(
  db: DatabaseSync,
  { table, columns, where = "true" }: {
    readonly table: string;
    /** Terms of SQL. */
    readonly columns: string;
    readonly where?: string;
  },
): Generator<TableRow> {
  const next = db.prepare(
    `SELECT rowid AS place, ${columns} FROM "${table}" WHERE rowid > ? AND ${where} ORDER BY rowid LIMIT 1`,
  );
  next.setReadBigInts(true);
  let place: SQLOutputValue = -(2n ** 63n);
  for (;;) {
    const row: TableRow | undefined = next.get(place);
    if (row === undefined) return;
    yield row;
    place = row.place ?? null;
  }
}
