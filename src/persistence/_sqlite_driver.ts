import type { DatabaseConnection, Driver, TransactionSettings } from "kysely";
import { setTimeout as sleep } from "node:timers/promises";
import type { SqliteConnection } from "./_sqlite_connection.ts";
import { isBusy } from "./_is_busy.ts";

/** One connection, handed out to one user at a time (Kysely keeps the queue). A writer takes the database's write lock
 * when it begins and waits for it without blocking the process. */
export class SqliteDriver implements Driver {
  readonly #connection: SqliteConnection;
  readonly #busyMs: number;

  constructor(connection: SqliteConnection, options: { readonly busyMs: number }) {
    this.#connection = connection;
    this.#busyMs = options.busyMs;
  }

  init(): Promise<void> {
    return Promise.resolve();
  }

  acquireConnection(): Promise<DatabaseConnection> {
    return Promise.resolve(this.#connection);
  }

  async beginTransaction(_connection: DatabaseConnection, settings: TransactionSettings): Promise<void> {
    if (settings.accessMode === "read only") return this.#connection.command("begin");
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

  commitTransaction(): Promise<void> {
    return settled(() => this.#connection.command("commit"));
  }

  /** A full disk ends the transaction by itself; then there is nothing to roll back. */
  rollbackTransaction(): Promise<void> {
    return settled(() => {
      if (this.#connection.inTransaction) this.#connection.command("rollback");
    });
  }

  releaseConnection(): Promise<void> {
    return Promise.resolve();
  }

  destroy(): Promise<void> {
    return settled(() => this.#connection.close());
  }
}

function settled(act: () => void): Promise<void> {
  return new Promise((resolve) => resolve(act()));
}
