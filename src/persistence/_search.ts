import { type Kysely, sql } from "kysely";
import type { Schema } from "./_schema.ts";

/** One place where a text was found. `[` and `]` stand around the words in the snippet. */
interface Hit {
  readonly ownerTable: string;
  readonly ownerId: string;
  readonly field: string;
  readonly snippet: string;
}

const SNIPPET_TOKENS = 16;

/** Full-text search, best first: all words of `text` must occur. Nothing in it has a meaning to the query language. */
export async function search(
  db: Kysely<Schema>,
  { text, limit }: { readonly text: string; readonly limit: number },
): Promise<readonly Hit[]> {
  const words = text.replaceAll("\0", " ").split(/\s+/).filter((word) => /[\p{L}\p{N}\p{Co}]/u.test(word));
  if (words.length === 0 || limit < 1) return [];
  const query = words.map((word) => `"${word.replaceAll('"', '""')}"`).join(" ");
  const { rows } = await sql<Hit>`
    SELECT owner_table, owner_id, field, snippet(search, 3, '[', ']', '…', ${SNIPPET_TOKENS}) AS snippet
    FROM search WHERE search MATCH ${query} ORDER BY rank LIMIT ${Math.floor(limit)}`.execute(db);
  return rows;
}
