import { TakenOverError } from "../../domain/errors.ts";
import { namedQuery } from "../database/named_query.ts";
import { Content } from "../content/content.ts";
import type { Database, HeldRun } from "../database/database.ts";
import { fromJson } from "../database/json.ts";
import type { QueryMetadata } from "./query_metadata.ts";
import type { DatabaseSchema } from "../schema/schema.ts";

type Row = HeldRun & Pick<DatabaseSchema["queryState"], "status" | "metadata">;

/** A process that takes a branch over ends the branch's run as lost, in the transaction that takes the lease. A run's
 * row thus shows whether its process still holds the branch, and each write of a run checks it in the same transaction.
 * A node that takes a run over continues it; then its job shows who runs it. Throws `TakenOverError` for a run that this
 * process no longer has. */
export async function checkFence(db: Database, { status, metadata, ...run }: Row): Promise<void> {
  db.checkHolder(run);
  if (status === "running") return;
  const content = new Content(db);
  await content.load([metadata]);
  const { reason } = fromJson<QueryMetadata>(metadata === null ? null : content.text(metadata));
  if (reason === "process_lost") throw new TakenOverError(run.id);
}

const runToWrite = namedQuery((db, { queryId }: { readonly queryId: string }) =>
  db.selectFrom("queryState as s").innerJoin("querySoul as q", "q.id", "s.querySoulId")
    .select(["s.id", "s.status", "s.metadata", "q.conversationStateId as branchId"]).where("s.id", "=", queryId)
    .select([db.holderOf("s.id", false).as("holder"), db.versionOf("s").as("version")])
);

/** The run that an iteration is written for, in `Database.writeRun`. Throws if it has ended. */
export async function runningRun(
  tx: Database,
  queryId: string,
): Promise<{ readonly branchId: string; readonly metadata: string | null }> {
  const [row] = await runToWrite(tx, { queryId });
  if (!row) throw new Error(`Cannot store an iteration of query ${queryId}: it does not exist`);
  await checkFence(tx, row);
  if (row.status !== "running") throw new Error(`Cannot store an iteration of query ${queryId}: it has ended`);
  return row;
}

/** The same check for what a run writes besides its iterations, possibly after its end. */
export async function checkRun(
  tx: Database,
  { queryId, iterationId }: { readonly queryId?: string | null; readonly iterationId?: string | null },
): Promise<void> {
  if (!queryId && !iterationId) return;
  const runs = tx.selectFrom("queryState as s").select(["s.id", "s.status", "s.metadata"])
    .select(tx.holderOf("s.id").as("holder")).forShare("s");
  const row =
    await (iterationId
      ? runs.innerJoin("iteration as i", "i.queryStateId", "s.id").where("i.id", "=", iterationId)
      : runs.where("s.id", "=", queryId ?? "")).executeTakeFirst();
  if (row) await checkFence(tx, row);
}
