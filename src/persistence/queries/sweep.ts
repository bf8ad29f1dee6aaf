import { sql } from "kysely";
import { acceptedFinal } from "./accepted_final.ts";
import { Content } from "../content/content.ts";
import type { Database } from "../database/database.ts";
import { endQuery } from "./end_query.ts";
import { fromJson } from "../database/json.ts";
import { type IsAlive, isAliveNow, isSame } from "./leases.ts";
import type { QueryMetadata } from "../runs/query_metadata.ts";
import { spentOf } from "./spent.ts";
import type { ProcessOwner } from "../store/query_store.ts";

export interface LostRun {
  readonly queryId: string;
  readonly branchId: string;
  readonly createdAt: number;
  /** The process that holds the branch; a running query is lost if nobody holds its branch. */
  readonly owner: ProcessOwner | null;
  readonly facts: Partial<QueryMetadata>;
}

/** `Store.sweepLost`. Skips a query that ends in the meantime, and those that another node continues. */
export async function sweepLost(
  db: Database,
  { isAlive, now }: { readonly isAlive: IsAlive; readonly now: () => number },
): Promise<number> {
  if ((await lostOf(db, { isAlive, now: now() })).length === 0) return 0;
  return await db.write(async (tx) => {
    const lost = await lostOf(tx, { isAlive, now: now() });
    for (const query of lost) await endLost(tx, { ...query, now: now() });
    return lost.length;
  });
}

async function lostOf(
  db: Database,
  { isAlive, now }: { readonly isAlive: IsAlive; readonly now: number },
): Promise<readonly LostRun[]> {
  const lost: LostRun[] = [];
  for (const query of await running(db)) {
    const { owner } = query;
    if (owner === null || !await isAliveNow(db, { owner, isAlive, now })) lost.push(query);
  }
  return lost;
}

/** Ends what a process left running, in the transaction `tx`: all of it if that process no longer exists, else only
 * what runs on this branch. */
export async function endLeftOf(
  tx: Database,
  { owner, gone, branchId, now }: {
    readonly owner: ProcessOwner;
    readonly gone: boolean;
    readonly branchId: string;
    readonly now: number;
  },
): Promise<void> {
  for (const query of await running(tx)) {
    const its = query.owner !== null && isSame(query.owner, owner);
    if (query.branchId === branchId || (gone && its)) await endLost(tx, { ...query, now });
  }
}

/** Deeper queries come first: what a child has spent is part of what its parent has spent. Without those that have a
 * job: a node continues them. */
async function running(db: Database): Promise<LostRun[]> {
  const isOurs = db.kind === "postgres"
    ? sql<boolean>`NOT EXISTS (SELECT FROM job WHERE query_id = s.id)`
    : sql<boolean>`true`;
  const rows = await db.selectFrom("queryState as s").innerJoin("querySoul as q", "q.id", "s.querySoulId")
    .leftJoin("childBranch as c", "c.conversationStateId", "q.conversationStateId")
    .leftJoin("lease as l", "l.conversationStateId", "q.conversationStateId")
    .select(["s.id", "s.createdAt", "s.metadata", "q.conversationStateId as branchId", "c.depth"])
    .select(["l.host", "l.space", "l.pid", "l.started", "l.session"])
    .where("s.status", "=", "running").where(isOurs).execute();
  const content = new Content(db);
  await content.load(rows.map((row) => row.metadata));
  return rows.sort((a, b) => (b.depth ?? 0) - (a.depth ?? 0)).map((row) => {
    const { id, branchId, createdAt, metadata, host, space, pid, started, session } = row;
    const facts = fromJson<QueryMetadata>(content.text(metadata ?? "{}"));
    const isHeld = host !== null && space !== null && pid !== null && started !== null && session !== null;
    return { queryId: id, branchId, createdAt, owner: isHeld ? { host, space, pid, started, session } : null, facts };
  });
}

/** Ends a run whose process is gone: with its answer if it had one, else as interrupted. */
export async function endLost(
  tx: Database,
  { queryId, createdAt, facts, now }: Omit<LostRun, "owner" | "branchId"> & { readonly now: number },
): Promise<void> {
  const kept = await tx.selectFrom("iteration")
    .select((i) => [i.fn.countAll<number>().as("count"), i.fn.max("finishedAt").as("last")])
    .where("queryStateId", "=", queryId).where("status", "<>", "running").executeTakeFirstOrThrow();
  const iterations = kept.count === 1 ? "1 finished iteration is" : `${kept.count} finished iterations are`;
  const answered = await acceptedFinal(tx, queryId);
  await endQuery(tx, {
    queryId,
    now,
    end: {
      ...answered ?? {
        status: "interrupted",
        reason: "process_lost",
        answer:
          `The process that worked on this request ended or stopped responding before it was done. ${iterations} kept.`,
        answerType: "text",
        confidence: "low",
        notes: [],
      },
      iterations: kept.count,
      ...await spentOf(tx, { queryId, facts }),
      // The time of its death is unknown; the end of its last iteration is known.
      ms: Math.max(0, (kept.last ?? createdAt) - createdAt),
    },
  });
}
