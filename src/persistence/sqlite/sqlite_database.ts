import {
  type Dialect,
  type Driver,
  type LimitNode,
  type QueryResult,
  type RawBuilder,
  sql,
  type SqlBool,
  SqliteAdapter,
  SqliteIntrospector,
  SqliteQueryCompiler,
  ValueNode,
} from "kysely";
import { DatabaseSync, type SQLInputValue, type SQLOutputValue, type StatementSync } from "node:sqlite";
import { setTimeout as sleep } from "node:timers/promises";
import { BoundedMap } from "../../domain/kit/bounded_map.ts";
import { Semaphore } from "../../domain/kit/concurrency.ts";
import { Database, OwnDriver, type ResultRow, type RowChange } from "../database.ts";
import { columnName, snakeCase } from "../tables.ts";
import { breaksRule, isBusy } from "./store_error.ts";

interface SqliteDatabaseOptions {
  /** Null for the database within a transaction, whose owner already holds the connection. */
  readonly transactions: Transactions | null;
  readonly tenant: string | null;
}

/** The database, or the current transaction on its one connection. */
export class SqliteDatabase extends Database {
  override readonly kind = "sqlite";
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

  /** There is one writer at a time. */
  override lock(): Promise<void> {
    return Promise.resolve();
  }

  override async deferReferences(): Promise<void> {
    await sql`PRAGMA defer_foreign_keys = ON`.execute(this);
  }

  override breaksRule(error: unknown): error is Error {
    return breaksRule(error);
  }

  override wholeText(cell: string): RawBuilder<string | null> {
    const from = sql.raw(cell);
    return sql<string | null>`CASE WHEN ${from} GLOB 'sha256:*'
      THEN (SELECT CAST(f.bytes AS TEXT) FROM content_full f WHERE f.hash = substr(${from}, 8)) ELSE ${from} END`;
  }

  override jsonText(cell: string, key: string): RawBuilder<string | null> {
    return sql<string | null>`json_extract(${this.wholeText(cell)}, ${`$.${key}`})`;
  }

  override isListed(column: string, json: string): RawBuilder<SqlBool> {
    return sql<SqlBool>`${sql.ref(column)} IN (SELECT value FROM json_each(${json}))`;
  }

  get #outer(): Transactions {
    if (!this.#transactions) throw new Error("Cannot begin a transaction: this is one");
    return this.#transactions;
  }
}

interface TransactionsOptions {
  /** How long a writer waits for the database lock while another process holds it. */
  readonly busyMs: number;
  /** Called when each write has begun; nothing is written if it throws. */
  readonly begun?: () => void;
  /** Called after each commit; its writer receives what it throws. */
  readonly committed?: () => void;
}

/** The transactions on one connection, one after the other. */
export class Transactions {
  readonly #connection: SqliteConnection;
  readonly #busyMs: number;
  readonly #begun: () => void;
  readonly #committed: () => void;
  readonly #turns = new Semaphore();

  constructor(connection: SqliteConnection, { busyMs, begun = () => {}, committed = () => {} }: TransactionsOptions) {
    this.#connection = connection;
    this.#busyMs = busyMs;
    this.#begun = begun;
    this.#committed = committed;
  }

  write<T>(work: () => T | Promise<T>): Promise<T> {
    return this.#turns.run(async () => {
      await this.#begin();
      try {
        this.#begun();
        const result = await work();
        this.#connection.command("commit");
        this.#committed();
        return result;
      } catch (error) {
        this.#rollback();
        throw error;
      }
    });
  }

  read<T>(work: () => Promise<T>): Promise<T> {
    return this.#turns.run(async () => {
      this.#connection.command("begin");
      try {
        return await work();
      } finally {
        this.#rollback();
      }
    });
  }

  /** Runs a statement that is its own transaction. */
  statement<T>(run: () => T): T | Promise<T> {
    return this.#turns.open === 0 ? run() : this.#turns.run(() => Promise.resolve(run()));
  }

  /** Takes the connection for statements that are their own transactions. `pass` gives it back. */
  take(): Promise<void> {
    return this.#turns.acquire();
  }

  pass(): void {
    this.#turns.release();
  }

  /** Resolves when everything that was begun is stored. */
  async end(): Promise<void> {
    await this.take();
    this.pass();
  }

  async #begin(): Promise<void> {
    const start = performance.now();
    for (let pause = 2;; pause = Math.min(pause * 2, 50)) {
      try {
        return this.#connection.command("begin immediate");
      } catch (error) {
        if (!isBusy(error) || performance.now() - start + pause > this.#busyMs) throw error;
      }
      await sleep(pause);
    }
  }

  /** A full disk makes SQLite end the transaction itself. */
  #rollback(): void {
    if (this.#connection.inTransaction) this.#connection.command("rollback");
  }
}

interface Prepared {
  readonly statement: StatementSync;
  /** Column names as SQLite returns them and in camel case; empty for a statement that returns no rows. */
  readonly columns: readonly (readonly [string, string])[];
}

