import { sql } from "kysely";
import type { QueryEnd } from "../domain/query/query_schemas.ts";
import { Content } from "./content.ts";
import { type Database, fromJson } from "./database.ts";
import { endQuery, interruptIterations, runningIterations, spentOf } from "./queries.ts";
import {
  checkFence,
  dropLease,
  type IsAlive,
  isAliveNow,
  isSame,
  lastIteration,
  putLease,
  type QueryMetadata,
} from "./runs.ts";
import type { LeftQuery, ProcessOwner } from "./store.ts";

interface LostRun {
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
  const rows = await db.selectFrom("queryState as s").innerJoin("querySoul as q", "q.id", "s.querySoulId")
    .leftJoin("childBranch as c", "c.conversationStateId", "q.conversationStateId")
    .leftJoin("lease as l", "l.conversationStateId", "q.conversationStateId")
    .select(["s.id", "s.createdAt", "s.metadata", "q.conversationStateId as branchId", "c.depth"])
    .select(["l.host", "l.space", "l.pid", "l.started", "l.session"])
    .where("s.status", "=", "running").where(db.dialect.hasNoJob("s.id")).execute();
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
async function endLost(
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

type Run = Omit<LostRun, "owner">;

/** `QueryStore.takeOver`, in the transaction `tx`. */
export async function takeOverRun(
  tx: Database,
  { queryId, owner, now }: { readonly queryId: string; readonly owner: ProcessOwner; readonly now: number },
): Promise<LeftQuery | null> {
  const row = await tx.selectFrom("queryState as s").innerJoin("querySoul as q", "q.id", "s.querySoulId")
    .select(["s.id", "s.status", "s.metadata", "s.createdAt", "q.conversationStateId as branchId"])
    .select(tx.dialect.holderOf("s.id").as("holder"))
    .where("s.id", "=", queryId).forNoKeyUpdate("s").executeTakeFirst();
  if (!row) return null;
  await checkFence(tx, row);
  if (row.status !== "running") return null;
  for (const below of await runsBelow(tx, queryId)) await endLost(tx, { ...below, now });
  const run = await runOf(tx, row);
  if (await acceptedFinal(tx, queryId)) {
    await endLost(tx, { ...run, now });
    return null;
  }
  const spent = await spentOf(tx, run);
  const { branchId } = run;
  await interruptIterations(await runningIterations(tx, { queryId }), { db: tx, now });
  await dropLease(tx, branchId);
  await putLease(tx, { branchId, owner, now });
  return { ...spent, subcalls: await countSubcalls(tx, queryId) };
}

interface Row extends Pick<Run, "branchId" | "createdAt"> {
  readonly id: string;
  readonly metadata: string | null;
}

async function runOf(tx: Database, { id, metadata, branchId, createdAt }: Row): Promise<Run> {
  const content = new Content(tx);
  await content.load([metadata]);
  return { queryId: id, branchId, createdAt, facts: fromJson<QueryMetadata>(content.text(metadata ?? "{}")) };
}

/** The running queries that blocks of this one started, deepest first: what one has spent is part of what its parent
 * has. */
async function runsBelow(tx: Database, queryId: string): Promise<readonly Run[]> {
  const rows = await tx.selectFrom("childBranch as c").innerJoin("iteration as i", "i.id", "c.iterationId")
    .innerJoin("querySoul as q", "q.conversationStateId", "c.conversationStateId")
    .innerJoin("queryState as s", "s.querySoulId", "q.id")
    .select(["s.id", "s.metadata", "s.createdAt", "q.conversationStateId as branchId"])
    .where("i.queryStateId", "=", queryId).where("s.status", "=", "running").execute();
  const found: Run[] = [];
  for (const row of rows) found.push(...await runsBelow(tx, row.id), await runOf(tx, row));
  return found;
}

async function countSubcalls(tx: Database, queryId: string): Promise<number> {
  const { rows: [row] } = await sql<{ readonly count: number }>`
    SELECT (SELECT count(*) FROM sub_call c JOIN iteration i ON i.id = c.iteration_id WHERE i.query_state_id = ${queryId})
      + (SELECT count(*) FROM child_branch c JOIN iteration i ON i.id = c.iteration_id
         WHERE i.query_state_id = ${queryId}) AS count`.execute(tx);
  return row?.count ?? 0;
}

/** `iteration.metadata` of an iteration whose final was accepted. */
interface FinalMetadata {
  readonly outcome: string;
  readonly last: boolean;
  readonly answerType: QueryEnd["answerType"];
  readonly confidence: QueryEnd["confidence"];
  readonly answerNotes: readonly string[];
}

/** The end of a query that was complete although its process was lost: its last iteration is stored with an accepted
 * final. Null without an accepted final, and for the fallback call, whose reason is unknown. */
async function acceptedFinal(
  tx: Database,
  queryId: string,
): Promise<Pick<QueryEnd, "status" | "reason" | "answer" | "answerType" | "confidence" | "notes"> | null> {
  const last = await lastIteration(tx, queryId);
  if (last?.status !== "done") return null;
  const content = new Content(tx);
  await content.load([last.metadata]);
  const facts = fromJson<FinalMetadata>(content.text(last.metadata ?? "{}"));
  if (facts.outcome !== "final" || facts.last) return null;
  const rows = await tx.selectFrom("expressionState as e")
    .innerJoin("expressionSoul as s", "s.id", "e.expressionSoulId")
    .select(["e.result", "s.name"]).where("e.iterationId", "=", last.id)
    .execute();
  const stored = rows.find(({ name }) => name === "$answer");
  if (!stored?.result) return null;
  await content.load([stored.result]);
  return {
    status: "done",
    reason: "answered",
    answer: new TextDecoder().decode(content.bytes(stored.result)),
    answerType: facts.answerType ?? "text",
    confidence: facts.confidence ?? "low",
    notes: facts.answerNotes ?? [],
  };
}
