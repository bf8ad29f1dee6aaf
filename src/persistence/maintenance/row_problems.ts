import type { DatabaseSync } from "node:sqlite";
import { checkedCells } from "../schema/checked_cells.ts";
import { CHECKED, type CheckedTable } from "../schema/checksum.ts";
import { ChecksumFunctions } from "../schema/checksum_functions.ts";
import { rowPlace } from "../schema/row_place.ts";
import { snakeCase } from "../schema/snake_case.ts";

/** At most this many problems of a kind are listed individually. */
const NAMED = 10;

/** A stored count or sum: the table of the row, its column, and the value that the column must have, by the row's
 * id. */
interface Count {
  readonly table: CheckedTable;
  readonly column: string;
  readonly what: string;
  /** Returns the columns `owner` and `found`. */
  readonly sums: string;
}

const COUNTS: readonly Count[] = [
  count("conversationSoul", "branches", { what: "branches", of: "conversation_state.conversation_soul_id", sum: "1" }),
  count("conversationState", "queries", { what: "queries", of: "query_soul.conversation_state_id", sum: "1" }),
  count("querySoul", "runs", { what: "runs", of: "query_state.query_soul_id", sum: "1" }),
  count("queryState", "iterations", { what: "iterations", of: "iteration.query_state_id", sum: "position + 1" }),
  count("iteration", "states", { what: "blocks or variables", of: "expression_state.iteration_id" }),
  count("iteration", "children", { what: "child queries", of: "child_branch.iteration_id" }),
  count("iteration", "calls", { what: "model calls", of: "sub_call.iteration_id" }),
  count("conversationState", "edges", {
    what: "edges between variables",
    of: "expression_dependency.conversation_state_id",
  }),
  {
    table: "conversationState",
    column: "scopes",
    what: "changes of scope",
    sums: `SELECT s.conversation_state_id AS owner, sum(k.checksum) AS found FROM scope_change k NOT INDEXED
      JOIN expression_soul s ON s.id = k.expression_soul_id GROUP BY 1`,
  },
];

/** Describes rows that differ from what was stored and rows that are missing, each with its conversation. It reads the
 * tables themselves, not their indexes. Empty for a database from before checksums existed. */
export function rowProblems(db: DatabaseSync): readonly string[] {
  if (!db.prepare("SELECT 1 FROM pragma_table_info('iteration') WHERE name = 'checksum'").get()) return [];
  new ChecksumFunctions(db);
  const tables = Object.keys(CHECKED) as CheckedTable[];
  return [
    ...tables.flatMap((table) => changedRows(db, table)),
    ...COUNTS.flatMap((one) => lostRows(db, one)),
    ...lostStates(db),
    ...lostConversations(db),
  ];
}

function changedRows(db: DatabaseSync, table: CheckedTable): readonly string[] {
  const name = snakeCase(table);
  const [first] = CHECKED[table];
  const cells = checkedCells(db, table).join(", ");
  const rows = db.prepare(
    `SELECT ${
      snakeCase(first)
    } AS id FROM ${name} NOT INDEXED WHERE row_checksum('${table}', ${cells}) IS NOT checksum`,
  ).all();
  const place = (id: string) => placeOf(db, { table, id });
  return named(rows.map(({ id }) => String(id)), {
    one: (id) => `Row ${id} of ${name} is not what was stored${place(id)}`,
    more: (more) => `${more} more rows of ${name} are not what was stored`,
  });
}

function lostRows(db: DatabaseSync, { table, column, what, sums }: Count): readonly string[] {
  const name = snakeCase(table);
  const rows = db.prepare(
    `SELECT o.id FROM ${name} o NOT INDEXED LEFT JOIN (${sums}) t ON t.owner = o.id
     WHERE o.${column} IS NOT coalesce(t.found, 0)`,
  ).all();
  return named(rows.map(({ id }) => String(id)), {
    one: (id) => `The ${what} of row ${id} of ${name} are incomplete${placeOf(db, { table, id })}`,
    more: (more) => `The ${what} of ${more} more rows of ${name} are incomplete`,
  });
}

function lostStates(db: DatabaseSync): readonly string[] {
  const rows = db.prepare(
    `SELECT coalesce(t.namespace, e.namespace) AS namespace FROM extension_tally t FULL JOIN (
       SELECT namespace, coalesce(conversation_state_id, '') AS branch, count(*) AS states, sum(checksum) AS sum
       FROM extension_state NOT INDEXED GROUP BY 1, 2
     ) e ON e.namespace = t.namespace AND e.branch = t.branch
     WHERE t.states IS NOT e.states OR t.sum IS NOT e.sum GROUP BY 1`,
  ).all();
  return rows.map(({ namespace }) => `The states of ${String(namespace)} are incomplete`);
}

function lostConversations(db: DatabaseSync): readonly string[] {
  const row = db.prepare(
    `SELECT count(*) IS (SELECT conversations FROM tally) AS whole,
      coalesce(sum(activity), 0) IS (SELECT activity FROM tally) AS ordered FROM conversation_soul NOT INDEXED`,
  ).get();
  if (row?.whole !== 1) return ["The conversations are incomplete"];
  return row.ordered === 1 ? [] : ["The order of the conversations is not what was stored"];
}

function count(
  table: CheckedTable,
  column: string,
  { what, of, sum = "checksum" }: { readonly what: string; readonly of: string; readonly sum?: string },
): Count {
  const [from, owner] = of.split(".");
  return {
    table,
    column,
    what,
    sums: `SELECT ${owner} AS owner, sum(${sum}) AS found FROM ${from} NOT INDEXED GROUP BY 1`,
  };
}

function placeOf(db: DatabaseSync, row: { readonly table: CheckedTable; readonly id: string }): string {
  return rowPlace(row, (sql, parameters) => db.prepare(sql).all(...parameters));
}

function named(
  ids: readonly string[],
  { one, more }: { readonly one: (id: string) => string; readonly more: (more: number) => string },
): readonly string[] {
  return [...ids.slice(0, NAMED).map(one), ...(ids.length > NAMED ? [more(ids.length - NAMED)] : [])];
}
