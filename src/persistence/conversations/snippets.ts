import { DatabaseSync } from "node:sqlite";
import { sql } from "kysely";
import type { SearchHit } from "../../domain/records/history.ts";
import { Content } from "../content/content.ts";
import type { Database } from "../database/database.ts";
import { fromJson } from "../database/json.ts";
import type { QueryMetadata } from "../runs/query_metadata.ts";
import { Damage } from "../schema/damage.ts";

const SNIPPET_TOKENS = 16;
const SNIPPET_CHARS = 40;

type Found = Pick<SearchHit, "ownerTable" | "ownerId" | "field" | "queryId">;

interface TextRow {
  readonly id: string;
  readonly queryId: string;
  readonly text: string | null;
  readonly metadata: string | null;
}

/** The rows of queries. */
const runs = (ids: readonly string[]) =>
  sql`SELECT r.id, r.id AS query_id, NULL AS text, r.metadata FROM query_state r
  JOIN query_soul q ON q.id = r.query_soul_id JOIN conversation_state b ON b.id = q.conversation_state_id
  JOIN conversation_soul c ON c.id = b.conversation_soul_id
  WHERE r.id IN (${sql.join(ids)})`;

/** Where the texts of each field are stored. */
const SOURCES = {
  expr: {
    table: "expression_state",
    rows: (ids: readonly string[]) =>
      sql`SELECT e.id, r.id AS query_id, e.expr AS text, NULL AS metadata FROM expression_state e
      JOIN expression_soul v ON v.id = e.expression_soul_id JOIN iteration i ON i.id = e.iteration_id
      JOIN query_state r ON r.id = i.query_state_id JOIN query_soul q ON q.id = r.query_soul_id
      JOIN conversation_state b ON b.id = q.conversation_state_id
      JOIN conversation_soul c ON c.id = b.conversation_soul_id
      WHERE e.id IN (${sql.join(ids)})`,
  },
  answer: { table: "query_state", rows: runs },
  steered: { table: "query_state", rows: runs },
  query: {
    table: "query_soul",
    rows: (ids: readonly string[]) =>
      sql`SELECT q.id, r.id AS query_id, q.query AS text, NULL AS metadata FROM query_soul q
      JOIN query_state r ON r.query_soul_id = q.id AND r.version = q.runs - 1
      JOIN conversation_state b ON b.id = q.conversation_state_id
      JOIN conversation_soul c ON c.id = b.conversation_soul_id
      WHERE q.id IN (${sql.join(ids)})`,
  },
} as const;

/** The snippets of hits, made from the texts in the tables, because the copies in the search index are not verified.
 * Throws `Damage` if such a text is missing or does not contain the words of `query`. */
export async function snippetsOf(
  db: Database,
  { hits, query, inside, isExact }: {
    readonly hits: readonly Found[];
    readonly query: string;
    /** Words that are anywhere in a text. */
    readonly inside: readonly string[];
    /** Whether a text has them as they are written, and not in another form. */
    readonly isExact: boolean;
  },
): Promise<readonly string[]> {
  const texts = new Map<string, string>();
  for (const [field, { table, rows }] of Object.entries(SOURCES)) {
    const wanted = hits.filter((hit) => hit.field === field && hit.ownerTable === table);
    if (wanted.length === 0) continue;
    const { rows: found } = await (rows(wanted.map(({ ownerId }) => ownerId)) as ReturnType<typeof sql<TextRow>>)
      .execute(db);
    const content = new Content(db);
    await content.load(found.map(({ metadata }) => metadata));
    for (const { id, queryId, text, metadata } of found) {
      texts.set(`${field} ${id} ${queryId}`, text ?? partOf(content.text(metadata ?? "{}"), field));
    }
  }
  const found = hits.map((hit) => texts.get(`${hit.field} ${hit.ownerId} ${hit.queryId}`) ?? lost());
  if (inside.length === 0) return marked(found, query);
  return found.map((text) => markedInside(text, { inside, isExact }));
}

/** The surroundings of the first of these words, with each of them marked. */
function markedInside(
  text: string,
  { inside, isExact }: { readonly inside: readonly string[]; readonly isExact: boolean },
): string {
  const any = new RegExp(inside.map((word) => RegExp.escape(word)).join("|"), "giu");
  const at = text.search(any);
  if (at < 0 && isExact) lost();
  const from = Math.max(0, at - SNIPPET_CHARS), to = Math.max(at, 0) + 2 * SNIPPET_CHARS;
  const shown = text.slice(from, to).toWellFormed().replace(any, (word) => `[${word}]`);
  return `${from > 0 ? "…" : ""}${shown}${to < text.length ? "…" : ""}`;
}

/** The answer of a query, or what the user sent while it ran, from its metadata. */
function partOf(metadata: string, field: string): string {
  const { answer = "", steered = [] } = fromJson<Pick<QueryMetadata, "answer" | "steered">>(metadata);
  return field === "answer" ? answer : steered.map(({ text }) => text).join("\n");
}

/** Marks the words with an index of these texts alone, which matches as the large one does. */
function marked(texts: readonly string[], query: string): readonly string[] {
  if (texts.length === 0) return [];
  using db = new DatabaseSync(":memory:");
  db.exec("CREATE VIRTUAL TABLE hit USING fts5(text, tokenize = 'porter unicode61 remove_diacritics 2')");
  const insert = db.prepare("INSERT INTO hit (rowid, text) VALUES (?, ?)");
  texts.forEach((text, at) => insert.run(at + 1, text));
  const rows = db.prepare(
    `SELECT rowid AS at, snippet(hit, 0, '[', ']', '…', ${SNIPPET_TOKENS}) AS snippet FROM hit WHERE hit MATCH ?`,
  ).all(query);
  const snippets = new Map(rows.map(({ at, snippet }) => [Number(at) - 1, String(snippet)]));
  return texts.map((_, at) => snippets.get(at) ?? lost());
}

function lost(): never {
  throw new Damage("the search index is not of the texts that are stored");
}
