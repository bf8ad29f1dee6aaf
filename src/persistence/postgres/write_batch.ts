import { Buffer } from "node:buffer";
import type { ResultRow } from "../database/database.ts";
import { snakeCase } from "../schema/snake_case.ts";

export interface Statement {
  readonly text: string;
  readonly parameters: readonly unknown[];
}

export interface NewRow {
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

/** The table that the rows of another one must belong to by a policy of the server, which does not see rows of its own
 * statement. */
const WITHIN: Readonly<Record<string, string>> = {
  conversation_state: "conversation_soul",
  lease: "conversation_state",
  query_soul: "conversation_state",
  query_state: "query_soul",
  iteration: "query_state",
  expression_soul: "conversation_state",
  expression_dependency: "conversation_state",
  expression_state: "iteration",
  child_branch: "conversation_state",
  sub_call: "iteration",
  scope_change: "expression_soul",
  extension_state: "conversation_state",
  request_key: "conversation_state",
};

/** Changes of a transaction that nobody waits for. They are sent as one statement, which changes a table once: no change
 * in it sees another one. */
export class WriteBatch {
  readonly #changes = new Map<string, Rows | Statement>();

  /** Adds a row. Returns false, and adds nothing, if it must come after those that wait. */
  insert({ table, cells, then = "" }: NewRow): boolean {
    const columns = Object.keys(cells).sort();
    const known = this.#changes.get(table);
    if (this.#hasNew(WITHIN[table])) return false;
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
    if (this.#changes.has(table) || this.#hasNew(WITHIN[table])) return false;
    this.#changes.set(table, statement);
    return true;
  }

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
export function isChange(text: string): boolean {
  return CHANGE.test(text);
}

export function isRead(text: string): boolean {
  return /^\s*select\b/i.test(text) || WITH.test(text);
}

/** Whether a change can be sent with a statement. */
export function canCarry(text: string): boolean {
  return isChange(text) || isRead(text);
}

/** One statement for both: a change, and what may be a read, which does not see it. */
export function withChange(change: Statement, { text, parameters }: Statement): Statement {
  const from = parameters.length;
  const moved = change.text.replace(/\$(\d+)/g, (_, number) => `$${Number(number) + from}`);
  const named = `c${from} AS (${moved})`;
  return {
    text: WITH.test(text) ? text.replace(WITH, () => `WITH ${named}, `) : `WITH ${named} ${text}`,
    parameters: [...parameters, ...change.parameters],
  };
}

/** The change of cells of the row with an id. */
export function updated(
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
