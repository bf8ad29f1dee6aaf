import { DatabaseSync, type StatementSync } from "node:sqlite";
import type { SteeredMessage } from "../domain/query/stored_query.ts";
import { fromJson, type ResultRow } from "./database.ts";

/** The most characters of a text that are searched, and of words that a row of the index can hold. */
const MAX_CHARS = 1 << 20, MAX_WORDS_CHARS = 500_000, MAX_WORD_CHARS = 500, MAX_POSITION = 16_383;

/** Terms by token, by phrase. */
type Others = ReadonlyMap<string, ReadonlyMap<string, readonly string[]>>;

interface Index {
  readonly db: DatabaseSync;
  readonly insert: StatementSync;
  readonly read: StatementSync;
}

/** Finds the words of texts as the index of SQLite does: the same endings and accents are left out. */
class Words {
  #index: Index | null = null;

  /** The words of a text in order, as a `tsvector`. */
  vector(text: string): string {
    let chars = 0;
    return this.of(text.slice(0, MAX_CHARS)).flatMap((word, at) => {
      chars += word.length + 12;
      return chars > MAX_WORDS_CHARS ? [] : `${quoted(word)}:${Math.min(at + 1, MAX_POSITION)}`;
    }).join(" ");
  }

  /** A `tsquery` that a text matches which has all these phrases. `others` has terms that count as a token of a
   * phrase. */
  query(phrases: readonly string[], others: Others = new Map()): string {
    return phrases.map((phrase) => {
      const terms = (token: string) => [token, ...others.get(phrase)?.get(token) ?? []].map(quoted).join(" | ");
      return this.of(phrase).map((token) => `(${terms(token)})`).join(" <-> ");
    }).filter((words) => words !== "").map((words) => `(${words})`).join(" & ");
  }

  of(text: string): readonly string[] {
    const { db, insert, read } = this.#index ??= open();
    insert.run(text.replaceAll("\0", " "));
    const words = read.all().map(({ term }) => String(term).slice(0, MAX_WORD_CHARS));
    db.exec("DELETE FROM one");
    return words;
  }
}

/** One for the process: it opens an index in memory once. */
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

/** What of the metadata of a query is searched. */
interface Texts {
  readonly answer: string;
  readonly steered: readonly SteeredMessage[];
}

/** The end of a statement that stores entries. */
export const PUT_ENTRY = "ON CONFLICT (owner_id, field) DO UPDATE SET words = excluded.words";

/** The rows of `search` for these cells of a row, its id among them. */
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

/** Each word as a phrase: quotes remove any special meaning. */
export function phrases(words: ReadonlySet<string>): string {
  return [...words].map((word) => `"${word.replaceAll('"', '""')}"`).join(" ");
}
