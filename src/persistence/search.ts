import { sql } from "kysely";
import { DatabaseSync, type StatementSync } from "node:sqlite";
import type { SteeredMessage } from "../domain/query/stored_query.ts";
import type { SearchFilter, SearchHit, SearchKind } from "../domain/records/history.ts";
import { type BranchSegment, readLineage } from "./branches.ts";
import { Content } from "./long_values.ts";
import {
  Damage,
  type Database,
  fromJson,
  isSeen,
  type ResultRow,
  type SearchMatch,
  type SearchWords,
} from "./database.ts";
import type { QueryMetadata } from "./runs.ts";

const MAX_WORDS = 32;
const MAX_WORD_CHARS = 200;
/** Ranking reads each match. If nothing else filters the matches, a search ranks only this number of the newest
 * matches. */
const MAX_RANKED = 5000;

/** Scripts with these characters put no spaces between words, or attach endings to words. */
const UNSPACED =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]/u;

const KINDS: Readonly<Record<string, SearchKind>> = {
  query: "request",
  steered: "request",
  expr: "code",
  answer: "answer",
};
const FIELDS: Readonly<Record<SearchKind, readonly string[]>> = {
  request: ["query", "steered"],
  code: ["expr"],
  answer: ["answer"],
};

export async function searchRows(
  db: Database,
  { text, filter }: { readonly text: string; readonly filter: SearchFilter },
): Promise<readonly SearchHit[]> {
  const all = [...wordsOf(text)];
  const inside = all.filter((word) => UNSPACED.test(word));
  const words = new Set(all.filter((word) => !UNSPACED.test(word)));
  if (all.length === 0 || !(filter.limit >= 1)) return [];
  const joined = words.size === 0 ? new Map() : await joinedTerms(db, [...words]);
  const query = phrases(words.difference(joined));
  const match = inside.length === 0
    ? db.dialect.search.match(db, { words, joined })
    : matchInside(db, { words, joined, inside });
  return await db.read(async (tx) => {
    const lineage = filter.branchId === undefined ? null : await readLineage(tx, filter.branchId);
    const marks = {
      query,
      inside: [...inside, ...joined.keys()],
      isExact: db.dialect.search.isExact && joined.size === 0,
    };
    return await found(tx, { marks, match, filter, lineage });
  });
}

async function joinedTerms(db: Database, words: readonly string[]): Promise<SearchWords["joined"]> {
  const found = new Map<string, ReadonlyMap<string, readonly string[]>>();
  const termsWith = await db.dialect.search.termReader(db);
  for (const word of words) {
    const ofWord = new Map<string, readonly string[]>();
    for (const token of WORDS.of(word)) {
      const terms = (await termsWith(token)).filter((term) => hasPart(term, token));
      if (terms.length > 0) ofWord.set(token, terms);
    }
    if (ofWord.size > 0) found.set(word, ofWord);
  }
  return found;
}

function hasPart(term: string, token: string): boolean {
  const parts = term.split(UNSPACED).filter((part) => part !== "");
  return parts.length > 0 && UNSPACED.test(term) &&
    parts.some((part) => part === token || WORDS.of(part).some((one) => one === token));
}

async function found(
  db: Database,
  { marks, match, filter, lineage }: {
    readonly marks: Omit<Parameters<typeof snippetsOf>[1], "hits">;
    readonly match: SearchMatch;
    readonly filter: SearchFilter;
    readonly lineage: readonly BranchSegment[] | null;
  },
): Promise<readonly SearchHit[]> {
  const { rows } = await sql<Omit<SearchHit, "kind" | "snippet"> & { readonly branchId: string | null }>`
    SELECT s.owner_table, s.owner_id, s.field, b.conversation_soul_id AS conversation_id, b.id AS branch_id, b.title,
      coalesce(r.id, (SELECT n.id FROM query_state n WHERE n.query_soul_id = q.id ORDER BY n.version DESC LIMIT 1), '')
        AS query_id,
      i.id AS iteration_id, i.position, v.name AS variable, coalesce(e.created_at, r.created_at, q.created_at) AS at
    FROM search s
    LEFT JOIN expression_state e ON s.field = 'expr' AND e.id = s.owner_id
    LEFT JOIN expression_soul v ON v.id = e.expression_soul_id
    LEFT JOIN iteration i ON i.id = e.iteration_id
    LEFT JOIN query_state r ON r.id = CASE WHEN s.field IN ('answer', 'steered') THEN s.owner_id ELSE i.query_state_id END
    LEFT JOIN query_soul q ON q.id = CASE s.field WHEN 'query' THEN s.owner_id ELSE r.query_soul_id END
    LEFT JOIN conversation_state b ON b.id = q.conversation_state_id
    LEFT JOIN conversation_soul c ON c.id = b.conversation_soul_id
    WHERE ${match.where} AND ${isOwn(db)} AND ${await bound(db, match, filter)} AND ${conditions(filter)}
      AND (${lineage ? sql.join(lineage.map(shownIn), sql` OR `) : sql`true`})
    ORDER BY ${match.order} LIMIT ${sql.lit(Math.floor(filter.limit))}`.execute(db);
  const content = new Content(db);
  await content.load(rows.map(({ title }) => title));
  const snippets = await snippetsOf(db, { hits: rows, ...marks });
  return rows.map((row, at) => ({
    kind: KINDS[row.field] ?? "code",
    ...row,
    title: content.text(row.title ?? ""),
    snippet: snippets[at] ?? "",
  }));
}

