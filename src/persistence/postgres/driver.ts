import type { CompiledQuery, DatabaseConnection, Driver, QueryResult } from "kysely";

export type RunQuery = (
  sql: string,
  parameters: readonly unknown[],
) => Promise<QueryResult<Record<string, unknown>>>;

/** Runs Kysely's queries with a function: in a transaction on its connection, else on any of the pool. */
export class PostgresDriver implements Driver {
  readonly #connection: DatabaseConnection;

  constructor(run: RunQuery) {
    this.#connection = {
      // Kysely's types, which name the columns, guarantee the shape of the rows.
      executeQuery: async <R>({ sql, parameters }: CompiledQuery) => await run(sql, parameters) as QueryResult<R>,
      streamQuery: () => {
        throw new Error("Cannot stream a query: every result is bounded here");
      },
    };
  }

  init(): Promise<void> {
    return Promise.resolve();
  }

  acquireConnection(): Promise<DatabaseConnection> {
    return Promise.resolve(this.#connection);
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

  releaseConnection(): Promise<void> {
    return Promise.resolve();
  }

  destroy(): Promise<void> {
    return Promise.resolve();
  }
}

function refused(): Promise<never> {
  return Promise.reject(new Error("Cannot begin a transaction of Kysely: the database has its own"));
}
