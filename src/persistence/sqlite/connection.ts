import type { QueryResult } from "kysely";
import { DatabaseSync, type SQLInputValue, type SQLOutputValue, type StatementSync } from "node:sqlite";
import { setTimeout as sleep } from "node:timers/promises";
import { BoundedMap } from "../../domain/kit/bounded_map.ts";
import { Semaphore } from "../../domain/kit/concurrency.ts";
import { columnName } from "../tables.ts";
import { isBusy } from "./sqlite_error.ts";

interface Prepared {
  readonly statement: StatementSync;
  /** A pair has the name of a column in SQLite and its name in camel case. */
  readonly columns: readonly (readonly [string, string])[];
}

const MAX_PREPARED = 300;

export class SqliteConnection {
  readonly #db: DatabaseSync;
  readonly #prepared = new BoundedMap<string, Prepared>(MAX_PREPARED);

  constructor(db: DatabaseSync) {
    this.#db = db;
  }

  get inTransaction(): boolean {
    return this.#db.isTransaction;
  }

  query(sql: string, parameters: readonly unknown[]): QueryResult<Record<string, unknown>> {
    const { statement, columns } = this.#prepare(sql);
    const values = parameters.map(bindable);
    if (columns.length === 0) return { rows: [], numAffectedRows: BigInt(statement.run(...values).changes) };
    return { rows: statement.all(...values).map((cells) => rowOf(columns, cells)) };
  }

  beside(): SqliteConnection | null {
    const path = this.#db.location();
    return path ? new SqliteConnection(new DatabaseSync(path, { readOnly: true })) : null;
  }

  command(sql: string): void {
    this.#prepare(sql).statement.run();
  }

  close(): void {
    this.#prepared.clear();
    if (this.#db.isOpen) this.#db.close();
  }

  #prepare(sql: string): Prepared {
    const known = this.#prepared.get(sql);
    if (known) return known;
    const statement = this.#db.prepare(sql);
    const columns = statement.columns().map(({ name }) => [name, columnName(name)] as const);
    const prepared = { statement, columns };
    this.#prepared.set(sql, prepared);
    return prepared;
  }
}

function rowOf(columns: Prepared["columns"], cells: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const row: Record<string, unknown> = {};
  for (const [from, to] of columns) row[to] = cells[from];
  return row;
}

/** `node:sqlite` binds a Date as NULL without an error, so Vis refuses unusual values itself. */
function bindable(value: unknown): SQLInputValue {
  if (value === null || typeof value === "number" || typeof value === "string" || typeof value === "bigint") {
    return value;
  }
  if (value instanceof Uint8Array) return value;
  throw new TypeError(
    `Cannot bind a value to an SQL statement: its type is ${
      value instanceof Date ? "Date" : typeof value
    }; pass null, ` +
      "a number, a bigint, a string or a Uint8Array",
  );
}

interface TransactionsOptions {
  readonly busyMs: number;
  /** If `begun` throws, the write stores nothing. */
  readonly begun?: () => void;
  /** After the commit, the writer gets an error that `committed` throws. */
  readonly committed?: () => void;
}

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

  statement<T>(run: () => T): T | Promise<T> {
    return this.#turns.open === 0 ? run() : this.#turns.run(() => Promise.resolve(run()));
  }

  take(): Promise<void> {
    return this.#turns.acquire();
  }

  pass(): void {
    this.#turns.release();
  }

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

  /** After some errors, such as a full disk, SQLite ends the transaction itself. */
  #rollback(): void {
    if (this.#connection.inTransaction) this.#connection.command("rollback");
  }
}

type TableRow = Readonly<Record<string, SQLOutputValue>>;

/** Throws for an unreadable page, where `StatementSync.iterate()` would end as after the last row. */
export function* tableRows(
  db: DatabaseSync,
  { table, columns, where = "true" }: {
    readonly table: string;
    readonly columns: string;
    readonly where?: string;
  },
): Generator<TableRow> {
  const next = db.prepare(
    `SELECT rowid AS place, ${columns} FROM "${table}" WHERE rowid > ? AND ${where} ORDER BY rowid LIMIT 1`,
  );
  next.setReadBigInts(true);
  let place: SQLOutputValue = -(2n ** 63n);
  for (;;) {
    const row: TableRow | undefined = next.get(place);
    if (row === undefined) return;
    yield row;
    place = row.place ?? null;
  }
}
