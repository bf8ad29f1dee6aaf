import { contentPieces, encodingOf } from "../content/content_pieces.ts";
import { putLarge } from "../content/large_text.ts";
import type { Database } from "../database/database.ts";
import type { PlainRow } from "./read_rows.ts";

const REFERENCE = /sha256:[0-9a-f]{64}/g;

/** Copies what the texts of a row refer to, such as images. A text that only looks like it contains a reference also
 * copies that content. */
export async function copyContents(
  row: PlainRow,
  { from, to }: { readonly from: Database; readonly to: Database },
): Promise<void> {
  for (const reference of referencesOf(row)) await copyContent(reference, { from, to });
}

/** The contents that the texts of a row refer to, each once; some may not exist. */
export function referencesOf({ cells }: PlainRow): ReadonlySet<string> {
  const found = new Set<string>();
  for (const cell of Object.values(cells)) {
    if (typeof cell === "string") { for (const [reference] of cell.matchAll(REFERENCE)) found.add(reference); }
  }
  return found;
}

async function copyContent(
  reference: string,
  { from, to }: { readonly from: Database; readonly to: Database },
): Promise<void> {
  if (await encodingOf(from, reference) === null || await encodingOf(to, reference) !== null) return;
  await putLarge(to, contentPieces(from, reference));
}
