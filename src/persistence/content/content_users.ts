import type { DatabaseSync } from "node:sqlite";
import { COLUMNS, type UserTable } from "../schema/columns.ts";
import { snakeCase } from "../schema/snake_case.ts";

const MOST = 3;

type Referring = Exclude<UserTable, "log">;

/** Describes the rows that refer to a content, with where they belong: " (variable x of conversation …)", or "" if
 * there are none. */
export function contentUsers(db: DatabaseSync, hash: string): string {
  const found = new Set<string>();
  for (const [table, column] of referringColumns(db)) {
    const [first] = COLUMNS[table];
    // Metadata may refer to it within its JSON.
    const where = column === "metadata" ? `instr("${column}", ?) > 0` : `"${column}" = 'sha256:' || ?`;
    const rows = db.prepare(
      `SELECT ${snakeCase(first)} AS id FROM ${snakeCase(table)} NOT INDEXED WHERE ${where} LIMIT ?`,
    )
      .all(hash, MOST);
    for (const { id } of rows) {
      found.add(rowPlace(db, { table, id: String(id) }));
    }
    if (found.size >= MOST) break;
  }
  found.delete("");
  return [...found].slice(0, MOST).join("");
}

function referringColumns(db: DatabaseSync): readonly (readonly [Referring, string])[] {
  return (Object.keys(BRANCH) as Referring[]).flatMap((table) =>
    db.prepare("SELECT name FROM pragma_table_info(?) WHERE type IN ('TEXT', 'BLOB') AND name NOT LIKE '%id'")
      .all(snakeCase(table)).map(({ name }) => [table, String(name)] as const)
  );
}

/** The branch of a row by table, found from its first column. */
const BRANCH: Readonly<Record<Referring, string>> = {
  conversationSoul: "SELECT id FROM conversation_state WHERE conversation_soul_id = ?",
  conversationState: "SELECT ?",
  querySoul: "SELECT conversation_state_id FROM query_soul WHERE id = ?",
  queryState: ofRun("r.id = ?"),
  iteration: ofRun("r.id = (SELECT query_state_id FROM iteration WHERE id = ?)"),
  expressionSoul: "SELECT conversation_state_id FROM expression_soul WHERE id = ?",
  expressionState: ofSoul("s.id = (SELECT expression_soul_id FROM expression_state WHERE id = ?)"),
  expressionDependency: "SELECT conversation_state_id FROM expression_dependency WHERE id = ?",
  scopeChange: ofSoul("s.id = ?"),
  extensionState: "SELECT conversation_state_id FROM extension_state WHERE id = ?",
  requestKey: "SELECT ?",
  childBranch: "SELECT ?",
  subCall: ofRun(
    "r.id = (SELECT i.query_state_id FROM sub_call c JOIN iteration i ON i.id = c.iteration_id WHERE c.id = ?)",
  ),
};

const VARIABLE: { readonly [T in Referring]?: string } = {
  expressionSoul: "SELECT name FROM expression_soul WHERE id = ?",
  expressionState:
    "SELECT name FROM expression_soul WHERE id = (SELECT expression_soul_id FROM expression_state WHERE id = ?)",
  scopeChange: "SELECT name FROM expression_soul WHERE id = ?",
};

/** Where a damaged row belongs, as far as the damage allows: " (variable x in conversation …)", or "". */
export function rowPlace(db: DatabaseSync, { table, id }: { readonly table: Referring; readonly id: string }): string {
  const find = (sql: string): string | null => {
    try {
      const [found] = db.prepare(sql).all(id).flatMap((cells) => Object.values(cells));
      return typeof found === "string" ? found : null;
    } catch {
      return null;
    }
  };
  const variable = VARIABLE[table] === undefined ? null : find(VARIABLE[table]);
  const conversation = find(`SELECT conversation_soul_id FROM conversation_state WHERE id IN (${BRANCH[table]})`);
  const places = [
    ...(variable === null ? [] : [`variable ${variable}`]),
    ...(conversation === null ? [] : [`conversation ${conversation}`]),
  ];
  return places.length === 0 ? "" : ` (${places.join(" of ")})`;
}

function ofRun(where: string): string {
  return `SELECT q.conversation_state_id FROM query_state r JOIN query_soul q ON q.id = r.query_soul_id WHERE ${where}`;
}

function ofSoul(where: string): string {
  return `SELECT s.conversation_state_id FROM expression_soul s WHERE ${where}`;
}
