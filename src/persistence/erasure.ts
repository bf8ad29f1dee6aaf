import { type RawBuilder, sql } from "kysely";
import { DatabaseSync } from "node:sqlite";
import { unrefTimer, withPatience } from "../domain/kit/concurrency.ts";
import { jsonOrUndefined } from "../domain/kit/json.ts";
import type { Database, ErasureWork } from "./database.ts";
import { SqliteConnection, Transactions } from "./sqlite/connection.ts";
import { isBusy } from "./sqlite/sqlite_error.ts";
import { type ConversationTableName, isOfConversation, REFERRING_TABLES, snakeCase } from "./tables.ts";

const PREFIX = "sha256:";
const REFERENCE = /sha256:([0-9a-f]{64})/g;
const ROWS_AT_ONCE = 2_000;
const HASHES_AT_ONCE = 200;
const FIRST_MS = 1_000;
const EVERY_MS = 60_000;
/** A killed process may leave a claim behind, so Vis removes claims of this age. */
const CLAIM_MS = 24 * 3_600_000;
const TRIES = 3;
/** Contents may belong to one transaction if their row numbers differ by at most this number. */
const NEAR = 50;
const ORPHAN_BYTES = 1 << 20;

const NESTED: readonly (readonly [table: ConversationTableName, column: string])[] = [
  ["querySoul", "metadata"],
  ["expressionState", "metadata"],
  ["extensionState", "value"],
];

interface EraserOptions {
  readonly db: Database;
  readonly location: string;
  readonly busyMs: number;
  readonly now: () => number;
}

export class Eraser {
  readonly #options: EraserOptions;
  #running: Promise<void> | null = null;
  /** A killed process may have left entries in the list, so the first run always reads the list. */
  #isAsked = true;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #ended = false;

  constructor(options: EraserOptions) {
    this.#options = options;
    this.#beginIn(FIRST_MS);
  }

