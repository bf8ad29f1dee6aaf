import { namedQuery } from "../database/named_query.ts";
import { Damage } from "../schema/damage.ts";
import type { Database } from "../database/database.ts";
import { intact } from "../schema/intact.ts";
import type { BranchSegment } from "./lineage.ts";
import type { NewestRow } from "./shown_variables.ts";

const changeDigest = namedQuery((db, { branchId, change }: { readonly branchId: string; readonly change: number }) =>
  db.updateTable("conversationState").set((b) => ({ variables: b("variables", "+", change) }))
    .where("id", "=", branchId).returning("variables")
);

const digestOfBranch = namedQuery((db, { branchId }: { readonly branchId: string }) =>
  db.selectFrom("conversationState").select("variables").where("id", "=", branchId)
);

const digestBeforeQuery = namedQuery((db, { soulId }: { readonly soulId: string }) =>
  db.selectFrom("querySoul as q").select("q.variables").where("q.id", "=", soulId).select(intact("querySoul", "q"))
);

const digestAfterIteration = namedQuery(
  (db, { queryId, position }: { readonly queryId: string; readonly position: number }) =>
    db.selectFrom("iteration as i").select("i.variables").where("i.queryStateId", "=", queryId)
      .where("i.position", "=", position).select(intact("iteration", "i")),
);

/** What one variable adds to the digest of everything that a branch shows: the checksum of its newest version. */
export function digestTerm({ checksum, scope }: Pick<NewestRow, "checksum" | "scope">): number {
  return scope === "forgotten" ? checksum + 1 : checksum;
}

/** Throws `Damage` if these are not the newest versions of all variables that the branch, or the moment, shows. Skips
 * data stored before digests existed. */
export async function verifyNewest(
  db: Database,
  { segment, rows }: { readonly segment: BranchSegment; readonly rows: readonly NewestRow[] },
): Promise<void> {
  const expected = await digestOf(db, segment);
  if (expected === null || expected === rows.reduce((sum, row) => sum + digestTerm(row), 0)) return;
  throw new Damage(`variables of branch ${segment.branchId} are missing, or older than the newest ones`);
}

/** Adds the changes of a transaction to the digest of a branch and returns the new digest; null if it is unknown. */
export async function addToDigest(
  db: Database,
  { branchId, change }: { readonly branchId: string; readonly change: number },
): Promise<number | null> {
  if (!db.verifies) return null;
  return (await changeDigest(db, { branchId, change }))[0]?.variables ?? null;
}

/** The digest at the end of this segment, with which a fork there begins. */
export async function digestOf(db: Database, { branchId, until }: BranchSegment): Promise<number | null> {
  if (!db.verifies) return null;
  if (until === null) return (await digestOfBranch(db, { branchId }))[0]?.variables ?? null;
  const { queryId, soulId, position } = until;
  const [row] = position < 0
    ? await digestBeforeQuery(db, { soulId })
    : await digestAfterIteration(db, { queryId, position });
  if (row) return row.variables;
  throw new Damage(`iteration ${position + 1} of query ${queryId} is missing`);
}
