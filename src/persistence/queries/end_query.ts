import type { QueryEnd } from "../../domain/query/query_schemas.ts";
import { Content } from "../content/content.ts";
import type { Database } from "../database/database.ts";
import { fromJson, toJson } from "../database/json.ts";
import { namedQuery } from "../database/named_query.ts";
import { updateRow } from "../database/update_row.ts";
import { checkFence } from "../runs/fence.ts";
import type { QueryMetadata } from "../runs/query_metadata.ts";
import type { EndOfIteration } from "../store/query_store.ts";
import { firstWords } from "./first_words.ts";
import { endIteration } from "./iterations.ts";
import { dropLease } from "./leases.ts";

const SUBTITLE_CHARS = 60;

/** A run, once for each of its iterations that have not ended. */
const queryToEnd = namedQuery((db, { queryId }: { readonly queryId: string }) =>
  db.selectFrom("queryState as s").innerJoin("querySoul as q", "q.id", "s.querySoulId")
    .leftJoin("iteration as i", (join) => join.onRef("i.queryStateId", "=", "s.id").on("i.status", "=", "running"))
    .select(["s.status", "q.conversationStateId as branchId", "s.metadata", "i.id as iterationId"])
    .where("s.id", "=", queryId)
    .select(db.holderOf("s.id").as("holder")).forNoKeyUpdate("s")
);

/** Ends a running query in the transaction `db`, together with an iteration that was left running; a query that is done
 * cannot have one. A query that has ended stays as it is. Throws `TakenOverError` if another process ended it. */
export async function endQuery(
  db: Database,
  { queryId, end, now }: { readonly queryId: string; readonly end: QueryEnd; readonly now: number },
): Promise<void> {
  const rows = await queryToEnd(db, { queryId });
  const [row] = rows;
  if (!row) throw new Error(`Cannot end query ${queryId}: it does not exist`);
  await checkFence(db, { ...row, id: queryId });
  if (row.status !== "running") return;
  const left = rows.flatMap(({ iterationId }) => iterationId === null ? [] : { id: iterationId });
  if (end.status === "done" && left.length > 0) {
    throw new Error(`Cannot end query ${queryId}: its last iteration is not stored`);
  }
  await storeEnd(db, { ...row, queryId, end });
  await interruptIterations(left, { db, now });
}

/** Ends a running query together with its last iteration, in the transaction `db` of its run. Throws like `endQuery`. */
export async function endWithIteration(
  db: Database,
  { end, iterationId, iteration, now }: EndOfIteration & { readonly end: QueryEnd; readonly now: number },
): Promise<void> {
  await storeEnd(db, { ...await endIteration(db, { iterationId, end: iteration, now }), end });
}

async function storeEnd(
  db: Database,
  { queryId, branchId, metadata, end: { status, ...facts } }: {
    readonly queryId: string;
    readonly branchId: string;
    /** As it was read. */
    readonly metadata: string | null;
    readonly end: QueryEnd;
  },
): Promise<void> {
  const content = new Content(db);
  await content.load([metadata]);
  const before = fromJson<QueryMetadata>(metadata === null ? null : content.text(metadata));
  const changes = {
    status,
    subtitle: await content.putText(firstWords(facts.answer, SUBTITLE_CHARS)),
    metadata: await content.putText(toJson({ ...before, ...facts, answer: facts.answer.toWellFormed() })),
  };
  await updateRow(db, "queryState", { id: queryId, changes });
  await dropLease(db, branchId);
}

/** Iterations of a run that have not ended. */
export const runningIterations = namedQuery((db, { queryId }: { readonly queryId: string }) =>
  db.selectFrom("iteration").select("id").where("queryStateId", "=", queryId).where("status", "=", "running")
);

/** Ends iterations that were left running. */
export async function interruptIterations(
  iterations: readonly { readonly id: string }[],
  { db, now }: { readonly db: Database; readonly now: number },
): Promise<void> {
  for (const { id } of iterations) {
    await updateRow(db, "iteration", { id, changes: { status: "interrupted", finishedAt: now } });
  }
}