function matchInside(
  db: Database,
  { words, joined, inside }: SearchWords & { readonly inside: readonly string[] },
): SearchMatch {
  const { search } = db.dialect;
  const others = words.size === 0 ? null : search.match(db, { words, joined });
  const has = inside.flatMap((word) => search.inside(db, word));
  return {
    where: sql.join([...(others ? [others.where] : search.all(db)), ...has], sql` AND `),
    order: others?.order ?? sql`s.rowid DESC`,
    isRanked: others?.isRanked ?? false,
  };
}

function wordsOf(text: string): ReadonlySet<string> {
  const words = new Set<string>();
  for (const [word] of text.slice(0, MAX_WORDS * 1000).toWellFormed().replaceAll("\0", " ").matchAll(/\S+/g)) {
    // A word without a token of the tokenizer would match no text.
    if (/[\p{L}\p{N}\p{Co}]/u.test(word)) words.add(word.slice(0, MAX_WORD_CHARS).toWellFormed());
    if (words.size === MAX_WORDS) break;
  }
  return words;
}

function isOwn(db: Database) {
  return sql`c.id IS NOT NULL AND ${isSeen(db, "c.tenant")}`;
}

/** A filter or a shared index may exclude the newest matches, so the search then reads all matches. */
async function bound(
  db: Database,
  ...[match, { conversationId, branchId, kind, since, until }]: readonly [SearchMatch, SearchFilter]
) {
  const isFiltered = [conversationId, branchId, kind, since, until].some((one) => one !== undefined);
  if (isFiltered || !match.isRanked) return sql`true`;
  if (db.dialect.search.isShared && db.tenant !== null && await hasOthers(db, db.tenant)) return sql`true`;
  return sql`s.rowid >= coalesce((
    SELECT s.rowid FROM search s WHERE ${match.where} ORDER BY s.rowid DESC LIMIT 1 OFFSET ${MAX_RANKED - 1}
  ), 0)`;
}

async function hasOthers(db: Database, tenant: string): Promise<boolean> {
  const { rows } = await sql`SELECT 1 FROM conversation_soul WHERE tenant < ${tenant} OR tenant > ${tenant} LIMIT 1`
    .execute(db);
  return rows.length > 0;
}

function conditions({ conversationId, kind, since, until }: SearchFilter) {
  const at = sql`coalesce(e.created_at, r.created_at, q.created_at)`;
  return sql.join([
    sql`true`,
    ...(conversationId === undefined ? [] : [sql`b.conversation_soul_id = ${conversationId}`]),
    ...(kind === undefined ? [] : [sql`s.field IN (${sql.join(FIELDS[kind])})`]),
    ...(since === undefined ? [] : [sql`${at} >= ${since}`]),
    ...(until === undefined ? [] : [sql`${at} < ${until}`]),
  ], sql` AND `);
}

/** At the fork of a branch, an answer counts if no iteration after the fork contributed to it. */
function shownIn({ branchId, until }: BranchSegment) {
  if (until === null) return sql`b.id = ${branchId}`;
  const { soulId, queryId, position } = until;
  const isRun = sql`coalesce(r.id = ${queryId}, ${position >= 0 ? sql`true` : sql`false`})`;
  const isAfter = sql`coalesce(i.position > ${position}, EXISTS (
    SELECT 1 FROM iteration l WHERE l.query_state_id = r.id AND l.position > ${position}))`;
  return sql`(b.id = ${branchId} AND (q.rowid < (SELECT rowid FROM query_soul WHERE id = ${soulId})
    OR q.id = ${soulId} AND ${isRun} AND NOT ${isAfter}))`;
}

const SNIPPET_TOKENS = 16;
const SNIPPET_CHARS = 40;

type Found = Pick<SearchHit, "ownerTable" | "ownerId" | "field" | "queryId">;

interface TextRow {
  readonly id: string;
  readonly queryId: string;
  readonly text: string | null;
  readonly metadata: string | null;
}

