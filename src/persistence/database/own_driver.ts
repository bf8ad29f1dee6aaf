import type { CompiledQuery, DatabaseConnection, Driver, QueryResult } from "kysely";

type Result = QueryResult<Record<string, unknown>>;
type RunQuery = (sql: string, parameters: readonly unknown[]) => Result | Promise<Result>;

/** Who may use the one connection of a database. */
interface Turns {
  take(): Promise<void>;
  pass(): void;
}

/** Runs Kysely's queries with a function. */
export class OwnDriver implements Driver {
  readonly #connection: DatabaseConnection;
  readonly #turns: Turns | null;

  /** Without `turns`, the caller already holds a connection, or the function takes one. */
  constructor(run: RunQuery, turns: Turns | null = null) {
    this.#connection = {
      // Kysely's types, which name the columns, guarantee the shape of the rows.
      executeQuery: async <R>({ sql, parameters }: CompiledQuery) => await run(sql, parameters) as QueryResult<R>,
      streamQuery: () => {
        throw new Error("Cannot stream a query: every result is bounded here");
      },
    };
    this.#turns = turns;
  }

  init(): Promise<void> {
    return Promise.resolve();
  }

  async acquireConnection(): Promise<DatabaseConnection> {
    await this.#turns?.take();
    return this.#connection;
  }

  releaseConnection(): Promise<void> {
    this.#turns?.pass();
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

function refused(): Promise<never> {
  return Promise.reject(new Error("Cannot begin a transaction of Kysely: the database has its own"));
}
