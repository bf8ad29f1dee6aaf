import {
  type Dialect,
  type Driver,
  type LimitNode,
  SqliteAdapter,
  SqliteIntrospector,
  SqliteQueryCompiler,
  ValueNode,
} from "kysely";
import type { SQLOutputValue } from "node:sqlite";
import { Database, OwnDriver, type ResultRow, type RowChange } from "../database.ts";
import { snakeCase } from "../tables.ts";
import { type SqliteConnection, Transactions } from "./connection.ts";
import { SQLITE } from "./sqlite_dialect.ts";

interface SqliteDatabaseOptions {
  /** Null for the database within a transaction, whose owner already holds the connection. */
  readonly transactions: Transactions | null;
  readonly tenant: string | null;
}

/** The database, or the current transaction on its one connection. */
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

  /** There is one writer at a time. */
  override lock(): Promise<void> {
    return Promise.resolve();
  }

  get #outer(): Transactions {
    if (!this.#transactions) throw new Error("Cannot begin a transaction: this is one");
    return this.#transactions;
  }
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
