import { DatabaseSync } from "node:sqlite";
import { jsonOrUndefined } from "../../domain/text/json_or_undefined.ts";
import type { Database } from "../database/database.ts";
import { isBusy } from "../sqlite/error_kinds.ts";
import { SqliteConnection } from "../sqlite/connection.ts";
import { Transactions } from "../sqlite/transactions.ts";

const PREFIX = "sha256:";
const REFERENCE = /sha256:([0-9a-f]{64})/g;
/** Rows that are read before other work has its turn. */
const ROWS_AT_ONCE = 2_000;
const RETRY_MS = 60_000;
/** A large text is stored some time before the row that refers to it. */
const LARGE_MS = 10 * RETRY_MS;
const TRIES = 3;
/** How many contents of a transaction may be before or after one of them. */
const NEAR = 50;
const ORPHAN_BYTES = 1 << 20;

/** What a conversation that was deleted referred to. */
export interface Erasable {
  /** Stored in the same transactions as the rows that referred to it. */
  readonly hashes: ReadonlySet<string>;
  /** Large texts and their pieces. */
  readonly large: ReadonlySet<string>;
  /** What may be an earlier state of its rows. */
  readonly orphans: ReadonlySet<string>;
}

interface EraserOptions {
  /** The database with the rows of all tenants. */
  readonly db: Database;
  readonly location: string;
  readonly busyMs: number;
  readonly now: () => number;
}

/** Removes content that only deleted conversations used, in the background: nothing waits for it but the end of the
 * process. A process that is killed before leaves it to `vis db prune` and `vis db vacuum`. */
export class Eraser {
  readonly #options: EraserOptions;
  readonly #hashes = new Set<string>();
  /** What goes only while no query runs, with the time from which on it may go. */
  readonly #late = new Map<string, number>();
  #running: Promise<void> | null = null;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #ended = false;

  constructor(options: EraserOptions) {
    this.#options = options;
  }

