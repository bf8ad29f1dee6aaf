import type { Database } from "../database/database.ts";
import { Content } from "./content.ts";
import { largePieces } from "./large_text.ts";

const PREFIX = "sha256:";

/** How a content is stored; null if there is none. */
export async function encodingOf(db: Database, reference: string): Promise<"raw" | "chunks" | "delta" | null> {
  const row = await db.selectFrom("content").select("encoding").where("hash", "=", reference.slice(PREFIX.length))
    .executeTakeFirst();
  return row?.encoding ?? null;
}

/** The bytes of a content, verified, a piece at a time. */
export async function* contentPieces(db: Database, reference: string): AsyncGenerator<Uint8Array<ArrayBuffer>> {
  const encoding = await encodingOf(db, reference);
  if (encoding === "delta" || encoding === null) {
    // A long value of PostgreSQL is elsewhere.
    const content = new Content(db);
    await content.load([reference]);
    yield content.bytes(reference);
  } else yield* largePieces(db, reference);
}
