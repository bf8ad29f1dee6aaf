import {
  type Dialect,
  type Driver,
  PostgresAdapter,
  PostgresIntrospector,
  PostgresQueryCompiler,
  type PrimitiveValueListNode,
  type QueryResult,
} from "kysely";
import { TakenOverError } from "../../domain/errors.ts";
import { newId } from "../../domain/kit/ids.ts";
import { Database, type HeldRun, OwnDriver, type ResultRow, type RowChange } from "../database.ts";
import { snakeCase } from "../tables.ts";
import { POSTGRES } from "./postgres_dialect.ts";
import { isAborted, isConflict, isLost, isReadOnly, isUnmarked } from "./postgres_error.ts";
import type { Connection, Server } from "./server.ts";
import { PostgresTransaction, type TransactionOptions } from "./transaction.ts";

type Result = QueryResult<ResultRow>;

/** How often something runs because something else was in its way. */
const MOST_TRIES = 8;

interface PostgresDatabaseOptions {
  readonly tenant: string | null;
  readonly transaction?: PostgresTransaction | null;
  readonly held?: HeldRuns;
}

/** A PostgreSQL database, or a transaction in it. */
export class PostgresDatabase extends Database {
  override readonly dialect = POSTGRES;
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
    return this.#server.inOrder(() => this.#write(work, false));
  }

  override writeRun<T>(work: (tx: Database) => Promise<T>): Promise<T> {
    return this.#server.inOrder(() => this.#write(work, true));
  }

  async #write<T>(work: (tx: Database) => Promise<T>, ofRun: boolean): Promise<T> {
    const start = performance.now();
    for (let tries = 1;; tries++) {
      const outcome = await this.#attempt(work, ofRun);
      if ("result" in outcome) return outcome.result;
      const { error } = outcome;
      // After a process has written, another server will take its writes.
      if (isReadOnly(error) && this.#server.lastWrite.isKnown) await this.#server.wait(error, { start });
      else if (!isLost(error) && (!isConflict(error) || tries >= MOST_TRIES)) throw error;
    }
  }

  override async read<T>(work: (tx: Database) => Promise<T>): Promise<T> {
    for (let tries = 1;; tries++) {
      const connection = await this.#take();
      const begin = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY";
      const transaction = this.#transactionOn(connection, { begin, mark: null, ofRun: false });
      try {
        const result = await work(this.#within(transaction));
        transaction.commit().catch(() => {}); // nothing depends on the end of a read
        connection.release();
        return result;
      } catch (error) {
        await undo(connection, { transaction, error });
        if (!isLost(error) && (!isAborted(error) || tries >= MOST_TRIES)) throw error;
      }
    }
  }

  override async lock(name: string): Promise<void> {
    await this.run("SELECT pg_advisory_xact_lock(hashtextextended($1, 0))", [name]);
  }

  override checkHolder({ id, holder, version = null }: HeldRun): void {
    this.held.check({ id, holder });
    if (version !== null) this.#transaction?.expect({ id, holder, version });
  }

  override ended(queryId: string): void {
    this.held.ended(queryId);
  }

  /** From now on nothing waits for a lost server any more. */
  giveUp(): void {
    this.#server.giveUp();
  }

  override async close(): Promise<void> {
    await this.destroy();
    this.giveUp();
    // Otherwise the next process that ends does it.
    if (this.#server.fault === "") await this.#forgetMarks().catch(() => {});
    await this.#server.close();
  }

  /** Runs a transaction once. If the connection is lost while it is committed, the mark that it leaves says later whether
   * it was: a server that crashed gives the numbers of transactions that it forgot to others. */
  async #attempt<T>(
    work: (tx: Database) => Promise<T>,
    ofRun: boolean,
  ): Promise<{ readonly result: T } | { readonly error: unknown }> {
    const { lastWrite } = this.#server;
    const connection = await this.#take();
    const [mark, tenant] = [newId(), this.#seen];
    const transaction = this.#transactionOn(connection, {
      ...{ begin: "BEGIN", ofRun },
      mark: (run) => lastWrite.put({ mark, tenant, run }),
    });
    let done: { readonly result: T } | null = null;
    try {
      const result = await work(this.#within(transaction));
      done = { result };
      await transaction.commit();
      if (transaction.isMarked) lastWrite.stored(mark);
      connection.release();
      return done;
    } catch (error) {
      await undo(connection, { transaction, error });
      const isOpen = isUnmarked(error) || (done !== null && isLost(error));
      return isOpen && await this.#newestMark() === mark && done ? done : { error };
    }
  }

  /** Waits for a transaction that the server has not ended yet. */
  async #newestMark(): Promise<string> {
    const { lastWrite } = this.#server;
    const { text, parameters } = lastWrite.settle();
    const { rows: [found] } = await this.#query(text, { parameters });
    const mark = String(found?.["mark"]);
    lastWrite.stored(mark);
    return mark;
  }

  /** A statement outside of a transaction may run twice: what is written there is the same then. */
  async #query(
    text: string,
    options: { readonly parameters: readonly unknown[]; readonly prepared?: boolean },
  ): Promise<Result> {
    if (this.#transaction) return await this.#transaction.query(text, options);
    for (let tries = 1;; tries++) {
      const connection = await this.#take();
      try {
        const seen = connection.see(this.#seen);
        const [result] = await Promise.all([connection.query(text, options), seen]);
        connection.release();
        return result;
      } catch (error) {
        connection.release(isLost(error) || isReadOnly(error));
        if (!isLost(error) && (!isAborted(error) || tries >= MOST_TRIES)) throw error;
      }
    }
  }

  async #forgetMarks(): Promise<void> {
    const connection = await this.#server.take(0);
    const { text, parameters } = this.#server.lastWrite.forget();
    await connection.query(text, { parameters }).finally(() => connection.release());
  }

  /** The value of `vis.tenant`, by which the server chooses rows. */
  get #seen(): string {
    return this.#tenant ?? "*";
  }

  #transactionOn(
    connection: Connection,
    options: Pick<TransactionOptions, "begin" | "mark" | "ofRun">,
  ): PostgresTransaction {
    return new PostgresTransaction(connection, { ...options, seen: this.#seen, hasTenant: this.#tenant !== null });
  }

  #within(transaction: PostgresTransaction): PostgresDatabase {
    return new PostgresDatabase(this.#server, { tenant: this.#tenant, transaction, held: this.held });
  }

  #take(): Promise<Connection> {
    if (this.#transaction) throw new Error("Cannot begin a transaction: this is one");
    return this.#server.take();
  }
}

async function undo(
  connection: Connection,
  { transaction, error }: { readonly transaction: PostgresTransaction; readonly error: unknown },
): Promise<void> {
  const broken = isLost(error) || isReadOnly(error) || await transaction.rollback().then(() => false, () => true);
  connection.release(broken);
}

/** Kysely's PostgreSQL dialect on our own driver, with camel case for names. */
function postgresDialect(driver: Driver): Dialect {
  return {
    createDriver: () => driver,
    createQueryCompiler: () => new SnakeCaseCompiler(),
    createAdapter: () => new PostgresAdapter(),
    createIntrospector: (db) => new PostgresIntrospector(db),
  };
}

class SnakeCaseCompiler extends PostgresQueryCompiler {
  protected override sanitizeIdentifier(identifier: string): string {
    return snakeCase(super.sanitizeIdentifier(identifier));
  }

  /** SQLite has empty lists, which nothing is in. */
  protected override visitPrimitiveValueList(node: PrimitiveValueListNode): void {
    if (node.values.length === 0) this.append("(NULL)");
    else super.visitPrimitiveValueList(node);
  }
}

interface Held {
  readonly epoch: number;
  /** Whether this process has stored the end, with which the job goes. */
  over: boolean;
}

/** The runs that this process works on as a node, and under which epoch it took each. */
class HeldRuns {
  /** The id of this node; "" if it is not a node. */
  node = "";
  readonly #runs = new Map<string, Held>();

  take(queryId: string, epoch: number): void {
    this.#runs.set(queryId, { epoch, over: false });
  }

  /** Its end is stored. */
  ended(queryId: string): void {
    const held = this.#runs.get(queryId);
    if (held) held.over = true;
  }

  /** Nothing of it runs here any more. Those that were lost stay: something of them may still write. */
  forget(queryId: string): void {
    if (this.#runs.get(queryId)?.over) this.#runs.delete(queryId);
  }

  /** Throws `TakenOverError` unless this node holds the run; `holder` is the node with the epoch, null without a job. */
  check({ id, holder }: { readonly id: string; readonly holder: string | null }): void {
    const held = this.#runs.get(id);
    if (!held) return;
    const isHeld = holder === null ? held.over : holder === `${this.node} ${held.epoch}`;
    if (!isHeld) throw new TakenOverError(id);
  }
}
