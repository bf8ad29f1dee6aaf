import { Kysely } from "kysely";
import type { DatabaseSchema } from "../schema/schema.ts";
import { SqliteDialect } from "./dialect.ts";
import { SqliteDriver } from "./driver.ts";
import type { SqliteConnection } from "./connection.ts";
import { Transactions, type TransactionsOptions } from "./transactions.ts";

type Row = Readonly<Record<string, unknown>>;

/** What Kysely builds queries on: the database, or the current transaction on its one connection. */
export class Database extends Kysely<DatabaseSchema> {
  readonly #connection: SqliteConnection;
  /** Null if this belongs to a transaction, whose owner already holds the connection. */
  readonly #transactions: Transactions | null;
  readonly #within: Database;

  constructor(connection: SqliteConnection, transactions: TransactionsOptions | null) {
    const shared = transactions && new Transactions(connection, transactions);
    super({ dialect: new SqliteDialect(new SqliteDriver(connection, shared)) });
    this.#connection = connection;
    this.#transactions = shared;
    this.#within = shared ? new Database(connection, null) : this;
  }

  /** Runs SQL that a Kysely builder has compiled and returns its rows. */
  run(sql: string, parameters: readonly unknown[]): readonly Row[] | Promise<readonly Row[]> {
    const transactions = this.#transactions;
    if (!transactions) return this.#connection.query(sql, parameters).rows;
    return transactions.statement(sql, () => this.#connection.query(sql, parameters).rows);
  }

  /** Runs a transaction that writes: all of `work` is stored when this resolves, nothing of it when it rejects. */
  write<T>(work: (tx: Database) => Promise<T>): Promise<T> {
    return this.#outer.write(() => work(this.#within));
  }

  /** The same, but without other writers' work in the same transaction: for work that changes how the database checks
   * rows. */
  writeAlone<T>(work: (tx: Database) => Promise<T>): Promise<T> {
    return this.#outer.writeAlone(() => work(this.#within));
  }

  /** Runs reads on one snapshot. */
  read<T>(work: (tx: Database) => Promise<T>): Promise<T> {
    return this.#outer.read(() => work(this.#within));
  }

  /** Stores pending writes and closes the connection. */
  async close(): Promise<void> {
    await this.#outer.end();
    await this.destroy();
    this.#connection.close();
  }

  get #outer(): Transactions {
    if (!this.#transactions) throw new Error("Cannot begin a transaction: this is one");
    return this.#transactions;
  }
}