  begin(): void {
    clearTimeout(this.#timer);
    this.#isAsked = true;
    this.#running ??= this.#work();
  }

  async end(): Promise<void> {
    this.#ended = true;
    clearTimeout(this.#timer);
    await (this.#running ?? this.#work());
  }

  async #work(): Promise<void> {
    while (this.#isAsked) {
      this.#isAsked = false;
      await withPatience(0, () => this.#run()).catch(() => {});
    }
    this.#running = null;
    if (!this.#ended) this.#beginIn(EVERY_MS);
  }

  #beginIn(ms: number): void {
    this.#timer = setTimeout(() => this.begin(), ms);
    unrefTimer(this.#timer);
  }

  async #run(): Promise<void> {
    const { db, location, busyMs, now } = this.#options;
    if (location === ":memory:") return;
    for (;;) {
      const listed = hashesOf(await db.run("SELECT hash FROM erasure", []));
      if (listed.size === 0) return;
      await db.deleteFrom("claim").where("claimedAt", "<", now() - CLAIM_MS).execute();
      const claimed = await withParts(db, claimsOf(await db.run(CLAIMS, [])));
      const wanted = listed.difference(claimed);
      if (wanted.size === 0) return;
      const settled = await db.dialect.erasure.erase(db, { wanted, location, busyMs });
      if (settled === 0) return;
    }
  }
}

const CLAIMS = "SELECT reference FROM claim";

type Rows = readonly Readonly<Record<string, unknown>>[];

function hashesOf(rows: Rows): Set<string> {
  return new Set(rows.map(({ hash }) => String(hash)));
}

function claimsOf(rows: Rows): Set<string> {
  return new Set(rows.map(({ reference }) => String(reference).slice(PREFIX.length)));
}

/** The caller must run this function in the transaction that deletes the rows of the conversation. */
export async function noteErasable(db: Database, conversationId: string): Promise<void> {
  const { dialect } = db;
  const named = new Set(await dialect.erasure.referencesOf(db, conversationId));
  for (const [table, column] of NESTED) {
    const where = dialect.mentionsContent(`t.${column}`);
    for (const text of await cellsOf(db, { table, cell: `t.${column}`, where, conversationId })) {
      for (const [, hash = ""] of text.matchAll(REFERENCE)) named.add(hash);
    }
  }
  const all = (await withParts(db, named)).union(new Set(await dialect.erasure.orphansOf(db, conversationId)));
  // A deletion locks the entries in the order of the hashes, which avoids deadlocks.
  const sorted = [...all].sort();
  for (let at = 0; at < sorted.length; at += HASHES_AT_ONCE) {
    const rows = sorted.slice(at, at + HASHES_AT_ONCE).map((hash) => ({ hash }));
    await db.insertInto("erasure").values(rows)
      .onConflict((on) => on.column("hash").doUpdateSet((row) => ({ hash: row.ref("excluded.hash") }))).execute();
  }
}

async function cellsOf(
  db: Database,
  { table, cell, where, from = "", conversationId }: {
    readonly table: ConversationTableName;
    readonly cell: string;
    readonly where: string;
    readonly from?: string;
    readonly conversationId: string;
  },
): Promise<readonly string[]> {
  const { rows } = await sql<{ cell: unknown }>`SELECT DISTINCT ${sql.raw(cell)} AS cell
    FROM ${sql.raw(`${snakeCase(table)} t ${from}`)}
    WHERE ${sql.raw(where)} AND ${isOfConversation(table, conversationId)}`.execute(db);
  return rows.map(({ cell }) => String(cell));
}

export async function referencesInFile(db: Database, conversationId: string): Promise<readonly string[]> {
  const named: string[] = [];
  for (const table of REFERRING_TABLES) {
    for (const column of await textColumnsOf(db, table)) {
      const where = isReference(`t.${column}`);
      const cells = await cellsOf(db, { table, cell: `t.${column}`, where, conversationId });
      named.push(...cells.map((cell) => cell.slice(PREFIX.length)));
    }
  }
  for (const [table, column] of NESTED) {
    const texts = await cellsOf(db, {
      ...{ table, conversationId },
      cell: "CAST(f.bytes AS TEXT)",
      where: `${isReference(`t.${column}`)} AND instr(f.bytes, CAST('${PREFIX}' AS BLOB)) > 0`,
      from: `JOIN content_full f ON f.hash = substr(t.${column}, 8)`,
    });
    for (const text of texts) for (const [, hash = ""] of text.matchAll(REFERENCE)) named.push(hash);
  }
  return named;
}

/** The end of an iteration or a run replaces its metadata, so former metadata can remain as content that no row
 * names. */
export async function orphansInFile(db: Database, conversationId: string): Promise<readonly string[]> {
  const ofIterations = isOfConversation("iteration", conversationId);
  const cells = ["llm_user_prompt", "llm_response", "metadata"].map((column): RawBuilder<unknown> => {
    const cell = sql.raw(`t.${column}`);
    return sql`SELECT t.query_state_id AS run, c.rowid AS place FROM iteration t
      JOIN content c ON c.hash = substr(${cell}, 8) WHERE length(${cell}) = 71 AND ${ofIterations}`;
  });
  const { rows } = await sql<{ hash: string }>`
    WITH places AS (${sql.join(cells, sql` UNION ALL `)} UNION ALL SELECT t.id, c.rowid FROM query_state t
      JOIN content c ON c.hash = substr(t.metadata, 8)
      WHERE length(t.metadata) = 71 AND ${isOfConversation("queryState", conversationId)}
    ), ranges AS (
      SELECT min(place) - ${sql.lit(NEAR)} AS first, max(place) + ${sql.lit(NEAR)} AS last FROM places GROUP BY run
    )
    SELECT DISTINCT c.hash FROM ranges JOIN content c ON c.rowid BETWEEN first AND last
    WHERE c.encoding = 'raw' AND length(c.bytes) <= ${sql.lit(ORPHAN_BYTES)} AND substr(c.bytes, 1, 1) = x'7b'`
    .execute(db);
  return rows.map(({ hash }) => hash);
}

async function textColumnsOf(db: Database, table: ConversationTableName): Promise<readonly string[]> {
  const rows = await db.run("SELECT name FROM pragma_table_info(?) WHERE type IN ('TEXT', 'BLOB')", [snakeCase(table)]);
  return rows.map(({ name }) => String(name));
}

function isReference(column: string): string {
  return `length(${column}) = 71 AND typeof(${column}) = 'text' AND substr(${column}, 1, 7) = '${PREFIX}'`;
}

async function withParts(db: Database, hashes: ReadonlySet<string>): Promise<Set<string>> {
  const all = new Set<string>();
  const next = [...hashes];
  while (next.length > 0) {
    const some = next.splice(0, HASHES_AT_ONCE);
    for (const hash of some) all.add(hash);
    const rows = await db.selectFrom("content").select(["encoding", "bytes", "base"]).where("hash", "in", some)
      .where("encoding", "<>", "raw").execute();
    for (const row of rows) next.push(...partsOf(row).filter((hash) => !all.has(hash)));
  }
  return all;
}

interface Parted {
  readonly encoding: unknown;
  readonly bytes: unknown;
  readonly base: unknown;
}

function partsOf({ encoding, bytes, base }: Parted): readonly string[] {
  if (encoding === "delta") return [String(base)];
  const list = encoding === "chunks" && bytes instanceof Uint8Array
    ? jsonOrUndefined(new TextDecoder().decode(bytes))
    : undefined;
  return Array.isArray(list) ? list.map(String) : [];
}

export async function eraseOnServer(all: Database, { wanted }: Pick<ErasureWork, "wanted">): Promise<number> {
  return await all.write(async (tx) => {
    const hashes = [...wanted];
    // A deletion that notes one of these hashes again has deleted its rows, or waits for this lock.
    await tx.run("SELECT hash FROM erasure WHERE hash = ANY($1) ORDER BY hash FOR UPDATE", [hashes]);
    // A transaction that stores one of these contents again locks the content, so this statement waits for it.
    await tx.run("SELECT hash FROM content WHERE hash = ANY($1) ORDER BY hash FOR UPDATE", [hashes]);
    // A claim ends when a row refers to the text, so Vis reads the claims before the rows.
    const claimed = await withParts(tx, claimsOf(await tx.run(CLAIMS, [])));
    const texts = NESTED.map(([table, column]) =>
      `SELECT ${column} AS cell FROM ${snakeCase(table)} WHERE ${tx.dialect.mentionsContent(column)}`
    );
    const rows = await tx.run(
      `SELECT DISTINCT m.hash[1] AS hash FROM (${texts.join(" UNION ALL ")}) t,
         regexp_matches(t.cell, 'sha256:([0-9a-f]{64})', 'g') m (hash) WHERE m.hash[1] = ANY($1)`,
      [hashes],
    );
    const used = hashesOf(rows).union(claimed.intersection(wanted));
    const lists = await tx.run("SELECT hash, encoding, bytes, base FROM content WHERE encoding <> 'raw'", []);
    addParts(used, { wanted, lists });
    await tx.run("DELETE FROM content WHERE hash = ANY($1)", [[...wanted.difference(used)]]);
    const settled = [...wanted.difference(claimed)];
    await tx.run("DELETE FROM erasure WHERE hash = ANY($1)", [settled]);
    return settled.length;
  });
}

function addParts(
  used: Set<string>,
  { wanted, lists }: { readonly wanted: ReadonlySet<string>; readonly lists: Rows },
): void {
  for (let before = -1; before !== used.size;) {
    before = used.size;
    for (const { hash, encoding, bytes, base } of lists) {
      if (wanted.has(String(hash)) && !used.has(String(hash))) continue;
      for (const part of partsOf({ encoding, bytes, base })) if (wanted.has(part)) used.add(part);
    }
  }
}

/** With foreign keys, SQLite would search all content for each deleted row. */
export async function eraseInFile({ location, ...work }: ErasureWork): Promise<number> {
  using db = new DatabaseSync(location, { timeout: 50, enableForeignKeyConstraints: false });
  db.exec("PRAGMA secure_delete = ON");
  const settled = await erased(db, work);
  try {
    // The write-ahead log still has the erased pages.
    db.exec("PRAGMA wal_checkpoint(TRUNCATE)");
  } catch (error) {
    if (!isBusy(error)) throw error;
  }
  return settled;
}

async function erased(db: DatabaseSync, { wanted, busyMs }: Omit<ErasureWork, "location">): Promise<number> {
  const transactions = new Transactions(new SqliteConnection(db), { busyMs });
  for (let attempt = 0; attempt < TRIES; attempt++) {
    const scan = new Scan(db, wanted);
    await scan.read();
    const settled = await transactions.write(() => scan.erase());
    if (settled !== null) return settled;
  }
  return 0;
}

/** Vis may change these rows later. `?` is the id of a query that ran when the scan began. */
const CHANGING: Readonly<Record<string, string>> = {
  conversation_soul: "true",
  conversation_state: "true",
  query_soul: "id = (SELECT query_soul_id FROM query_state WHERE id = ?)",
  query_state: "id = ?",
  iteration: "query_state_id = ?",
  expression_state: "iteration_id IN (SELECT id FROM iteration WHERE query_state_id = ?)",
};

interface Scanned {
  readonly table: string;
  readonly columns: readonly string[];
  readonly nested: string | undefined;
  readonly last: { readonly rowid: number; readonly key: unknown } | null;
}

class Scan {
  readonly #db: DatabaseSync;
  readonly #wanted: ReadonlySet<string>;
  readonly #used = new Set<string>();
  readonly #tables: readonly Scanned[];
  readonly #running: readonly string[];
  readonly #conversations: readonly [last: number, count: number];

  constructor(db: DatabaseSync, wanted: ReadonlySet<string>) {
    this.#db = db;
    this.#wanted = wanted;
    db.exec("CREATE TEMP TABLE IF NOT EXISTS wanted (hash TEXT PRIMARY KEY) WITHOUT ROWID; DELETE FROM wanted");
    const insert = db.prepare("INSERT INTO wanted (hash) VALUES (?)");
    for (const hash of wanted) insert.run(hash);
    const { last } = db.prepare("SELECT coalesce(max(rowid), 0) AS last FROM conversation_soul").get() ?? {};
    this.#conversations = [Number(last), this.#conversationsUpTo(Number(last))];
    this.#running = db.prepare("SELECT id FROM query_state WHERE status = 'running'").all().map(({ id }) => String(id));
    this.#tables = [...REFERRING_TABLES.map(snakeCase), "content"].map((table) => {
      const info = db.prepare("SELECT name, type FROM pragma_table_info(?)").all(table);
      const columns = info.filter(({ type }) => type === "TEXT" || type === "BLOB").map(({ name }) => String(name));
      const [key = "rowid"] = columns;
      const last = db.prepare(`SELECT rowid, ${key} AS key FROM ${table} ORDER BY rowid DESC LIMIT 1`).get();
      return {
        table,
        columns,
        nested: NESTED.find(([name]) => snakeCase(name) === table)?.[1],
        last: last ? { rowid: Number(last.rowid), key: last.key } : null,
      };
    });
  }

  async read(): Promise<void> {
    for (const table of this.#tables) {
      const { last } = table;
      for (let from = 0; last && from < last.rowid; from += ROWS_AT_ONCE) {
        this.#readRows(table, { after: from, until: from + ROWS_AT_ONCE });
        await new Promise((go) => setTimeout(go));
      }
    }
  }

  /** Returns null if a row from the beginning of the scan is gone, because a new row may have its number. */
  erase(): number | null {
    const [newest, count] = this.#conversations;
    if (this.#conversationsUpTo(newest) !== count) return null;
    for (const table of this.#tables) {
      const { last } = table;
      const [key = "rowid"] = table.columns;
      const same = last === null ||
        this.#db.prepare(`SELECT ${key} AS key FROM ${table.table} WHERE rowid = ?`).get(last.rowid)?.key === last.key;
      if (!same) return null;
      this.#readRows(table, { after: last?.rowid ?? 0, until: Number.MAX_SAFE_INTEGER });
    }
    for (const scanned of this.#tables) {
      const where = CHANGING[scanned.table];
      if (where === "true") this.#readCells(scanned, { where, values: [] });
      else if (where) { for (const id of this.#running) this.#readCells(scanned, { where, values: [id] }); }
    }
    const claimed = this.#claimed();
    for (const hash of claimed) this.#use(hash);
    addParts(this.#used, { wanted: this.#wanted, lists: this.#lists() });
    const remove = this.#db.prepare("DELETE FROM content WHERE hash = ?");
    const settle = this.#db.prepare("DELETE FROM erasure WHERE hash = ?");
    for (const hash of this.#wanted.difference(this.#used)) remove.run(hash);
    // Content that a deletion noted during the scan may be the last user of these contents, so their entries stay.
    const isWhole =
      this.#db.prepare("SELECT 1 FROM erasure WHERE hash NOT IN (SELECT hash FROM wanted) LIMIT 1").get() ===
        undefined;
    const settled = this.#wanted.difference(isWhole ? claimed : this.#used);
    for (const hash of settled) settle.run(hash);
    return settled.size;
  }

  #conversationsUpTo(rowid: number): number {
    return Number(this.#db.prepare("SELECT count(*) AS n FROM conversation_soul WHERE rowid <= ?").get(rowid)?.n);
  }

  #readRows(scanned: Scanned, { after, until }: { readonly after: number; readonly until: number }): void {
    if (scanned.table === "content") return this.#readParts(after, until);
    this.#readCells(scanned, { where: "rowid > ? AND rowid <= ?", values: [after, until] });
  }

  #readCells(
    { table, columns, nested }: Scanned,
    { where, values }: { readonly where: string; readonly values: readonly (string | number)[] },
  ): void {
    const isWanted = (column: string) =>
      `(length(${column}) = 71 AND substr(${column}, 8) IN (SELECT hash FROM wanted))`;
    const rows = this.#db.prepare(
      `SELECT ${columns.join(", ")} FROM ${table} WHERE ${where} AND (${columns.map(isWanted).join(" OR ")})`,
    ).all(...values);
    for (const row of rows) for (const cell of Object.values(row)) this.#use(String(cell).slice(PREFIX.length));
    if (nested === undefined) return;
    const texts = this.#db.prepare(
      `SELECT ${nested} AS cell FROM ${table} WHERE ${where} AND length(${nested}) > 71 AND instr(${nested}, '${PREFIX}') > 0
       UNION ALL SELECT CAST(f.bytes AS TEXT) FROM ${table} JOIN content_full f ON f.hash = substr(${nested}, 8)
       WHERE ${where.replaceAll("rowid", `${table}.rowid`)} AND ${isReference(nested)}
         AND instr(f.bytes, CAST('${PREFIX}' AS BLOB)) > 0`,
    ).all(...values, ...values);
    for (const { cell } of texts) for (const [, hash = ""] of String(cell).matchAll(REFERENCE)) this.#use(hash);
  }

  #claimed(): ReadonlySet<string> {
    const all = claimsOf(this.#db.prepare(CLAIMS).all());
    const read = this.#db.prepare("SELECT encoding, bytes, base FROM content WHERE hash = ? AND encoding <> 'raw'");
    // The loop also reaches hashes that it adds to the set.
    for (const hash of all) {
      const row = read.get(hash);
      if (row) {
        for (const part of partsOf({ encoding: row.encoding, bytes: row.bytes, base: row.base })) all.add(part);
      }
    }
    return all;
  }

  #use(hash: string): void {
    if (this.#wanted.has(hash)) this.#used.add(hash);
  }

  #readParts(after: number, until: number): void {
    const rows = this.#db.prepare(
      `SELECT encoding, bytes, base FROM content WHERE rowid > ? AND rowid <= ? AND encoding <> 'raw'
       AND hash NOT IN (SELECT hash FROM wanted)`,
    ).all(after, until);
    for (const { encoding, bytes, base } of rows) {
      for (const part of partsOf({ encoding, bytes, base })) this.#use(part);
    }
  }

