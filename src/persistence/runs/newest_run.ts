import { sql } from "kysely";
import { namedQuery } from "../database/named_query.ts";
import { Damage } from "../schema/damage.ts";
import type { Database } from "../database/database.ts";
import { queriesIn } from "./query_numbers.ts";

/** The newest run of a branch's own queries. It always belongs to the last query. Throws `Damage` if it is missing. */
export async function newestRun(db: Database, branchId: string): Promise<{ readonly id: string } | null> {
  const number = await queriesIn(db, { branchId, until: null }) - 1;
  if (number < 0) return null;
  const [run] = await runOfQuery(db, { branchId, number });
  if (!run) throw new Damage(`query ${number + 1} of branch ${branchId} is missing`);
  return run;
}

const runOfQuery = namedQuery((db, { branchId, number }: { readonly branchId: string; readonly number: number }) =>
  db.selectFrom("querySoul as q").innerJoin("queryState as s", "s.querySoulId", "q.id").select("s.id")
    .where("q.conversationStateId", "=", branchId).where("q.number", "=", number)
    .where("s.version", "=", sql<number>`q.runs - 1`)
);
