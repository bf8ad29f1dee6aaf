import { type QueryResult, type RawBuilder, sql } from "kysely";
import { newId } from "../../domain/kit/id.ts";
import { Database, type ResultRow, type RowChange } from "../database/database.ts";
import { OwnDriver } from "../database/own_driver.ts";
import { postgresDialect } from "./dialect.ts";
import { HeldRuns } from "./held_runs.ts";
import { isAborted, isConflict, isLost, sqlState } from "./postgres_error.ts";
import { snakeCase } from "../schema/snake_case.ts";
import type { Connection, Server } from "./server.ts";
import { PostgresTransaction } from "./transaction.ts";

type Result = QueryResult<ResultRow>;

/** How often a transaction runs again because another one was in its way. */
const MOST_TRIES = 8;
/** A process writes one transaction after the other, so that one row is enough for it. */
const PUT_MARK = `INSERT INTO last_write (writer, mark) VALUES ($1, $2)
ON CONFLICT (writer) DO UPDATE SET mark = excluded.mark, written_at = excluded.written_at`;
const READ_MARK = `INSERT INTO last_write AS w (writer, mark) VALUES ($1, '')
ON CONFLICT (writer) DO UPDATE SET written_at = w.written_at RETURNING mark`;
/** Those of processes that were killed go too. */
const FORGET_MARKS = `DELETE FROM last_write
WHERE writer = $1 OR written_at < clock_timestamp() - interval '1 day'`;

export interface PostgresDatabaseOptions {
  readonly tenant: string | null;
  readonly transaction?: PostgresTransaction | null;
  readonly held?: HeldRuns;
}

/** A PostgreSQL database, or a transaction in it. */
export class PostgresDatabase extends Database {
  override readonly kind = "postgres";
  readonly held: HeldRuns;
  readonly #server: Server;
  readonly #tenant: string | null;
  /** Null outside of transactions. */
  readonly #transaction: PostgresTransaction | null;

