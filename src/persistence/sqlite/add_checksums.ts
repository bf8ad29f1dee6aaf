import type { DatabaseSync } from "node:sqlite";
import { checkedCells } from "../schema/checked_cells.ts";
import { CHECKED, type CheckedTable } from "../schema/checksum.ts";
import { ChecksumFunctions } from "../schema/checksum_functions.ts";
import { snakeCase } from "../schema/snake_case.ts";

/** Computes what the SQL of a migration cannot: the checksums of existing rows, and their sums. Their current content
 * counts as what was stored. */
export function addChecksums(db: DatabaseSync): void {
  new ChecksumFunctions(db);
  for (const table of Object.keys(CHECKED) as CheckedTable[]) {
    db.exec(
      `UPDATE ${snakeCase(table)} SET checksum = row_checksum('${table}', ${checkedCells(db, table).join(", ")})`,
    );
  }
  for (const [column, table] of [["states", "expression_state"], ["children", "child_branch"], ["calls", "sub_call"]]) {
    db.exec(`UPDATE iteration SET ${column} =
      (SELECT coalesce(sum(t.checksum), 0) FROM ${table} t WHERE t.iteration_id = iteration.id)`);
  }
  db.exec(`UPDATE conversation_state SET edges = (
    SELECT coalesce(sum(d.checksum), 0) FROM expression_dependency d WHERE d.conversation_state_id = conversation_state.id
  ), scopes = (
    SELECT coalesce(sum(k.checksum), 0) FROM scope_change k JOIN expression_soul s ON s.id = k.expression_soul_id
    WHERE s.conversation_state_id = conversation_state.id
  )`);
  db.exec(`INSERT INTO extension_tally (namespace, branch, states, sum)
    SELECT namespace, coalesce(conversation_state_id, ''), count(*), sum(checksum) FROM extension_state GROUP BY 1, 2`);
}

/** Extends the checksums of existing rows to a column that a migration added. A row that differs from what was stored
 * keeps its checksum, so that readers still notice. */
export function addToChecksums(
  db: DatabaseSync,
  { tables, column }: { readonly tables: readonly CheckedTable[]; readonly column: string },
): void {
  new ChecksumFunctions(db);
  const states = `(SELECT coalesce(sum(e.checksum), 0) FROM extension_state e
    WHERE e.namespace = extension_tally.namespace AND coalesce(e.conversation_state_id, '') = extension_tally.branch)`;
  db.exec(`UPDATE extension_tally SET sum = sum - ${states}`);
  for (const table of tables) {
    const cells = checkedCells(db, table);
    const before = cells.filter((cell) => cell !== snakeCase(column));
    db.exec(`UPDATE ${snakeCase(table)} SET checksum = row_checksum('${table}', ${cells.join(", ")})
      WHERE checksum = row_checksum('${table}', ${before.join(", ")})`);
  }
  db.exec(`UPDATE extension_tally SET sum = sum + ${states}`);
}
