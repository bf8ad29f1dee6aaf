import {
  type Dialect,
  type Driver,
  type LimitNode,
  type RawBuilder,
  sql,
  SqliteAdapter,
  SqliteIntrospector,
  SqliteQueryCompiler,
  ValueNode,
} from "kysely";
import type { SQLOutputValue } from "node:sqlite";
import {
  Database,
  type DatabaseDialect,
  OwnDriver,
  type ResultRow,
  type RowChange,
  type SearchDialect,
  type SearchMatch,
  type SearchWords,
  updateRow,
} from "../database.ts";
import { dropLargeInFile, dropLargeRows, eraseInFile, orphansInFile, referencesInFile } from "../erasure.ts";
import { phrases, WORDS } from "../search.ts";
import { snakeCase } from "../tables.ts";
import { type SqliteConnection, Transactions } from "./connection.ts";
import { breaksRule } from "./sqlite_error.ts";

interface SqliteDatabaseOptions {
  readonly transactions: Transactions | null;
  readonly tenant: string | null;
}

export class SqliteDatabase extends Database {
  override readonly dialect = SQLITE;
  readonly #connection: SqliteConnection;
  readonly #transactions: SqliteDatabaseOptions["transactions"];
  readonly #within: SqliteDatabase;
  override readonly tenant: string | null;

  constructor(connection: SqliteConnection, { transactions, tenant }: SqliteDatabaseOptions) {
    super(sqliteDialect(new OwnDriver((text, parameters) => connection.query(text, parameters), transactions)));
    this.tenant = tenant;
    this.#connection = connection;
    this.#transactions = transactions;
    this.#within = transactions ? new SqliteDatabase(connection, { tenant, transactions: null }) : this;
  }

  override of(tenant: string | null): Database {
    return new SqliteDatabase(this.#connection, { tenant, transactions: this.#transactions });
  }

  override run(text: string, parameters: readonly unknown[]): readonly ResultRow[] | Promise<readonly ResultRow[]> {
    const transactions = this.#transactions;
    if (!transactions) return this.#connection.query(text, parameters).rows;
    return transactions.statement(() => this.#connection.query(text, parameters).rows);
  }

  override async store(text: string, parameters: readonly unknown[]): Promise<void> {
    await this.run(text, parameters);
  }

  override insert(table: string, cells: ResultRow): void | Promise<void> {
    return this.store(insertText(table, Object.keys(cells)), Object.values(cells));
  }

  override update(table: string, { id, changes }: RowChange): void | Promise<void> {
    return this.store(updateText(table, Object.keys(changes)), [...Object.values(changes), id]);
  }

  override write<T>(work: (tx: Database) => Promise<T>): Promise<T> {
    return this.#outer.write(() => work(this.#within));
  }

  override read<T>(work: (tx: Database) => Promise<T>): Promise<T> {
    return this.#outer.read(() => work(this.#within));
  }

  override async readBeside<T>(work: (tx: Database) => Promise<T>): Promise<T> {
    const connection = this.#connection.beside();
    if (connection === null) return await this.read(work);
    try {
      const transactions = new Transactions(connection, { busyMs: 0 });
      return await new SqliteDatabase(connection, { tenant: this.tenant, transactions }).read(work);
    } finally {
      connection.close();
    }
  }

  override async close(): Promise<void> {
    await this.#outer.end();
    await this.destroy();
    this.#connection.close();
  }

  /** SQLite allows one writer at a time, so a write needs no named lock. */
  override lock(): Promise<void> {
    return Promise.resolve();
  }

  get #outer(): Transactions {
    if (!this.#transactions) throw new Error("Cannot begin a transaction: another one is open on this connection");
    return this.#transactions;
  }
}

function sqliteDialect(driver: Driver): Dialect {
  return {
    createDriver: () => driver,
    createQueryCompiler: () => new SnakeCaseCompiler(),
    createAdapter: () => new OwnAdapter(),
    createIntrospector: (db) => new SqliteIntrospector(db),
  };
}

/** `OwnDriver` itself queues access to the connection. */
class OwnAdapter extends SqliteAdapter {
  override get supportsMultipleConnections(): boolean {
    return true;
  }
}

class SnakeCaseCompiler extends SqliteQueryCompiler {
  /** SQLite allows one writer at a time, so a row needs no lock. */
  protected override visitSelectModifier(): void {}

  /** SQLite would compile the statement again for a bound limit, so the text contains the number. */
  protected override visitLimit({ limit }: LimitNode): void {
    this.append("limit ");
    const isNumber = ValueNode.is(limit) && typeof limit.value === "number";
    this.visitNode(isNumber ? ValueNode.createImmediate(limit.value) : limit);
  }

  protected override sanitizeIdentifier(identifier: string): string {
    return snakeCase(super.sanitizeIdentifier(identifier));
  }
}

const TEXTS = new Map<string, string>();

function insertText(table: string, columns: readonly string[]): string {
  return known(`insert ${table} ${columns.join(" ")}`, () => {
    const places = columns.map(() => "?").join(", ");
    return `INSERT INTO ${snakeCase(table)} (${columns.map(snakeCase).join(", ")}) VALUES (${places})`;
  });
}

function updateText(table: string, columns: readonly string[]): string {
  return known(`update ${table} ${columns.join(" ")}`, () => {
    const set = columns.map((column) => `${snakeCase(column)} = ?`).join(", ");
    return `UPDATE ${snakeCase(table)} SET ${set} WHERE id = ?`;
  });
}

function known(name: string, make: () => string): string {
  const text = TEXTS.get(name) ?? make();
  TEXTS.set(name, text);
  return text;
}

type TableRow = Readonly<Record<string, SQLOutputValue>>;

const none = <T>() => sql<T | null>`NULL`;
const isTrue = sql<boolean>`true`;

const SQLITE: DatabaseDialect = {
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

  // With plain equality, SQLite would sort all rows of the tenant, although an index has the rows in order.
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
  // SQLite returns the row with the highest version of each group.
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

/** By default, SQLite leaves the bytes of deleted rows in its pages, and their words in the search index. */
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

/** Each character of `UNSPACED` in `search.ts` is above `FIRST_UNSPACED`. */
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

/** If a term begins with `FIRST_UNSPACED` or a later character, a token may be inside a term, so SQLite reads all
 * terms. */
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
