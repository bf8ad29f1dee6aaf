import type { CompiledQuery, DatabaseConnection, Driver, QueryResult } from "kysely";
import type { SqliteConnection } from "./connection.ts";
import type { Transactions } from "./transactions.ts";

/** Runs Kysely's queries on one connection, which is handed out to one user at a time. */
export class SqliteDriver implements Driver {
  readonly #connection: DatabaseConnection;
  readonly #transactions: Transactions | null;

  /** Without `transactions`, the caller already holds the connection. */
  constructor(connection: SqliteConnection, transactions: Transactions | null) {
    this.#connection = transactions ? new Between(connection, transactions) : connection;
    this.#transactions = transactions;
  }

  init(): Promise<void> {
    return Promise.resolve();
  }

  async acquireConnection(): Promise<DatabaseConnection> {
    await this.#transactions?.take();
    return this.#connection;
  }

  releaseConnection(): Promise<void> {
    this.#transactions?.pass();
    return Promise.resolve();
  }

  beginTransaction(): Promise<void> {
    return refused();
  }

  commitTransaction(): Promise<void> {
    return refused();
  }

  rollbackTransaction(): Promise<void> {
    return refused();
  }

  destroy(): Promise<void> {
    return Promise.resolve();
  }
}

/** The connection between transactions: each statement is its own transaction. */
class Between implements DatabaseConnection {
  readonly #connection: SqliteConnection;
  readonly #transactions: Transactions;

  constructor(connection: SqliteConnection, transactions: Transactions) {
    this.#connection = connection;
    this.#transactions = transactions;
  }

  async executeQuery<R>(query: CompiledQuery): Promise<QueryResult<R>> {
    this.#transactions.before(query.sql);
    return await this.#connection.executeQuery<R>(query);
  }

  streamQuery<R>(): AsyncIterableIterator<QueryResult<R>> {
    return this.#connection.streamQuery<R>();
  }
}

function refused(): Promise<never> {
  return Promise.reject(new Error("Cannot begin a transaction of Kysely: the database has its own"));
}
