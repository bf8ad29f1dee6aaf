import { compiledRows } from "./_compiled_rows.ts";
import { Content } from "./_content.ts";
import type { Database } from "./_database.ts";
import { checkFence } from "./_fence.ts";
import { firstWords } from "./_first_words.ts";
import { fromJson, toJson } from "./_json.ts";
import type { QueryMetadata } from "./_query_metadata.ts";
import { dropLease } from "./_leases.ts";
import type { QueryEnd } from "../domain/stored_query.ts";

const SUBTITLE_CHARS = 60;

/** Ends a running query in the transaction `db`, and with it an iteration that was left running, which a query that is
 * done cannot have. One that has ended stays as it is. Throws `TakenOverError` where another process ended it. */
export async function endQuery(
  db: Database,
  { queryId, end, now }: { readonly queryId: string; readonly end: QueryEnd; readonly now: number },
): Promise<void> {
  const { status, ...facts } = end;
  const [row] = await compiledRows(db, {
    name: "query to end",
    build: () =>
      db.selectFrom("queryState as s").innerJoin("querySoul as q", "q.id", "s.querySoulId")
        .select(["s.status", "q.conversationStateId as branchId", "s.metadata"]).where("s.id", "=", queryId),
    parameters: [queryId],
  });
  if (!row) throw new Error(`Cannot end query ${queryId}: it does not exist`);
  if (row.status !== "running") return await checkFence(db, { ...row, id: queryId });
  const content = new Content(db);
  await content.load([row.metadata]);
  const before = fromJson<QueryMetadata>(row.metadata === null ? null : content.text(row.metadata));
  const cells = {
    status,
    subtitle: await content.putText(firstWords(end.answer, SUBTITLE_CHARS)),
    metadata: await content.putText(toJson({ ...before, ...facts, answer: facts.answer.toWellFormed() })),
  };
  await compiledRows(db, {
    name: "end a query",
    build: () => db.updateTable("queryState").set(cells).where("id", "=", queryId),
    parameters: [...Object.values(cells), queryId],
  });
  const left = await interruptIterations(db, { queryId, now });
  if (status === "done" && left > 0) throw new Error(`Cannot end query ${queryId}: its last iteration is not stored`);
  await dropLease(db, row.branchId);
}

async function interruptIterations(
  db: Database,
  { queryId, now }: { readonly queryId: string; readonly now: number },
): Promise<number> {
  const left = await compiledRows(db, {
    name: "interrupt iterations",
    build: () =>
      db.updateTable("iteration").set({ status: "interrupted", finishedAt: now })
        .where("queryStateId", "=", queryId).where("status", "=", "running").returning("id"),
    parameters: ["interrupted", now, queryId, "running"],
  });
  return left.length;
}