const MAX_PREPARED = 300;

/** Runs queries on one `node:sqlite` database. Each SQL text is prepared once and its statement kept. */
export class SqliteConnection {
  readonly #db: DatabaseSync;
  readonly #prepared = new BoundedMap<string, Prepared>(MAX_PREPARED);

  constructor(db: DatabaseSync) {
    this.#db = db;
  }

  get inTransaction(): boolean {
    return this.#db.isTransaction;
  }

  /** Returns rows with column names in camel case. */
  query(sql: string, parameters: readonly unknown[]): QueryResult<Record<string, unknown>> {
    const { statement, columns } = this.#prepare(sql);
    const values = parameters.map(bindable);
    if (columns.length === 0) return { rows: [], numAffectedRows: BigInt(statement.run(...values).changes) };
    return { rows: statement.all(...values).map((cells) => rowOf(columns, cells)) };
  }

  /** Another connection to the same file, which only reads; null for a database in memory. */
  beside(): SqliteConnection | null {
    const path = this.#db.location();
    return path ? new SqliteConnection(new DatabaseSync(path, { readOnly: true })) : null;
  }

  /** For statements without parameters and rows, such as `begin`. */
  command(sql: string): void {
    this.#prepare(sql).statement.run();
  }

  close(): void {
    this.#prepared.clear();
    if (this.#db.isOpen) this.#db.close();
  }

  #prepare(sql: string): Prepared {
    const known = this.#prepared.get(sql);
    if (known) return known;
    const statement = this.#db.prepare(sql);
    const columns = statement.columns().map(({ name }) => [name, columnName(name)] as const);
    const prepared = { statement, columns };
    this.#prepared.set(sql, prepared);
    return prepared;
  }
}

function rowOf(columns: Prepared["columns"], cells: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const row: Record<string, unknown> = {};
  for (const [from, to] of columns) row[to] = cells[from];
  return row;
}

/** `node:sqlite` silently binds a Date as NULL, so anything unusual is refused here. */
function bindable(value: unknown): SQLInputValue {
  if (value === null || typeof value === "number" || typeof value === "string" || typeof value === "bigint") {
    return value;
  }
  if (value instanceof Uint8Array) return value;
  throw new TypeError(`Cannot bind a value to a query: ${value instanceof Date ? "Date" : typeof value}`);
}

/** Kysely's SQLite dialect on our own driver. Queries use camel case for tables and columns, the database snake
 * case. */
function sqliteDialect(driver: Driver): Dialect {
  return {
    createDriver: () => driver,
    createQueryCompiler: () => new SnakeCaseCompiler(),
    createAdapter: () => new OwnAdapter(),
    createIntrospector: (db) => new SqliteIntrospector(db),
  };
}

/** The driver itself queues access to the one connection. */
class OwnAdapter extends SqliteAdapter {
  override get supportsMultipleConnections(): boolean {
    return true;
  }
}

class SnakeCaseCompiler extends SqliteQueryCompiler {
  /** A row needs no lock: there is one writer at a time. */
  protected override visitSelectModifier(): void {}

  /** Writes the number into the text. SQLite would compile the statement again each time that a limit is bound. */
  protected override visitLimit({ limit }: LimitNode): void {
    this.append("limit ");
    const isNumber = ValueNode.is(limit) && typeof limit.value === "number";
    this.visitNode(isNumber ? ValueNode.createImmediate(limit.value) : limit);
  }

  protected override sanitizeIdentifier(identifier: string): string {
    return snakeCase(super.sanitizeIdentifier(identifier));
  }
}

/** By what they do, table and columns. */
const TEXTS = new Map<string, string>();

/** Inserts a row with these columns. */
function insertText(table: string, columns: readonly string[]): string {
  return known(`insert ${table} ${columns.join(" ")}`, () => {
    const places = columns.map(() => "?").join(", ");
    return `INSERT INTO ${snakeCase(table)} (${columns.map(snakeCase).join(", ")}) VALUES (${places})`;
  });
}

/** Changes these columns of a row, given their values and its id. */
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

/** The rows of a table in the order of their `rowid`, which each has as `place`. One is in memory at a time. It throws
 * where a page cannot be read: `StatementSync.iterate()` would end there as after the last row. */
export function* tableRows(
  db: DatabaseSync,
  { table, columns, where = "true" }: {
    readonly table: string;
    /** Terms of SQL. */
    readonly columns: string;
    readonly where?: string;
  },
): Generator<TableRow> {
  const next = db.prepare(
    `SELECT rowid AS place, ${columns} FROM "${table}" WHERE rowid > ? AND ${where} ORDER BY rowid LIMIT 1`,
  );
  next.setReadBigInts(true);
  let place: SQLOutputValue = -(2n ** 63n);
  for (;;) {
    const row: TableRow | undefined = next.get(place);
    if (row === undefined) return;
    yield row;
    place = row.place ?? null;
  }
}