  #lists(): Rows {
    return this.#db.prepare(
      `SELECT c.hash, c.encoding, c.bytes, c.base FROM wanted w JOIN content c ON c.hash = w.hash WHERE c.encoding <> 'raw'`,
    ).all();
  }
}

export async function dropLarge(
  db: Database,
  { large, ...where }: { readonly large: string; readonly location: string; readonly busyMs: number },
): Promise<void> {
  await db.dialect.erasure.dropLarge(db, { hash: large.slice(PREFIX.length), ...where });
}

export async function dropLargeRows(db: Database, hash: string): Promise<void> {
  const row = await db.selectFrom("content").select("bytes").where("hash", "=", hash)
    .where("encoding", "=", "chunks").executeTakeFirst();
  await db.deleteFrom("content").where("hash", "in", [hash, ...listOf(row?.bytes)]).execute();
}

const PIECES = "SELECT bytes FROM content WHERE hash = ? AND encoding = 'chunks'";

export async function dropLargeInFile(
  hash: string,
  { location, busyMs }: { readonly location: string; readonly busyMs: number },
): Promise<void> {
  using beside = new DatabaseSync(location, { timeout: 50, enableForeignKeyConstraints: false });
  await new Transactions(new SqliteConnection(beside), { busyMs }).write(() => {
    const remove = beside.prepare("DELETE FROM content WHERE hash = ?");
    for (const one of [hash, ...listOf(beside.prepare(PIECES).get(hash)?.bytes)]) remove.run(one);
  });
}

function listOf(bytes: unknown): readonly string[] {
  const list = bytes instanceof Uint8Array ? jsonOrUndefined(new TextDecoder().decode(bytes)) : [];
  return Array.isArray(list) ? list.map(String) : [];
}
