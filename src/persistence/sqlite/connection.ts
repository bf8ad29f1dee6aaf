import { BoundedMap } from "../../domain/kit/bounded_map.ts";
import { DatabaseSync, type SQLInputValue, type StatementSync } from "node:sqlite";
import type { QueryResult } from "kysely";
import { columnName } from "../schema/column_name.ts";

interface Prepared {
  readonly statement: StatementSync;
  /** Column names as SQLite returns them and in camel case; empty for a statement that returns no rows. */
  readonly columns: readonly (readonly [string, string])[];
}

const MAX_PREPARED = 300;

/** Runs queries on one `node:sqlite` database. Each SQL text is prepared once and its statement kept. */
export class SqliteConnection {
  readonly #db: DatabaseSync;
  readonly #prepared = new BoundedMap<string, Prepared>(MAX_PREPARED);

  constructor(db: DatabaseSync) {
    this.#db = db;
  }

  get inTransaction(): boolean {
    return this.#db.isTransaction;
  }

  /** Returns rows with column names in camel case. */
  query(sql: string, parameters: readonly unknown[]): QueryResult<Record<string, unknown>> {
    const { statement, columns } = this.#prepare(sql);
    const values = parameters.map(bindable);
    if (columns.length === 0) return { rows: [], numAffectedRows: BigInt(statement.run(...values).changes) };
    return { rows: statement.all(...values).map((cells) => rowOf(columns, cells)) };
  }

  /** Another connection to the same file, which only reads; null for a database in memory. */
  beside(): SqliteConnection | null {
    const path = this.#db.location();
    return path ? new SqliteConnection(new DatabaseSync(path, { readOnly: true })) : null;
  }

  /** For statements without parameters and rows, such as `begin`. */
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

/** `node:sqlite` silently binds a Date as NULL, so anything unusual is refused here. */
function bindable(value: unknown): SQLInputValue {
  if (value === null || typeof value === "number" || typeof value === "string" || typeof value === "bigint") {
    return value;
  }
  if (value instanceof Uint8Array) return value;
  throw new TypeError(`Cannot bind a value to a query: ${value instanceof Date ? "Date" : typeof value}`);
}
