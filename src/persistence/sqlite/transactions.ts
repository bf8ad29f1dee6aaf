import { setTimeout as sleep } from "node:timers/promises";
import { Semaphore } from "../../domain/kit/concurrency.ts";
import type { SqliteConnection } from "./connection.ts";
import { isBusy } from "./error_kinds.ts";

export interface TransactionsOptions {
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
