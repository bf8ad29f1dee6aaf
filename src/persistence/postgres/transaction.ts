import type { QueryResult } from "kysely";
import type { ResultRow } from "../database/database.ts";
import type { SeenRun } from "./last_write.ts";
import { PUT_ENTRY, searchEntries } from "./search_index.ts";
import { type Connection, type QueryOptions, referenceBytes } from "./server.ts";
import { canCarry, isChange, isRead, type Statement, updated, withChange, WriteBatch } from "./write_batch.ts";

type Result = QueryResult<ResultRow>;

/** A process that was stopped within a transaction must not keep its locks. One that only reads has none, and may store
 * elsewhere what it read. */
const IDLE_MS = 5_000, IDLE_READ_MS = 60_000;

export interface TransactionOptions {
  /** The statement that begins it. */
  readonly begin: string;
  /** The value of `vis.tenant`, by which the server chooses rows. */
  readonly seen: string;
  /** The change that is stored with its first statement, or of a run with its first change; null for a transaction that
   * only reads. */
  readonly mark: ((run: SeenRun | null) => Statement) | null;
  /** Whether each row names its tenant. Otherwise the server looks it up in rows that an earlier statement stored. */
  readonly hasTenant: boolean;
  /** Whether it is one of a run, which is as it was read if it is committed. Its reads need no locks. */
  readonly ofRun: boolean;
}

/** A transaction on a connection. Changes that nobody waits for are sent together, before the next read or at the end,
 * and nothing that is sent is awaited before its result is needed. One statement is a transaction by itself. */
export class PostgresTransaction {
  readonly #connection: Connection;
  readonly #options: TransactionOptions;
  readonly #batch = new WriteBatch();
  readonly #sent: Promise<unknown>[] = [];
  #isBegun = false;
  #isMarked = false;
  #run: SeenRun | null = null;
  #failure: { readonly error: unknown } | null = null;

  constructor(connection: Connection, options: TransactionOptions) {
    this.#connection = connection;
    this.#options = options;
  }

  /** Whether its mark was sent. */
  get isMarked(): boolean {
    return this.#isMarked;
  }

  /** What is stored from now on depends on a run. */
  expect(run: SeenRun): void {
    this.#run = run;
  }

  /** Runs a statement after everything before it. If something before it failed, it fails for the same reason. */
  async query(text: string, { parameters = [], prepared = false }: QueryOptions): Promise<Result> {
    this.#flush();
    const statement = { text, parameters };
    const isAlone = this.#options.ofRun && !this.#isBegun && isRead(text);
    try {
      return await (isAlone ? this.#alone(statement, prepared) : this.#send(statement, prepared));
    } catch (error) {
      throw this.#failure ? this.#failure.error : error;
    }
  }

  /** Runs a statement whose rows nobody needs. */
  store(text: string, parameters: readonly unknown[]): void {
    const statement = { text, parameters };
    if (isChange(text)) return this.#put(() => this.#batch.change(statement));
    this.#flush();
    this.#add(this.#send(statement, true));
  }

  /** Inserts a row, with its entries in the search index. */
  insert(table: string, given: ResultRow): void {
    const cells = typeof given["result"] === "string" ? { ...given, result: referenceBytes(given["result"]) } : given;
    this.#put(() => this.#batch.insert({ table, cells }));
    this.#index(table, cells);
  }

  update(table: string, change: { readonly id: string; readonly changes: ResultRow }): void {
    this.#put(() => this.#batch.change(updated(table, change)));
    this.#index(table, { ...change.changes, id: change.id });
  }

  /** Waits for all of it. Throws the error of the first statement that failed. */
  async commit(): Promise<void> {
    if (this.#isBegun) {
      this.#flush();
      this.#add(this.#connection.query("COMMIT"));
    } else {
      const only = this.#taken();
      if (only) this.#add(this.#alone(only, true));
    }
    await Promise.all(this.#sent);
    if (this.#failure) throw this.#failure.error;
  }

  async rollback(): Promise<void> {
    if (this.#isBegun) await this.#connection.query("ROLLBACK");
  }

  #index(table: string, cells: ResultRow): void {
    for (const entry of searchEntries(table, cells)) {
      this.#put(() => this.#batch.insert({ table: "search", cells: entry, then: PUT_ENTRY }));
    }
  }

  #put(add: () => boolean): void {
    if (this.#options.hasTenant && add()) return;
    this.#flush();
    add();
  }

  #flush(): void {
    if (this.#batch.isEmpty) return;
    this.#begin();
    const statement = this.#taken();
    if (statement) this.#add(this.#query(statement, true));
  }

  /** What waits, with the mark if it is the first. */
  #taken(): Statement | null {
    return this.#batch.isEmpty ? null : this.#batch.take(this.#mark());
  }

  #mark(): Statement | null {
    const { mark, ofRun } = this.#options;
    if (this.#isMarked || mark === null) return null;
    if (ofRun && this.#run === null) throw new Error("Cannot store a change of a run: it was not read");
    this.#isMarked = true;
    return mark(this.#run);
  }

  /** In one round trip. */
  #begin(): void {
    if (this.#isBegun) return;
    this.#isBegun = true;
    const { begin, seen, mark } = this.#options;
    const idleMs = mark === null ? IDLE_READ_MS : IDLE_MS;
    this.#add(this.#connection.query(
      `${begin}; SET LOCAL vis.tenant = '${seen.replaceAll("'", "''")}';
      SET LOCAL idle_in_transaction_session_timeout = ${idleMs}`,
    ));
  }

  /** Runs a statement that is a transaction by itself. */
  async #alone(statement: Statement, prepared: boolean): Promise<Result> {
    const seen = this.#connection.see(this.#options.seen);
    const [result] = await Promise.all([this.#query(statement, prepared), seen]);
    return result;
  }

  #send(statement: Statement, prepared: boolean): Promise<Result> {
    this.#begin();
    const mark = this.#mark();
    if (mark && canCarry(statement.text)) return this.#query(withChange(mark, statement), prepared);
    if (mark) this.#add(this.#query(mark, true));
    return this.#query(statement, prepared);
  }

  #query({ text, parameters }: Statement, prepared: boolean): Promise<Result> {
    return this.#connection.query(text, { parameters, prepared });
  }

  #add(statement: Promise<unknown>): void {
    this.#sent.push(statement.catch((error: unknown) => {
      this.#failure ??= { error };
    }));
  }
}
