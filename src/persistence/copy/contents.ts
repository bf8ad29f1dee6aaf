import { Content } from "../content/content.ts";
import { largePieces, putLarge } from "../content/large_text.ts";
import type { Database } from "../database/database.ts";
import type { PlainRow } from "./read_rows.ts";

const PREFIX = "sha256:";
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

/** How a content is stored; null if there is none. */
export async function encodingOf(db: Database, reference: string): Promise<"raw" | "chunks" | "delta" | null> {
  const row = await db.selectFrom("content").select("encoding").where("hash", "=", reference.slice(PREFIX.length))
    .executeTakeFirst();
  return row?.encoding ?? null;
}

/** The bytes of a content, verified, a piece at a time. */
export async function* contentPieces(db: Database, reference: string): AsyncGenerator<Uint8Array<ArrayBuffer>> {
  if (await encodingOf(db, reference) === "delta") {
    const content = new Content(db);
    await content.load([reference]);
    yield content.bytes(reference);
  } else yield* largePieces(db, reference);
}

async function copyContent(
  reference: string,
  { from, to }: { readonly from: Database; readonly to: Database },
): Promise<void> {
  if (await encodingOf(from, reference) === null || await encodingOf(to, reference) !== null) return;
  await putLarge(to, contentPieces(from, reference));
}
