import { stuck } from "./stuck.ts";
import type { JournalRow, ReadContext } from "./read_context.ts";

/** The journal's last row, which must have succeeded. */
export function lastValue({ journal }: ReadContext): JournalRow {
  const row = journal.at(-1);
  if (row === undefined) throw stuck("the journal shows no result");
  if (row.failed) throw stuck(`the journal shows a failed block: ${row.outcome.slice(0, 200)}`);
  return row;
}