  constructor(server: Server, { tenant, transaction = null, held = new HeldRuns() }: PostgresDatabaseOptions) {
    super(postgresDialect(new OwnDriver((text, parameters) => this.#query(text, { parameters }))));
    this.#server = server;
    this.#tenant = tenant;
    this.#transaction = transaction;
    this.held = held;
  }

  override get tenant(): string | null {
    return this.#tenant;
  }

  override of(tenant: string | null): PostgresDatabase {
    return new PostgresDatabase(this.#server, { tenant, held: this.held });
  }

  override async run(text: string, parameters: readonly unknown[]): Promise<readonly ResultRow[]> {
    const { rows } = await this.#query(text, { parameters, prepared: true });
    return rows;
  }

  override async store(text: string, parameters: readonly unknown[]): Promise<void> {
    if (this.#transaction) this.#transaction.store(text, parameters);
    else await this.run(text, parameters);
  }

  override insert(table: string, cells: ResultRow): Promise<void> | void {
    if (this.#transaction) return this.#transaction.insert(snakeCase(table), cells);
    return this.write(async (tx) => await tx.insert(table, cells));
  }

  override update(table: string, change: RowChange): Promise<void> | void {
    if (this.#transaction) return this.#transaction.update(snakeCase(table), change);
    return this.write(async (tx) => await tx.update(table, change));
  }

  /** One after the other, as SQLite writes: one mark tells of the last one. */
  override write<T>(work: (tx: Database) => Promise<T>): Promise<T> {
    return this.#server.inOrder(() => this.#write(work));
  }

  async #write<T>(work: (tx: Database) => Promise<T>): Promise<T> {
    for (let tries = 1;; tries++) {
      const outcome = await this.#attempt(work);
      if ("result" in outcome) return outcome.result;
      if (!isLost(outcome.error) && (!isConflict(outcome.error) || tries === MOST_TRIES)) throw outcome.error;
    }
  }

  override async read<T>(work: (tx: Database) => Promise<T>): Promise<T> {
    for (;;) {
      const connection = await this.#take();
      try {
        const begin = this.#begin("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY");
        const transaction = new PostgresTransaction(connection, { begin, mark: null, hasTenant: true });
        const result = await work(this.#within(transaction));
        transaction.commit().catch(() => {}); // nothing depends on the end of a read
        connection.release();
        return result;
      } catch (error) {
        await undo(connection, error);
        if (!isLost(error) && !isAborted(error)) throw error;
      }
    }
  }

  override async lock(name: string): Promise<void> {
    await this.run("SELECT pg_advisory_xact_lock(hashtextextended($1, 0))", [name]);
  }

  override holderOf(id: string): RawBuilder<string | null> {
    return sql<string | null>`(SELECT node_id || ' ' || epoch FROM job WHERE query_id = ${sql.raw(id)} FOR SHARE)`;
  }

  override checkHolder(run: { readonly id: string; readonly holder: string | null }): void {
    this.held.check(run);
  }

  override ended(queryId: string): void {
    this.held.ended(queryId);
  }

  override async deferReferences(): Promise<void> {
    await sql`SET CONSTRAINTS ALL DEFERRED`.execute(this);
  }

  override breaksRule(error: unknown): error is Error {
    // A row that belongs to none breaks a policy before it breaks a constraint.
    return error instanceof Error && /^(?:23|42501$)/.test(sqlState(error));
  }

  override wholeText(cell: string): RawBuilder<string | null> {
    return sql.raw(cell);
  }

  override jsonText(cell: string, key: string): RawBuilder<string | null> {
    return sql<string | null>`(json_of(${sql.raw(cell)}) ->> ${sql.lit(key)})`;
  }

  override listed(json: string): RawBuilder<string> {
    return sql<string>`(SELECT jsonb_array_elements_text(CAST(${json} AS jsonb)))`;
  }

  /** From now on nothing waits for a lost server any more. */
  giveUp(): void {
    this.#server.giveUp();
  }

  override async close(): Promise<void> {
    await this.destroy();
    await this.#forgetMarks().catch(() => {}); // the next process that ends does it
    await this.#server.close();
  }

  /** Runs a transaction once. If the connection is lost while it is committed, the mark that it leaves says later whether
   * it was: a server that crashed gives the numbers of transactions that it forgot to others. */
  async #attempt<T>(work: (tx: Database) => Promise<T>): Promise<{ readonly result: T } | { readonly error: unknown }> {
    const connection = await this.#take();
    const mark = newId();
    let done: { readonly result: T } | null = null;
    try {
      const transaction = new PostgresTransaction(connection, {
        begin: this.#begin("BEGIN"),
        mark: { text: PUT_MARK, parameters: [this.#server.writer, mark] },
        hasTenant: this.#tenant !== null,
      });
      const result = await work(this.#within(transaction));
      done = { result };
      await transaction.commit();
      connection.release();
      return done;
    } catch (error) {
      await undo(connection, error);
      return done && isLost(error) && await this.#isCommitted(mark) ? done : { error };
    }
  }

  /** Waits for a transaction that the server has not ended yet. */
  async #isCommitted(mark: string): Promise<boolean> {
    const { rows: [found] } = await this.#query(READ_MARK, { parameters: [this.#server.writer] });
    return found?.["mark"] === mark;
  }

  /** A statement outside of a transaction may run twice: what is written there is the same then. */
  async #query(
    text: string,
    options: { readonly parameters: readonly unknown[]; readonly prepared?: boolean },
  ): Promise<Result> {
    if (this.#transaction) return await this.#transaction.query(text, options);
    for (;;) {
      const connection = await this.#take();
      try {
        const seen = connection.see(this.#seen);
        const [result] = await Promise.all([connection.query(text, options), seen]);
        connection.release();
        return result;
      } catch (error) {
        connection.release(isLost(error));
        if (!isLost(error) && !isAborted(error)) throw error;
      }
    }
  }

  async #forgetMarks(): Promise<void> {
    const connection = await this.#server.take(0);
    const forgotten = connection.query(FORGET_MARKS, { parameters: [this.#server.writer] });
    await forgotten.finally(() => connection.release());
  }

  /** The value of `vis.tenant`, by which the server chooses rows. */
  get #seen(): string {
    return this.#tenant ?? "*";
  }

  /** The beginning of a transaction, in one round trip. */
  #begin(begin: string): string {
    return `${begin}; SET LOCAL vis.tenant = '${this.#seen.replaceAll("'", "''")}'`;
  }

  #within(transaction: PostgresTransaction): PostgresDatabase {
    return new PostgresDatabase(this.#server, { tenant: this.#tenant, transaction, held: this.held });
  }

  #take(): Promise<Connection> {
    if (this.#transaction) throw new Error("Cannot begin a transaction: this is one");
    return this.#server.take();
  }
}

async function undo(connection: Connection, error: unknown): Promise<void> {
  const broken = isLost(error) || await connection.query("ROLLBACK").then(() => false, () => true);
  connection.release(broken);
}
