import { type Expression, type ExpressionBuilder, sql, type SqlBool } from "kysely";
import { namedQuery } from "../database/named_query.ts";
import { Damage } from "../schema/damage.ts";
import type { Database } from "../database/database.ts";
import { fromJson } from "../database/json.ts";
import type { DatabaseSchema } from "../schema/schema.ts";

/** The point at which a branch left its parent; `conversation_state.metadata.fork`. */
export interface ForkPoint {
  /** The run (`query_state.id`) and the query (`query_soul`) at which the fork was made. */
  readonly queryId: string;
  readonly soulId: string;
  /** Stored in archives. */
  readonly soulCreatedAt: number;
  /** The last iteration that the branch has (0-based). -1 if it has no iteration of this query, and then not the query
   * either. */
  readonly position: number;
}

/** A branch as a descendant sees it: all of it, or the part that existed at the fork. */
export interface BranchSegment {
  readonly branchId: string;
  readonly until: ForkPoint | null;
}

const parentOf = namedQuery((db, { branchId }: { readonly branchId: string }) =>
  db.selectFrom("conversationState as b").select(["b.parentStateId", "b.metadata"]).where("b.id", "=", branchId)
);

/** A branch and its ancestors, the branch first. */
export async function readLineage(
  db: Database,
  branchId: string,
): Promise<readonly [BranchSegment, ...BranchSegment[]]> {
  const lineage: [BranchSegment, ...BranchSegment[]] = [{ branchId, until: null }];
  const met = new Set([branchId]);
  for (let id: string = branchId;;) {
    const [row] = await parentOf(db, { branchId: id });
    if (row === undefined && lineage.length > 1) throw new Damage(`branch ${id}, which others left, is missing`);
    const parent = row?.parentStateId;
    const { fork } = fromJson<{ readonly fork: ForkPoint }>(row?.metadata ?? null);
    if (!parent || !fork || met.has(parent)) return lineage;
    lineage.push({ branchId: parent, until: fork });
    met.add(parent);
    id = parent;
  }
}

/** A moment of a branch as a fork there would see it. */
export async function readLineageAt(
  db: Database,
  { parentId, ...until }: ForkPoint & { readonly parentId: string },
): Promise<readonly [BranchSegment, ...BranchSegment[]]> {
  const [{ branchId }, ...ancestors] = await readLineage(db, parentId);
  return [{ branchId, until }, ...ancestors];
}

type Condition = Expression<SqlBool>;
type Joined = DatabaseSchema & { q: DatabaseSchema["querySoul"]; s: DatabaseSchema["queryState"] };

/** Selects the runs that a segment shows: of a retried query the newest run, and of the fork's query the run of the
 * fork. A child query's branch begins with rows of a run in its parent's. `s` and `q` are `query_state` and
 * `query_soul`. */
export function isShownRun<D extends Joined>(
  on: ExpressionBuilder<D, "q" | "s">,
  { branchId, until }: BranchSegment,
): Condition {
  const eb = on as unknown as ExpressionBuilder<Joined, "q" | "s">;
  const newest = eb.or([
    sql<boolean>`${sql.ref("s.version")} = ${sql.ref("q.runs")} - 1`,
    eb("q.conversationStateId", "<>", branchId),
  ]);
  if (until === null) return newest;
  const before = eb("q.rowid", "<", eb.selectFrom("querySoul as u").select("u.rowid").where("u.id", "=", until.soulId));
  return eb.or([eb.and([newest, before]), ...(until.position < 0 ? [] : [eb("s.id", "=", until.queryId)])]);
}

type Positioned = { readonly i: { readonly position: number } };

/** Selects the iterations that a segment shows; `i` is `iteration`, or another table with the position of an iteration
 * in run `s`. */
export function isShownIteration<D extends Joined & Positioned>(
  on: ExpressionBuilder<D, "q" | "s" | "i">,
  segment: BranchSegment,
): Condition {
  const eb = on as unknown as ExpressionBuilder<Joined & Positioned, "q" | "s" | "i">;
  const shown = isShownRun(eb, segment);
  const { until } = segment;
  if (until === null) return shown;
  return eb.and([shown, eb.or([eb("s.id", "<>", until.queryId), eb("i.position", "<=", until.position)])]);
}