  add({ hashes, large, orphans }: Erasable): void {
    for (const hash of hashes) this.#hashes.add(hash);
    for (const hash of large) this.#late.set(hash, this.#options.now() + LARGE_MS);
    for (const hash of orphans) if (!this.#late.has(hash)) this.#late.set(hash, this.#options.now());
    this.#begin();
  }

  /** Resolves when what can go has gone. */
  async end(): Promise<void> {
    this.#ended = true;
    clearTimeout(this.#timer);
    await this.#running;
    if (this.#hashes.size > 0) await this.#run().catch(() => {});
  }

  #begin(): void {
    clearTimeout(this.#timer);
    this.#running ??= this.#run().catch(() => {}).finally(() => {
      this.#running = null;
      if (this.#ended || this.#hashes.size + this.#late.size === 0) return;
      this.#timer = setTimeout(() => this.#begin(), RETRY_MS);
      Deno.unrefTimer(this.#timer);
    });
  }

  async #run(): Promise<void> {
    const { db, location, busyMs, now } = this.#options;
    for (;;) {
      const due = new Map([...this.#late].filter(([, from]) => from <= now()));
      const hashes = new Set(this.#hashes);
      const wanted = new Set([...hashes, ...due.keys()]);
      if (wanted.size === 0) return;
      // Conversations that are deleted meanwhile may add the same ones again.
      this.#hashes.clear();
      for (const hash of due.keys()) this.#late.delete(hash);
      const work = { wanted, late: new Set(due.keys()) };
      const done = new Set<string>();
      try {
        const found = db.kind === "postgres"
          ? await eraseOnServer(db, work)
          : await eraseInFile(location, { ...work, busyMs });
        for (const hash of found) done.add(hash);
      } finally {
        for (const hash of hashes) if (!done.has(hash)) this.#hashes.add(hash);
        for (const [hash, from] of due) if (!done.has(hash)) this.#late.set(hash, from);
      }
      if (done.size === 0) return;
    }
  }
}

interface Work {
  readonly wanted: ReadonlySet<string>;
  /** Of these, what stays while any query runs. */
  readonly late: ReadonlySet<string>;
}

const BRANCHES = "SELECT id FROM conversation_state WHERE conversation_soul_id = ?";
const QUERIES = `SELECT id FROM query_soul WHERE conversation_state_id IN (${BRANCHES})`;
const RUNS = `SELECT id FROM query_state WHERE query_soul_id IN (${QUERIES})`;
const ITERATIONS = `SELECT id FROM iteration WHERE query_state_id IN (${RUNS})`;
const SOULS = `SELECT id FROM expression_soul WHERE conversation_state_id IN (${BRANCHES})`;

/** The rows of a conversation, by table, where a row can refer to content. */
const ROWS: Readonly<Record<string, string>> = {
  conversation_soul: "id = ?",
  conversation_state: "conversation_soul_id = ?",
  query_soul: `conversation_state_id IN (${BRANCHES})`,
  query_state: `query_soul_id IN (${QUERIES})`,
  iteration: `query_state_id IN (${RUNS})`,
  expression_soul: `conversation_state_id IN (${BRANCHES})`,
  expression_state: `expression_soul_id IN (${SOULS})`,
  expression_dependency: `conversation_state_id IN (${BRANCHES})`,
  sub_call: `iteration_id IN (${ITERATIONS})`,
  extension_state: `conversation_state_id IN (${BRANCHES})`,
  log: `conversation_soul_id = ? OR conversation_state_id IN (${BRANCHES}) OR query_state_id IN (${RUNS})`,
};

/** JSON that names content within its text: images, large texts, bytes that extensions store. */
const NESTED: readonly (readonly [table: string, column: string, large: boolean])[] = [
  ["query_soul", "metadata", false],
  ["expression_state", "metadata", true],
  ["extension_state", "value", true],
];

/** What the rows of a conversation refer to. Run it in the transaction that deletes them. */
export async function erasableOf(db: Database, conversationId: string): Promise<Erasable> {
  const direct = new Set<string>(), large = new Set<string>();
  const read = async (sql: string): Promise<readonly string[]> => {
    const text = db.kind === "postgres" ? sql.replaceAll("?", "$1") : sql;
    const parameters = Array.from(
      { length: db.kind === "postgres" ? 1 : text.split("?").length - 1 },
      () => conversationId,
    );
    return (await db.run(text, parameters)).map(({ cell }) => String(cell));
  };
  if (db.verifies) {
    for (const [table, of] of Object.entries(ROWS)) {
      for (const column of await columnsOf(db, table)) {
        const cells = await read(
          `SELECT DISTINCT ${column} AS cell FROM ${table} WHERE ${isReference(column)} AND (${of})`,
        );
        for (const cell of cells) direct.add(cell.slice(PREFIX.length));
      }
    }
  }
  for (const [table, column, isLarge] of NESTED) {
    const texts = await read(`SELECT ${column} AS cell FROM ${table} WHERE ${has(db, column)} AND (${ROWS[table]})`);
    const inContent = db.verifies
      ? await read(
        `SELECT CAST(f.bytes AS TEXT) AS cell FROM ${table} JOIN content_full f ON f.hash = substr(${column}, 8)
         WHERE ${isReference(column)} AND instr(f.bytes, CAST('sha256:' AS BLOB)) > 0 AND (${ROWS[table]})`,
      )
      : [];
    for (const text of [...texts, ...inContent]) {
      for (const [, hash = ""] of text.matchAll(REFERENCE)) (isLarge ? large : direct).add(hash);
    }
  }
  const late = await withParts(db, large);
  return {
    hashes: new Set([...await withParts(db, direct)].filter((hash) => !late.has(hash))),
    large: late,
    orphans: new Set(db.verifies ? await orphansOf(db, conversationId) : []),
  };
}

/** Metadata of an iteration or a run is replaced when it ends, and what it was before stays as content that no row names:
 * JSON of those runs, in the order in which content was stored. */
async function orphansOf(db: Database, conversationId: string): Promise<readonly string[]> {
  const of = `iteration.query_state_id IN (${RUNS})`;
  const cells = ["llm_user_prompt", "llm_response", "metadata"].map((column) =>
    `SELECT iteration.query_state_id AS run, c.rowid AS place FROM iteration
     JOIN content c ON c.hash = substr(iteration.${column}, 8) WHERE ${of} AND length(iteration.${column}) = 71`
  );
  const rows = await db.run(
    `WITH places AS (${cells.join(" UNION ALL ")} UNION ALL SELECT query_state.id, c.rowid FROM query_state
       JOIN content c ON c.hash = substr(query_state.metadata, 8)
       WHERE query_state.id IN (${RUNS}) AND length(query_state.metadata) = 71
     ), ranges AS (SELECT min(place) - ${NEAR} AS first, max(place) + ${NEAR} AS last FROM places GROUP BY run)
     SELECT DISTINCT c.hash FROM ranges JOIN content c ON c.rowid BETWEEN first AND last
     WHERE c.encoding = 'raw' AND length(c.bytes) <= ${ORPHAN_BYTES} AND substr(c.bytes, 1, 1) = x'7b'`,
    Array.from({ length: 4 }, () => conversationId),
  );
  return rows.map(({ hash }) => String(hash));
}

async function columnsOf(db: Database, table: string): Promise<readonly string[]> {
  const rows = await db.run("SELECT name FROM pragma_table_info(?) WHERE type IN ('TEXT', 'BLOB')", [table]);
  return rows.map(({ name }) => String(name));
}

/** Whether a cell of SQLite is a reference, in SQL. */
function isReference(column: string): string {
  return `length(${column}) = 71 AND typeof(${column}) = 'text' AND substr(${column}, 1, 7) = '${PREFIX}'`;
}

/** Whether a text has a reference, in SQL. */
function has(db: Database, column: string): string {
  return db.verifies
    ? `length(${column}) > 71 AND instr(${column}, '${PREFIX}') > 0`
    : `strpos(${column}, '${PREFIX}') > 0`;
}

/** With the pieces of lists and the bases of differences. */
async function withParts(db: Database, hashes: ReadonlySet<string>): Promise<ReadonlySet<string>> {
  const all = new Set<string>();
  const next = [...hashes];
  while (next.length > 0) {
    const some = next.splice(0, 200);
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

/** Removes content of PostgreSQL that no row refers to. Returns the hashes that are settled. */
async function eraseOnServer(all: Database, { wanted, late }: Work): Promise<readonly string[]> {
  return await all.write(async (tx) => {
    const [running] = await tx.run("SELECT 1 FROM query_state WHERE status = 'running' LIMIT 1", []);
    const hashes = [...wanted].filter((hash) => !running || !late.has(hash));
    // Who stores one of them again has it locked; the next statement sees the rows of that transaction.
    await tx.run("SELECT hash FROM content WHERE hash = ANY($1) ORDER BY hash FOR UPDATE", [hashes]);
    const texts = NESTED.map(([table, column]) => `SELECT ${column} AS cell FROM ${table} WHERE ${has(tx, column)}`);
    const rows = await tx.run(
      `SELECT DISTINCT m.hash[1] AS hash FROM (${texts.join(" UNION ALL ")}) t,
         regexp_matches(t.cell, 'sha256:([0-9a-f]{64})', 'g') m (hash) WHERE m.hash[1] = ANY($1)`,
      [hashes],
    );
    const used = new Set(rows.map(({ hash }) => String(hash)));
    const lists = await tx.run("SELECT hash, encoding, bytes, base FROM content WHERE encoding <> 'raw'", []);
    addParts(used, { wanted, lists });
    await tx.run("DELETE FROM content WHERE hash = ANY($1)", [hashes.filter((hash) => !used.has(hash))]);
    return hashes;
  });
}

type Lists = readonly Readonly<Record<string, unknown>>[];

/** Adds what a list or a difference consists of that stays. */
function addParts(
  used: Set<string>,
  { wanted, lists }: { readonly wanted: ReadonlySet<string>; readonly lists: Lists },
): void {
  for (let before = -1; before !== used.size;) {
    before = used.size;
    for (const { hash, encoding, bytes, base } of lists) {
      if (wanted.has(String(hash)) && !used.has(String(hash))) continue;
      for (const part of partsOf({ encoding, bytes, base })) if (wanted.has(part)) used.add(part);
    }
  }
}

/** The same in a file, on a connection without foreign keys: for each deleted row, SQLite would look through all content
 * for a difference to it. */
async function eraseInFile(location: string, work: Work & { readonly busyMs: number }): Promise<readonly string[]> {
  if (location === ":memory:") return [...work.wanted];
  using db = new DatabaseSync(location, { timeout: 50, enableForeignKeyConstraints: false });
  db.exec("PRAGMA secure_delete = ON");
  const found = await erased(db, work);
  try {
    // The log still has the pages as they were.
    db.exec("PRAGMA wal_checkpoint(TRUNCATE)");
  } catch (error) {
    if (!isBusy(error)) throw error;
  }
  return found;
}

async function erased(db: DatabaseSync, work: Work & { readonly busyMs: number }): Promise<readonly string[]> {
  const transactions = new Transactions(new SqliteConnection(db), work);
  for (let attempt = 0; attempt < TRIES; attempt++) {
    const scan = new Scan(db, work.wanted);
    await scan.read();
    const done = await transactions.write(() => scan.erase(work.late));
    if (done) return done;
  }
  return [];
}

interface Scanned {
  readonly table: string;
  readonly columns: readonly string[];
  readonly nested: string | undefined;
  /** The newest row when the scan began; new ones follow it. */
  readonly last: { readonly rowid: number; readonly key: unknown } | null;
}

/** Looks for what rows refer to. They are read without a lock, a few at a time; a short transaction then reads what was
 * stored since: rows are only added, and only those of running queries change. */
class Scan {
  readonly #db: DatabaseSync;
  readonly #wanted: ReadonlySet<string>;
  readonly #used = new Set<string>();
  readonly #tables: readonly Scanned[];
  readonly #running: readonly string[];

  constructor(db: DatabaseSync, wanted: ReadonlySet<string>) {
    this.#db = db;
    this.#wanted = wanted;
    db.exec("CREATE TEMP TABLE IF NOT EXISTS wanted (hash TEXT PRIMARY KEY) WITHOUT ROWID; DELETE FROM wanted");
    const insert = db.prepare("INSERT INTO wanted (hash) VALUES (?)");
    for (const hash of wanted) insert.run(hash);
    this.#running = db.prepare("SELECT id FROM query_state WHERE status = 'running'").all().map(({ id }) => String(id));
    this.#tables = [...Object.keys(ROWS), "content"].map((table) => {
      const info = db.prepare("SELECT name, type FROM pragma_table_info(?)").all(table);
      const columns = info.filter(({ type }) => type === "TEXT" || type === "BLOB").map(({ name }) => String(name));
      const [key = "rowid"] = columns;
      const last = db.prepare(`SELECT rowid, ${key} AS key FROM ${table} ORDER BY rowid DESC LIMIT 1`).get();
      return {
        table,
        columns,
        nested: NESTED.find(([name]) => name === table)?.[1],
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

  /** Null if a row that the scan began with is gone: its number may be that of a new row. */
  erase(late: ReadonlySet<string>): readonly string[] | null {
    for (const table of this.#tables) {
      const { last } = table;
      const [key = "rowid"] = table.columns;
      const same = last === null ||
        this.#db.prepare(`SELECT ${key} AS key FROM ${table.table} WHERE rowid = ?`).get(last.rowid)?.key === last.key;
      if (!same) return null;
      this.#readRows(table, { after: last?.rowid ?? 0, until: Number.MAX_SAFE_INTEGER });
    }
    for (const id of this.#running) {
      for (const [table, where] of [["query_state", "id = ?"], ["iteration", "query_state_id = ?"]] as const) {
        const scanned = this.#tables.find((one) => one.table === table);
        if (scanned) this.#readCells(scanned, { where, values: [id] });
      }
    }
    const isBusyWithQueries =
      this.#db.prepare("SELECT 1 FROM query_state WHERE status = 'running' LIMIT 1").get() !== undefined;
    const settled = [...this.#wanted].filter((hash) => !isBusyWithQueries || !late.has(hash));
    for (const hash of this.#wanted) if (isBusyWithQueries && late.has(hash)) this.#used.add(hash);
    addParts(this.#used, { wanted: this.#wanted, lists: this.#lists() });
    const remove = this.#db.prepare("DELETE FROM content WHERE hash = ?");
    for (const hash of settled) if (!this.#used.has(hash)) remove.run(hash);
    return settled;
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

  #use(hash: string): void {
    if (this.#wanted.has(hash)) this.#used.add(hash);
  }

  /** What other lists and differences consist of. */
  #readParts(after: number, until: number): void {
    const rows = this.#db.prepare(
      `SELECT encoding, bytes, base FROM content WHERE rowid > ? AND rowid <= ? AND encoding <> 'raw'
       AND hash NOT IN (SELECT hash FROM wanted)`,
    ).all(after, until);
    for (const { encoding, bytes, base } of rows) {
      for (const part of partsOf({ encoding, bytes, base })) this.#use(part);
    }
  }

  #lists(): Lists {
    return this.#db.prepare(
      `SELECT c.hash, c.encoding, c.bytes, c.base FROM wanted w JOIN content c ON c.hash = w.hash WHERE c.encoding <> 'raw'`,
    ).all();
  }
}
