import type { ArchiveTable, Row } from "./cells.ts";
import { Damage } from "../schema/damage.ts";

type Rows = Readonly<Record<ArchiveTable, readonly Row[]>>;

/** Throws `Damage` if rows of a conversation are missing that its other rows count. `states` has the sums of the
 * extension states of its branches. */
export function verifyConversation(
  rows: Rows,
  { conversationId, states }: { readonly conversationId: string; readonly states: ReadonlyMap<string, number> },
): void {
  const lost = (what: string): never => {
    throw new Damage(`${what} of conversation ${conversationId} are missing`);
  };
  const compare = (
    table: ArchiveTable,
    column: string,
    { of, what }: { of: ReadonlyMap<string, number>; what: string },
  ) => {
    for (const row of rows[table]) if ((of.get(String(row["id"])) ?? 0) !== row[column]) lost(what);
  };
  const one = () => 1;
  const { conversationState, querySoul, queryState, iteration, expressionSoul, expressionState } = rows;
  compare("conversationSoul", "branches", { of: sums(conversationState, "conversationSoulId", one), what: "branches" });
  compare("conversationState", "queries", { of: sums(querySoul, "conversationStateId", one), what: "queries" });
  compare("querySoul", "runs", { of: sums(queryState, "querySoulId", one), what: "queries" });
  const places = sums(iteration, "queryStateId", (row) => Number(row["position"]) + 1);
  compare("queryState", "iterations", { of: places, what: "iterations" });
  compare("iteration", "states", { of: sums(expressionState, "iterationId", checksum), what: "blocks or variables" });
  compare("iteration", "children", { of: sums(rows.childBranch, "iterationId", checksum), what: "child queries" });
  compare("iteration", "calls", { of: sums(rows.subCall, "iterationId", checksum), what: "model calls" });
  const edges = sums(rows.expressionDependency, "conversationStateId", checksum);
  compare("conversationState", "edges", { of: edges, what: "edges between variables" });
  const branches = new Map(expressionSoul.map((soul) => [String(soul["id"]), String(soul["conversationStateId"])]));
  const scopes = sums(
    rows.scopeChange.map((row) => ({ ...row, branch: branches.get(String(row["expressionSoulId"])) })),
    "branch",
    checksum,
  );
  compare("conversationState", "scopes", { of: scopes, what: "changes of scope" });
  const kept = sums(rows.extensionState, "conversationStateId", checksum);
  for (const [branch, sum] of states) if ((kept.get(branch) ?? 0) !== sum) lost("states of extensions");
  for (const row of expressionState) if (!branches.has(String(row["expressionSoulId"]))) lost("variables");
}

function sums(rows: readonly Row[], parent: string, term: (row: Row) => number): ReadonlyMap<string, number> {
  const found = new Map<string, number>();
  for (const row of rows) found.set(String(row[parent]), (found.get(String(row[parent])) ?? 0) + term(row));
  return found;
}

function checksum(row: Row): number {
  return Number(row["checksum"]);
}
