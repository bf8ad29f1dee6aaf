import { compiledRows } from "./_compiled_rows.ts";
import type { Database } from "./_database.ts";
import type { Schema } from "./_schema.ts";

/** A run of a query (`query_state`). */
export interface Run {
  readonly id: string;
  readonly soulId: string;
  readonly version: number;
  readonly status: Schema["queryState"]["status"];
}

/** The newest run of a branch's own queries, which is always one of the last query. */
export async function newestRun(db: Database, branchId: string): Promise<Run | null> {
  const [run] = await compiledRows<Run>(db, {
    name: "newest run of a branch",
    build: () =>
      db.selectFrom("querySoul as q").innerJoin("queryState as s", "s.querySoulId", "q.id")
        .select(["s.id", "q.id as soulId", "s.version", "s.status"]).where("q.conversationStateId", "=", branchId)
        .orderBy("q.rowid", "desc").orderBy("s.version", "desc").limit(1),
    parameters: [branchId, 1],
  });
  return run ?? null;
}

/** The run that was the newest one of the branch when this one began: of the same query, or of the last one before. */
export async function runBefore(db: Database, queryId: string): Promise<string | null> {
  const [run] = await compiledRows(db, {
    name: "run before a run",
    build: () =>
      db.selectFrom("queryState as m").innerJoin("querySoul as o", "o.id", "m.querySoulId")
        .innerJoin("querySoul as q", "q.conversationStateId", "o.conversationStateId")
        .innerJoin("queryState as s", "s.querySoulId", "q.id").select("s.id").where("m.id", "=", queryId)
        .whereRef("q.rowid", "<=", "o.rowid").whereRef("s.id", "<>", "m.id")
        .orderBy("q.rowid", "desc").orderBy("s.version", "desc").limit(1),
    parameters: [queryId, 1],
  });
  return run?.id ?? null;
}
