import type { QueryResult } from "kysely";
import { Buffer } from "node:buffer";
import type { ResultRow } from "../database.ts";
import { PUT_ENTRY, searchEntries } from "../search_words.ts";
import { snakeCase, WITHIN } from "../tables.ts";
import { type Connection, type QueryOptions, referenceBytes, type SeenRun, type Statement } from "./server.ts";

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

interface NewRow {
  readonly table: string;
  readonly cells: ResultRow;
  /** What follows the values, such as `ON CONFLICT`. */
  readonly then?: string;
}

/** Rows of one table with the same columns. */
interface Rows {
  readonly columns: readonly string[];
  readonly then: string;
  readonly rows: ResultRow[];
}

/** Rows with more bytes are not sent as text. */
const MOST_BYTES = 64 * 1024;
const CHANGE = /^\s*(?:insert into|update|delete from)\s+"?(\w+)/i;

/** How a statement begins that has parts with names, which others can join. */
const WITH = /^\s*with\s+(?!recursive\b)/i;

/** Changes of a transaction that nobody waits for. They are sent as one statement, which changes a table once: no change
 * in it sees another one. */
class WriteBatch {
  readonly #changes = new Map<string, Rows | Statement>();

  /** Adds a row. Returns false, and adds nothing, if it must come after those that wait. */
  insert({ table, cells, then = "" }: NewRow): boolean {
    const columns = Object.keys(cells).sort();
    const known = this.#changes.get(table);
    if (this.#hasNew(WITHIN.get(table))) return false;
    if (known === undefined) {
      this.#changes.set(table, { columns, then, rows: [cells] });
      return true;
    }
    if (!("rows" in known) || [known.rows[0] ?? {}, cells].some(isLarge) || !isSame(known.columns, columns)) {
      return false;
    }
    known.rows.push(cells);
    return true;
  }

  /** Adds another change. Returns false, and adds nothing, if it must come after those that wait. */
  change(statement: Statement): boolean {
    const table = changedTable(statement.text);
    if (this.#changes.has(table) || this.#hasNew(WITHIN.get(table))) return false;
    this.#changes.set(table, statement);
    return true;
  }

  /** Whether rows wait of a table that others are part of. A policy of the server does not see rows of its own statement. */
  #hasNew(table = ""): boolean {
    return "rows" in (this.#changes.get(table) ?? {});
  }

  get isEmpty(): boolean {
    return this.#changes.size === 0;
  }

  /** Everything that waits, with another change if there is one; null if nothing does. */
  take(other: Statement | null): Statement | null {
    const all = [...this.#changes].map(([table, change]) => "rows" in change ? inserted(table, change) : change);
    this.#changes.clear();
    return all.reduceRight<Statement | null>((after, before) => after ? withChange(before, after) : before, other);
  }
}

/** Whether a statement is a change that a batch can have. */
function isChange(text: string): boolean {
  return CHANGE.test(text);
}

function isRead(text: string): boolean {
  return /^\s*select\b/i.test(text) || WITH.test(text);
}

/** Whether a change can be sent with a statement. */
function canCarry(text: string): boolean {
  return isChange(text) || isRead(text);
}

/** One statement for both: a change, and what may be a read, which does not see it. */
function withChange(change: Statement, { text, parameters }: Statement): Statement {
  const from = parameters.length;
  const moved = change.text.replace(/\$(\d+)/g, (_, number) => `$${Number(number) + from}`);
  const named = `c${from} AS (${moved})`;
  return {
    text: WITH.test(text) ? text.replace(WITH, () => `WITH ${named}, `) : `WITH ${named} ${text}`,
    parameters: [...parameters, ...change.parameters],
  };
}

/** The change of cells of the row with an id. */
function updated(
  table: string,
  { id, changes }: { readonly id: string; readonly changes: ResultRow },
): Statement {
  const set = Object.keys(changes).map((column, at) => `${snakeCase(column)} = $${at + 1}`);
  const parameters = [...Object.values(changes), id];
  return { text: `UPDATE ${table} SET ${set.join(", ")} WHERE id = $${parameters.length}`, parameters };
}

function inserted(table: string, { columns, then, rows }: Rows): Statement {
  const names = columns.map(snakeCase);
  const into = `INSERT INTO ${table} (${names.join(", ")})`;
  const [first = {}, ...others] = rows;
  if (others.length === 0) {
    const places = names.map((_, at) => `$${at + 1}`).join(", ");
    return { text: `${into} VALUES (${places}) ${then}`, parameters: columns.map((column) => first[column]) };
  }
  // The same text for any number of rows, since the server keeps each that it was sent.
  const list = rows.map((row) => Object.fromEntries(columns.map((column) => [snakeCase(column), asJson(row[column])])));
  return {
    text: `${into} SELECT ${names.join(", ")} FROM json_populate_recordset(NULL::${table}, $1) ${then}`,
    parameters: [JSON.stringify(list)],
  };
}

/** PostgreSQL has neither NUL nor lone surrogates in a text. */
function asJson(cell: unknown): unknown {
  if (typeof cell === "string") return cell.toWellFormed().replaceAll("\0", "\ufffd");
  return cell instanceof Uint8Array ? `\\x${Buffer.from(cell).toString("hex")}` : cell;
}

function isLarge(cells: ResultRow): boolean {
  return Object.values(cells).some((cell) =>
    (typeof cell === "string" || cell instanceof Uint8Array) && cell.length > MOST_BYTES
  );
}

function isSame(one: readonly string[], other: readonly string[]): boolean {
  return one.length === other.length && one.every((name, at) => name === other[at]);
}

function changedTable(text: string): string {
  return CHANGE.exec(text)?.[1]?.toLowerCase() ?? "";
}
