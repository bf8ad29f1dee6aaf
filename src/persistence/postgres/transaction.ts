import type { QueryResult } from "kysely";
import type { ResultRow } from "../database/database.ts";
import { PUT_ENTRY, searchEntries } from "./search_index.ts";
import type { Connection, QueryOptions } from "./server.ts";
import { canCarry, isChange, type Statement, updated, withChange, WriteBatch } from "./write_batch.ts";

type Result = QueryResult<ResultRow>;

export interface TransactionOptions {
  readonly begin: string;
  /** A change that is sent with the first statement; null for a transaction that only reads. */
  readonly mark: Statement | null;
  /** Whether each row names its tenant. Otherwise the server looks it up in rows that an earlier statement stored. */
  readonly hasTenant: boolean;
}

/** A transaction on a connection. Changes that nobody waits for are sent together, before the next read or at the end,
 * and nothing that is sent is awaited before its result is needed. */
export class PostgresTransaction {
  readonly #connection: Connection;
  readonly #hasTenant: boolean;
  readonly #batch = new WriteBatch();
  readonly #sent: Promise<unknown>[] = [];
  #mark: Statement | null;
  #failure: { readonly error: unknown } | null = null;

  constructor(connection: Connection, { begin, mark, hasTenant }: TransactionOptions) {
    this.#connection = connection;
    this.#hasTenant = hasTenant;
    this.#mark = mark;
    this.#add(connection.query(begin));
  }

  /** Runs a statement after everything before it. If something before it failed, it fails for the same reason. */
  async query(text: string, { parameters = [], prepared = false }: QueryOptions): Promise<Result> {
    this.#flush();
    try {
      return await this.#send({ text, parameters }, prepared);
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
  insert(table: string, cells: ResultRow): void {
    this.#put(() => this.#batch.insert({ table, cells }));
    this.#index(table, cells);
  }

  update(table: string, change: { readonly id: string; readonly changes: ResultRow }): void {
    this.#put(() => this.#batch.change(updated(table, change)));
    this.#index(table, { ...change.changes, id: change.id });
  }

  /** Waits for all of it. Throws the error of the first statement that failed. */
  async commit(): Promise<void> {
    this.#flush();
    this.#add(this.#connection.query("COMMIT"));
    await Promise.all(this.#sent);
    if (this.#failure) throw this.#failure.error;
  }

  #index(table: string, cells: ResultRow): void {
    for (const entry of searchEntries(table, cells)) {
      this.#put(() => this.#batch.insert({ table: "search", cells: entry, then: PUT_ENTRY }));
    }
  }

  #put(add: () => boolean): void {
    if (this.#hasTenant && add()) return;
    this.#flush();
    add();
  }

  #flush(): void {
    const statement = this.#batch.take();
    if (statement) this.#add(this.#send(statement, true));
  }

  #send(statement: Statement, prepared: boolean): Promise<Result> {
    const mark = this.#mark;
    this.#mark = null;
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
