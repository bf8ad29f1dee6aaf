import { type RawBuilder, sql } from "kysely";
import {
  type Database,
  type DatabaseDialect,
  type SearchDialect,
  type SearchMatch,
  type SearchWords,
  updateRow,
} from "../database.ts";
import { dropLargeInFile, dropLargeRows, eraseInFile, orphansInFile, referencesInFile } from "../erasure.ts";
import { phrases, WORDS } from "../search_words.ts";
import { breaksRule } from "./store_error.ts";

const none = <T>() => sql<T | null>`NULL`;
const isTrue = sql<boolean>`true`;

/** What is different in statements for SQLite. */
export const SQLITE: DatabaseDialect = {
  textBytes: 1024,
  valueBytes: 1024,
  contentBytes: 64 * 1024,
  hasDifferences: true,
  locksByChange: false,
  search: searchOfFile(),
  erasure: {
    referencesOf: referencesInFile,
    orphansOf: orphansInFile,
    erase: (_db, work) => eraseInFile(work),
    removing: (tx, _conversationId, remove) => leavingNothing(tx, remove),
    dropLarge: async (db, { hash, location, busyMs }) => {
      await (location === ":memory:" ? dropLargeRows(db, hash) : dropLargeInFile(hash, { location, busyMs }));
    },
  },

  // No equality: SQLite would find all rows of the tenant and sort them, where an index has them in order.
  isTenant: (expression, tenant) => sql<boolean>`(${sql.raw(expression)} = ${tenant}) IS TRUE`,
  wholeText,
  jsonText: (cell, key) => sql<string | null>`json_extract(${wholeText(cell)}, ${`$.${key}`})`,
  hasJson: (column, path, value) => {
    const text = sql.raw(column);
    const place = `$${path.map((part) => `."${part}"`).join("")}`;
    const type = sql`json_type(${text}, ${place})`;
    if (value === null) return sql<boolean>`${type} = 'null'`;
    if (typeof value === "boolean") return sql<boolean>`${type} = ${String(value)}`;
    const extracted = sql`json_extract(${text}, ${place}) = ${value}`;
    if (typeof value === "string") return sql<boolean>`(${type} = 'text' AND ${extracted})`;
    return sql<boolean>`(${type} IN ('integer', 'real') AND ${extracted})`;
  },
  isListed: (column, json) => sql`${sql.ref(column)} IN (SELECT value FROM json_each(${json}))`,
  byteLength: (column) => `length(CAST(${column} AS BLOB))`,
  mentionsContent: (column) => `length(${column}) > 71 AND instr(${column}, 'sha256:') > 0`,
  externalId: (conversation) => SQLITE.jsonText(`${conversation}.metadata`, "externalId"),
  largeCell: (reference) => reference,
  // Of the rows of a group, SQLite returns the one with the highest version.
  newestVersions: ({ by, columns, from }) =>
    sql`SELECT ${sql.raw(columns)}, max(e.version) AS version FROM ${from} GROUP BY ${sql.raw(by)}`,

  holderOf: none,
  versionOf: none,
  hasNoJob: () => isTrue,
  hasRunningJob: () => Promise.resolve(false),
  keyedJobs: () => Promise.resolve([]),

  nextActivity,
  moveToFront: async (tx, { id, activity }) => {
    const next = await nextActivity(tx);
    if (activity !== 0 && activity >= next - 1) return;
    await updateRow(tx, "conversationSoul", { id, changes: { activity: next } });
  },
  storeBoth: async (db, first, second) => {
    await db.write(async (tx) => {
      await first(tx).execute();
      await second(tx).execute();
    });
  },
  deferReferences: async (tx) => {
    await sql`PRAGMA defer_foreign_keys = ON`.execute(tx);
  },
  afterCopy: () => Promise.resolve(),
  breaksRule,
};

function wholeText(cell: string): RawBuilder<string | null> {
  const from = sql.raw(cell);
  return sql<string | null>`CASE WHEN ${from} GLOB 'sha256:*'
    THEN (SELECT CAST(f.bytes AS TEXT) FROM content_full f WHERE f.hash = substr(${from}, 8)) ELSE ${from} END`;
}

async function nextActivity(tx: Database): Promise<number> {
  const { newest } = await tx.selectFrom("conversationSoul").select((c) => c.fn.max("activity").as("newest"))
    .executeTakeFirstOrThrow();
  return (newest ?? 0) + 1;
}

/** SQLite would leave the bytes of deleted rows in its pages, and their words in the search index until that is merged. */
async function leavingNothing<T>(tx: Database, work: () => Promise<T>): Promise<T> {
  const set = (on: 0 | 1) => tx.run(`INSERT INTO search (search, rank) VALUES ('secure-delete', ${on})`, []);
  await tx.run("PRAGMA secure_delete = ON", []);
  try {
    await set(1);
    const done = await work();
    await set(0);
    return done;
  } finally {
    await tx.run("PRAGMA secure_delete = OFF", []);
  }
}

/** The lowest and the highest code point of characters of scripts that are written without spaces, and of a few
 * others. */
const FIRST_UNSPACED = "\u0e00", LAST = "\u{10ffff}";

function searchOfFile(): SearchDialect {
  return {
    isExact: true,
    isShared: true,
    termReader,
    match: (_db, words) => matchInFile(words),
    inside: (_db, word) => [sql`instr(lower(s.text), lower(${word})) > 0`],
    all: () => [],
  };
}

/** Reads all terms if one begins with a character of such a script, else those that begin with the token. */
async function termReader(db: Database): Promise<(token: string) => Promise<readonly string[]>> {
  await db.run("CREATE VIRTUAL TABLE IF NOT EXISTS temp.search_term USING fts5vocab(main, search, instance)", []);
  await db.run("CREATE VIRTUAL TABLE IF NOT EXISTS temp.search_word USING fts5vocab(main, search, row)", []);
  const [unspaced] = await db.run("SELECT 1 FROM temp.search_word WHERE term >= ? LIMIT 1", [FIRST_UNSPACED]);
  return async (token) => {
    const where = unspaced ? sql`instr(term, ${token}) > 0` : sql`term > ${token} AND term <= ${token + LAST}`;
    const { rows } = await sql<{ readonly term: string }>`SELECT term FROM temp.search_word WHERE ${where}`.execute(db);
    return rows.map(({ term }) => term);
  };
}

/** Words that are next to others without a space are found by the texts that have them, newest first. */
function matchInFile({ words, joined }: SearchWords): SearchMatch {
  const plain = phrases(words.difference(joined));
  const also = [...joined].map(([word, terms]) => {
    const all = sql.join([...new Set([...terms.values()].flat())]);
    const isWhole = terms.size === 1 && WORDS.of(word).length === 1;
    return sql`(s.rowid IN (SELECT rowid FROM search WHERE search MATCH ${phrases(new Set([word]))})
      OR s.rowid IN (SELECT doc FROM temp.search_term WHERE term IN (${all}))
        AND (${isWhole ? sql`true` : sql`instr(lower(s.text), lower(${word})) > 0`}))`;
  });
  const isRanked = plain !== "";
  return {
    where: sql.join([...(isRanked ? [sql`search MATCH ${plain}`] : []), ...also], sql` AND `),
    order: isRanked ? sql`s.rank` : sql`s.rowid DESC`,
    isRanked,
  };
}
