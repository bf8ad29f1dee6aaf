import { sql } from "kysely";
import { namedQuery } from "../database/named_query.ts";
import { Damage } from "../schema/damage.ts";
import type { Database } from "../database/database.ts";
import { intact } from "../schema/intact.ts";
import { queriesIn } from "./query_numbers.ts";
import type { DatabaseSchema } from "../schema/schema.ts";

/** A run of a query (`query_state`). */
export interface RunRow {
  readonly id: string;
  readonly soulId: string;
  readonly version: number;
  readonly status: DatabaseSchema["queryState"]["status"];
}

/** The newest run of a branch's own queries. It always belongs to the last query. */
export async function newestRun(db: Database, branchId: string): Promise<RunRow | null> {
  const to = await queriesIn(db, { branchId, until: null });
  return to === 0 ? null : await runAt(db, { branchId, number: to - 1, version: null });
}

interface Place {
  readonly branchId: string;
  readonly number: number;
  /** Null for the newest. */
  readonly version: number | null;
}

const runOfQuery = namedQuery((db, { branchId, number, version }: Place) =>
  db.selectFrom("querySoul as q").innerJoin("queryState as s", "s.querySoulId", "q.id")
    .select(["s.id", "q.id as soulId", "s.version", "s.status"])
    .where("q.conversationStateId", "=", branchId).where("q.number", "=", number)
    .where((on) => on("s.version", "=", on.fn.coalesce(on.val(version), sql<number>`q.runs - 1`)))
    .select(intact("queryState", "s")).select(intact("querySoul", "q"))
);

/** The run with a version of a query. Throws `Damage` if it is missing. */
async function runAt(db: Database, place: Place): Promise<RunRow> {
  const [run] = await runOfQuery(db, place);
  return run ?? lost(place);
}

function lost({ branchId, number }: Pick<Place, "branchId" | "number">): never {
  throw new Damage(`query ${number + 1} of branch ${branchId} is missing`);
}
