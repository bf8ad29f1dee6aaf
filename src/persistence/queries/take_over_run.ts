import { sql } from "kysely";
import { Content } from "../content/content.ts";
import type { Database } from "../database/database.ts";
import { fromJson } from "../database/json.ts";
import { checkFence } from "../runs/fence.ts";
import type { QueryMetadata } from "../runs/query_metadata.ts";
import { acceptedFinal } from "./accepted_final.ts";
import { interruptIterations, runningIterations } from "./end_query.ts";
import { dropLease, putLease } from "./leases.ts";
import { spentOf } from "./spent.ts";
import { endLost, type LostRun } from "./sweep.ts";
import type { LeftQuery, ProcessOwner } from "../store/query_store.ts";

type Run = Omit<LostRun, "owner">;

/** `QueryStore.takeOver`, in the transaction `tx`. */
export async function takeOverRun(
  tx: Database,
  { queryId, owner, now }: { readonly queryId: string; readonly owner: ProcessOwner; readonly now: number },
): Promise<LeftQuery | null> {
  const row = await tx.selectFrom("queryState as s").innerJoin("querySoul as q", "q.id", "s.querySoulId")
    .select(["s.id", "s.status", "s.metadata", "s.createdAt", "q.conversationStateId as branchId"])
    .select(tx.holderOf("s.id").as("holder"))
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