const runs = (ids: readonly string[]) =>
  sql`SELECT r.id, r.id AS query_id, NULL AS text, r.metadata FROM query_state r
  JOIN query_soul q ON q.id = r.query_soul_id JOIN conversation_state b ON b.id = q.conversation_state_id
  JOIN conversation_soul c ON c.id = b.conversation_soul_id
  WHERE r.id IN (${sql.join(ids)})`;

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

/** The snippets come from the tables, because Vis does not verify the copies in the search index. */
async function snippetsOf(
  db: Database,
  { hits, query, inside, isExact }: {
    readonly hits: readonly Found[];
    readonly query: string;
    readonly inside: readonly string[];
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

function partOf(metadata: string, field: string): string {
  const { answer = "", steered = [] } = fromJson<Pick<QueryMetadata, "answer" | "steered">>(metadata);
  return field === "answer" ? answer : steered.map(({ text }) => text).join("\n");
}

/** Marks the words with a temporary index of these texts, so that the same words match as in the search. */
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
  throw new Damage("the search index does not match the stored texts");
}

const MAX_CHARS = 1 << 20, MAX_WORDS_CHARS = 500_000, MAX_INDEXED_WORD_CHARS = 500, MAX_POSITION = 16_383;

type Others = ReadonlyMap<string, ReadonlyMap<string, readonly string[]>>;

interface Index {
  readonly db: DatabaseSync;
  readonly insert: StatementSync;
  readonly read: StatementSync;
}

class Words {
  #index: Index | null = null;

  vector(text: string): string {
    let chars = 0;
    return this.of(text.slice(0, MAX_CHARS)).flatMap((word, at) => {
      chars += word.length + 12;
      return chars > MAX_WORDS_CHARS ? [] : `${quoted(word)}:${Math.min(at + 1, MAX_POSITION)}`;
    }).join(" ");
  }

  query(phrases: readonly string[], others: Others = new Map()): string {
    return phrases.map((phrase) => {
      const terms = (token: string) => [token, ...others.get(phrase)?.get(token) ?? []].map(quoted).join(" | ");
      return this.of(phrase).map((token) => `(${terms(token)})`).join(" <-> ");
    }).filter((words) => words !== "").map((words) => `(${words})`).join(" & ");
  }

  of(text: string): readonly string[] {
    const { db, insert, read } = this.#index ??= open();
    insert.run(text.replaceAll("\0", " "));
    const words = read.all().map(({ term }) => String(term).slice(0, MAX_INDEXED_WORD_CHARS));
    db.exec("DELETE FROM one");
    return words;
  }
}

export const WORDS: Words = new Words();

function open(): Index {
  const db = new DatabaseSync(":memory:");
  db.exec("CREATE VIRTUAL TABLE one USING fts5(text, tokenize = 'porter unicode61 remove_diacritics 2')");
  db.exec("CREATE VIRTUAL TABLE word USING fts5vocab(one, 'instance')");
  const insert = db.prepare("INSERT INTO one (rowid, text) VALUES (1, ?)");
  return { db, insert, read: db.prepare("SELECT term FROM word ORDER BY offset") };
}

function quoted(word: string): string {
  return `'${word.replaceAll("'", "''").replaceAll("\\", "\\\\")}'`;
}

interface Texts {
  readonly answer: string;
  readonly steered: readonly SteeredMessage[];
}

export const PUT_ENTRY = "ON CONFLICT (owner_id, field) DO UPDATE SET words = excluded.words";

export function searchEntries(table: string, cells: ResultRow): readonly ResultRow[] {
  return Object.entries(textsOf(table, cells)).filter(([, text]) => text !== "")
    .map(([field, text]) => ({ ownerTable: table, ownerId: cells["id"], field, words: WORDS.vector(text) }));
}

function textsOf(table: string, cells: ResultRow): Readonly<Record<string, string>> {
  const cell = (name: string): string => typeof cells[name] === "string" ? cells[name] : "";
  switch (table) {
    case "query_soul":
      return { query: cell("query") };
    case "expression_state":
      return { expr: cell("expr") };
    case "query_state":
      return partsOf(cell("metadata"));
    default:
      return {};
  }
}

function partsOf(metadata: string): Readonly<Record<string, string>> {
  if (!/"answer":"|"steered":\[\{/.test(metadata)) return {};
  const { answer = "", steered = [] } = fromJson<Texts>(metadata);
  return { answer, steered: steered.map(({ text }) => text).join("\n") };
}

/** In FTS5, a quoted word has no special meaning. */
export function phrases(words: ReadonlySet<string>): string {
  return [...words].map((word) => `"${word.replaceAll('"', '""')}"`).join(" ");
}
