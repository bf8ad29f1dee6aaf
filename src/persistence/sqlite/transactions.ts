import { Semaphore } from "../../domain/kit/semaphore.ts";
import { setImmediate, setTimeout } from "node:timers";
import { setTimeout as sleep } from "node:timers/promises";
import { StoreError } from "../../domain/errors.ts";
import { isBusy } from "./error_kinds.ts";
import type { SqliteConnection } from "./connection.ts";

export interface TransactionsOptions {
  /** How long a writer waits for the database lock while another process holds it. */
  readonly busyMs: number;
  /** Called after each commit; its writers receive what it throws. */
  readonly committed?: () => void;
}

/** Writers whose work is committed together: each is notified once all of it is stored. */
interface Group {
  writers: number;
  readonly stored: PromiseWithResolvers<void>;
}

/** How long a group stays open if the previous one had more than one writer: with many concurrent conversations, each
 * commit then serves several. */
const GATHERING_MS = 6;
const READS = /^\s*(select|with)\b/i;

/** The transactions on one connection. Those that write within one turn of the event loop share a commit, which takes
 * longer than all their statements. Each has a savepoint, so that a failure in one undoes that one only. If the whole
 * group fails, each is run once more separately, so its work must not depend on what it did before. A reader in between
 * sees what is about to be stored. */
export class Transactions {
  readonly #connection: SqliteConnection;
  readonly #busyMs: number;
  readonly #committed: () => void;
  readonly #turns = new Semaphore();
  #group: Group | null = null;
  /** Whether the last group had more than one writer. */
  #crowded = false;

  constructor(connection: SqliteConnection, { busyMs, committed = () => {} }: TransactionsOptions) {
    this.#connection = connection;
    this.#busyMs = busyMs;
    this.#committed = committed;
  }

  async write<T>(work: () => Promise<T>): Promise<T> {
    await this.#turns.acquire();
    let group: Group;
    let result: T;
    try {
      group = this.#group ?? await this.#open();
      result = await this.#member(group, work);
    } finally {
      this.#turns.release();
    }
    try {
      await group.stored.promise;
      return result;
    } catch (error) {
      if (group.writers === 1 || isMoved(error)) throw error;
    }
    // The commit failed, or another writer's work ended the shared transaction: the fault may be in that work alone.
    return await this.writeAlone(work);
  }

  writeAlone<T>(work: () => Promise<T>): Promise<T> {
    return this.hold(async () => {
      this.#commit();
      await this.#begin();
      try {
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
    return this.hold(async () => {
      // Within a group nothing else can change.
      if (this.#group) return await work();
      this.#connection.command("begin");
      try {
        return await work();
      } finally {
        this.#rollback();
      }
    });
  }

  /** Runs a statement that is its own transaction. */
  statement<T>(sql: string, run: () => T): T | Promise<T> {
    if (this.#turns.open === 0) return this.#alone(sql, run);
    return this.hold(() => this.#alone(sql, run));
  }

  /** Holds the connection while `work` runs. */
  async hold<T>(work: () => T | Promise<T>): Promise<T> {
    await this.#turns.acquire();
    try {
      return await work();
    } finally {
      this.#turns.release();
    }
  }

  /** Takes the connection for statements that are their own transactions. `pass` gives it back. */
  take(): Promise<void> {
    return this.#turns.acquire();
  }

  pass(): void {
    this.#turns.release();
  }

  /** Called before a statement of whoever took the connection: a write ends the group, so that it is stored at once. */
  before(sql: string): void {
    if (this.#group && !READS.test(sql)) this.#commit();
  }

  /** Stores pending writes. */
  end(): Promise<void> {
    return this.hold(() => this.#commit());
  }

  #alone<T>(sql: string, run: () => T): T {
    this.before(sql);
    return run();
  }

  async #open(): Promise<Group> {
    await this.#begin();
    const group: Group = { writers: 0, stored: Promise.withResolvers() };
    group.stored.promise.catch(() => {});
    this.#group = group;
    const end = (): void => {
      if (this.#group === group) void this.end();
    };
    if (this.#crowded) setTimeout(end, GATHERING_MS);
    else setImmediate(end);
    return group;
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

  async #member<T>(group: Group, work: () => Promise<T>): Promise<T> {
    const first = group.writers++ === 0;
    try {
      if (!first) this.#connection.command("savepoint writer");
      const result = await work();
      if (!first) this.#connection.command("release writer");
      return result;
    } catch (error) {
      this.#undo(group, { first, error });
      throw error;
    }
  }

  #undo(group: Group, { first, error }: { readonly first: boolean; readonly error: unknown }): void {
    // A full disk makes SQLite end the transaction, and with it the other writers' work.
    if (!first && this.#connection.inTransaction) {
      this.#connection.command("rollback to writer");
      return this.#connection.command("release writer");
    }
    this.#rollback();
    this.#group = null;
    group.stored.reject(error);
  }

  #commit(): void {
    const group = this.#group;
    this.#group = null;
    if (!group) return;
    this.#crowded = group.writers > 1;
    try {
      this.#connection.command("commit");
      this.#committed();
      group.stored.resolve();
    } catch (error) {
      this.#rollback();
      group.stored.reject(error);
    }
  }

  #rollback(): void {
    if (this.#connection.inTransaction) this.#connection.command("rollback");
  }
}

/** Writing it again would not help. */
function isMoved(error: unknown): boolean {
  return error instanceof StoreError && error.code === "moved";
}
