import { type Expression, type ExpressionBuilder, sql, type SqlBool } from "kysely";
import { UsageError } from "../domain/errors.ts";
import { newId } from "../domain/kit/ids.ts";
import { countedChoice } from "../domain/kit/text.ts";
import type { BranchPoint, NewFork } from "../domain/records/conversations.ts";
import { Content } from "./long_values.ts";
import { Damage, type Database, fromJson, insertRow, namedQuery, toJson } from "./database.ts";
import type { DatabaseSchema } from "./tables.ts";

export interface ForkPoint {
  readonly queryId: string;
  readonly soulId: string;
  readonly soulCreatedAt: number;
  /** The branch shows iterations up to this 0-based position. Position -1 is before the query. */
  readonly position: number;
}

export interface BranchSegment {
  readonly branchId: string;
  readonly until: ForkPoint | null;
}

const parentOf = namedQuery((db, { branchId }: { readonly branchId: string }) =>
  db.selectFrom("conversationState as b").select(["b.parentStateId", "b.metadata"]).where("b.id", "=", branchId)
);

export async function readLineage(
  db: Database,
  branchId: string,
): Promise<readonly [BranchSegment, ...BranchSegment[]]> {
  const lineage: [BranchSegment, ...BranchSegment[]] = [{ branchId, until: null }];
  const met = new Set([branchId]);
  for (let id: string = branchId;;) {
    const [row] = await parentOf(db, { branchId: id });
    if (row === undefined && lineage.length > 1) {
      throw new Damage(`branch ${id}, from which another branch begins, is missing`);
    }
    const parent = row?.parentStateId;
    const { fork } = fromJson<{ readonly fork: ForkPoint }>(row?.metadata ?? null);
    if (!parent || !fork || met.has(parent)) return lineage;
    lineage.push({ branchId: parent, until: fork });
    met.add(parent);
    id = parent;
  }
}

export async function readLineageAt(
  db: Database,
  { parentId, ...until }: ForkPoint & { readonly parentId: string },
): Promise<readonly [BranchSegment, ...BranchSegment[]]> {
  const [{ branchId }, ...ancestors] = await readLineage(db, parentId);
  return [{ branchId, until }, ...ancestors];
}

type Condition = Expression<SqlBool>;
type Joined = DatabaseSchema & { q: DatabaseSchema["querySoul"]; s: DatabaseSchema["queryState"] };

/** Runs of another branch count, because a run of the parent stores the first variables of a sub-query. `s` and `q` are
 * `query_state` and `query_soul`. */
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

/** `i` is `iteration`, or another table with the position of an iteration in run `s`. */
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

export async function moveToFront(
  tx: Database,
  { conversationId: id, activity, metadata }: {
    readonly conversationId: string;
    readonly activity: number;
    readonly metadata: string | null;
  },
): Promise<void> {
  if (fromJson<{ readonly child: boolean }>(metadata).child) return;
  await tx.dialect.moveToFront(tx, { id, activity });
}

export function createFork(
  db: Database,
  { fork, now }: { readonly fork: NewFork; readonly now: number },
): Promise<string> {
  return db.write(async (tx) => {
    const { parentId, ...point } = await readPoint(tx, { ...fork, action: "fork at" });
    const parent = await tx.selectFrom("conversationState as b")
      .innerJoin("conversationSoul as c", "c.id", "b.conversationSoulId")
      .select(["b.conversationSoulId", "b.title", "b.metadata", "c.activity"])
      .where("b.id", "=", parentId).executeTakeFirstOrThrow();
    await moveToFront(tx, { ...parent, conversationId: parent.conversationSoulId });
    const newest = await tx.selectFrom("conversationState").select((s) => s.fn.max("version").as("version"))
      .where("conversationSoulId", "=", parent.conversationSoulId).executeTakeFirst();
    const id = newId();
    const title = fork.title === undefined ? parent.title : await new Content(tx).putText(fork.title);
    await insertRow(tx, "conversationState", {
      id,
      conversationSoulId: parent.conversationSoulId,
      parentStateId: parentId,
      title,
      version: (newest?.version ?? 0) + 1,
      metadata: toJson({ fork: point }),
      createdAt: now,
      queries: 0,
    });
    return id;
  });
}

type Point = ForkPoint & { readonly parentId: string };

/** Rejects with `UsageError` for a point that does not exist or is not final; the message names `action`. */
export async function readPoint(
  tx: Database,
  { queryId, position, action }: BranchPoint & { readonly action: "fork at" | "show" },
): Promise<Point> {
  const query = await tx.selectFrom("queryState as s").innerJoin("querySoul as q", "q.id", "s.querySoulId")
    .select(["s.status", "q.id as soulId", "q.createdAt as soulCreatedAt", "q.conversationStateId as parentId"])
    .where("s.id", "=", queryId).executeTakeFirst();
  if (!query) throw new UsageError(`Cannot ${action} request ${queryId}: no request has this id`);
  const { status, ...facts } = query;
  const rows = await tx.selectFrom("iteration").select(["position", "status"])
    .where("queryStateId", "=", queryId).orderBy("position").execute();
  const last = rows.at(-1)?.position ?? -1;
  const at = position ?? last;
  if (at === -1) return { ...facts, queryId, position: -1 };
  const row = rows.find((one) => one.position === at), step = `step ${at + 1} of request ${queryId}`;
  if (!row) {
    throw new UsageError(`Cannot ${action} ${step}: the request has ${countedChoice(last + 1, "step", 0)}`);
  }
  if (row.status === "running") {
    throw new UsageError(`Cannot ${action} ${step}: the step is still running; wait until it ends`);
  }
  if (position === null && status === "running") {
    throw new UsageError(
      `Cannot ${action} request ${queryId}: the request is still running; wait until it ends, or name one of its steps`,
    );
  }
  return { ...facts, queryId, position: at };
}

const numberOfQuery = namedQuery((db, { soulId }: { readonly soulId: string }) =>
  db.selectFrom("querySoul as q").select("q.number").where("q.id", "=", soulId)
);

const countOfBranch = namedQuery((db, { branchId }: { readonly branchId: string }) =>
  db.selectFrom("conversationState as b").select("b.queries").where("b.id", "=", branchId)
);

export async function queriesIn(db: Database, { branchId, until }: BranchSegment): Promise<number> {
  if (until === null) return (await countOfBranch(db, { branchId }))[0]?.queries ?? 0;
  const [row] = await numberOfQuery(db, { soulId: until.soulId });
  if (!row) throw new Damage(`request ${until.queryId}, at which a branch begins, is missing`);
  return until.position < 0 ? row.number : row.number + 1;
}
