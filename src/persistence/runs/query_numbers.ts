import { verifyAbsent } from "../database/absent.ts";
import { namedQuery } from "../database/named_query.ts";
import { Damage } from "../schema/damage.ts";
import type { Database } from "../database/database.ts";
import { intact } from "../schema/intact.ts";
import { type BranchSegment, readLineage } from "../branches/lineage.ts";
import { digestTerm } from "../branches/shown_digest.ts";
import { newestVariables } from "../branches/shown_variables.ts";
import { updateRow } from "../database/update_row.ts";

/** Computes the digest of a branch that has none because it was stored before digests existed, or imported. */
export async function makeDigest(tx: Database, branchId: string): Promise<void> {
  if (!tx.verifies) return;
  const rows = await newestVariables(tx, { lineage: await readLineage(tx, branchId) });
  const variables = rows.reduce((sum, row) => sum + digestTerm(row), 0);
  await updateRow(tx, "conversationState", { id: branchId, changes: { variables } });
}

const numberOfQuery = namedQuery((db, { soulId }: { readonly soulId: string }) =>
  db.selectFrom("querySoul as q").select("q.number").where("q.id", "=", soulId).select(intact("querySoul", "q"))
);

/** The number of queries that a segment shows. Throws `Damage` if the segment or the query at its end is missing. */
export async function queriesIn(db: Database, { branchId, until }: BranchSegment): Promise<number> {
  if (until === null) return await countIn(db, branchId);
  const [row] = await numberOfQuery(db, { soulId: until.soulId });
  if (!row) throw new Damage(`query ${until.queryId}, which a branch begins at, is missing`);
  return until.position < 0 ? row.number : row.number + 1;
}

/** Throws `Damage` if these are not the queries from one number to another, each once. */
export function verifyNumbers(
  rows: readonly { readonly number: number }[],
  { from, to, branchId }: { readonly from: number; readonly to: number; readonly branchId: string },
): void {
  const numbers = new Set(rows.map(({ number }) => number));
  const all = rows.length === to - from && numbers.size === rows.length;
  if (all && rows.every(({ number }) => number >= from && number < to)) return;
  throw new Damage(`queries of branch ${branchId} are missing`);
}

const countOfBranch = namedQuery((db, { branchId }: { readonly branchId: string }) =>
  db.selectFrom("conversationState as b").select("b.queries").where("b.id", "=", branchId)
    .select(intact("conversationState", "b"))
);

async function countIn(db: Database, branchId: string): Promise<number> {
  const [row] = await countOfBranch(db, { branchId });
  if (!row) await verifyAbsent(db, { table: "conversationState", id: branchId });
  return row?.queries ?? 0;
}
