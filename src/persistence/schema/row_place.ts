import type { CheckedTable } from "./checksum.ts";

type Rows = readonly Readonly<Record<string, unknown>>[];

/** The branch of a row by table, found from the first cell that its checksum covers. */
const BRANCH: Readonly<Record<CheckedTable, string>> = {
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

const VARIABLE: { readonly [T in CheckedTable]?: string } = {
  expressionSoul: "SELECT name FROM expression_soul WHERE id = ?",
  expressionState:
    "SELECT name FROM expression_soul WHERE id = (SELECT expression_soul_id FROM expression_state WHERE id = ?)",
  scopeChange: "SELECT name FROM expression_soul WHERE id = ?",
};

/** Where a damaged row belongs, as far as the damage allows: " (variable x in conversation …)", or "". */
export function rowPlace(
  { table, id }: { readonly table: CheckedTable; readonly id: string },
  read: (sql: string, parameters: readonly string[]) => Rows,
): string {
  const find = (sql: string): string | null => {
    try {
      const [found] = read(sql, [id]).flatMap((cells) => Object.values(cells));
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
