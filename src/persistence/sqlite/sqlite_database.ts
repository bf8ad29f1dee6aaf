import { type RawBuilder, sql, type SqlBool } from "kysely";
import { Database, type ResultRow, type RowChange } from "../database/database.ts";
import { OwnDriver } from "../database/own_driver.ts";
import { breaksRule } from "./error_kinds.ts";
import { sqliteDialect } from "./dialect.ts";
import type { SqliteConnection } from "./connection.ts";
import { insertText, updateText } from "./row_texts.ts";
import { Transactions } from "./transactions.ts";

export interface SqliteDatabaseOptions {
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
