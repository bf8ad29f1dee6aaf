import type { Content } from "../content/content.ts";
import { namedQuery } from "../database/named_query.ts";
import { Damage } from "../schema/damage.ts";
import type { Database } from "../database/database.ts";
import { intact } from "../schema/intact.ts";
import { verifiedNewest } from "./iteration_tally.ts";
import type { DatabaseSchema } from "../schema/schema.ts";

type Found =
  & Pick<DatabaseSchema["iteration"], "id" | "queryStateId" | "status" | "metadata" | "position" | "llmThinking">
  & {
    readonly states: number;
  };

const iterationAt = namedQuery((db, { queryId, place }: { readonly queryId: string; readonly place: number }) =>
  // The row that the index `k` leads to contains its own position.
  db.selectFrom("iteration as k").innerJoin("iteration as i", "i.rowid", "k.rowid")
    .select(["i.id", "i.queryStateId", "i.status", "i.metadata", "i.position", "i.llmThinking", "i.states"])
    .where("k.queryStateId", "=", queryId).where("k.position", "=", place).select(intact("iteration", "i"))
);

const newestOf = namedQuery((db, { queryId }: { readonly queryId: string }) =>
  db.selectFrom("iteration as i")
    .select(["i.id", "i.queryStateId", "i.status", "i.metadata", "i.position", "i.llmThinking", "i.states"])
    .where("i.queryStateId", "=", queryId).orderBy("i.position", "desc").limit(1)
);

/** The newest iteration of a run. */
export async function lastIteration(db: Database, queryId: string): Promise<Found | null> {
  if (!db.verifies) return (await newestOf(db, { queryId }))[0] ?? null;
  for await (const last of newestIterations(db, queryId)) return last;
  return null;
}

interface Wanted {
  readonly queryId: string;
  /** The position at which iterations no longer count. */
  readonly until: number;
  readonly most: number;
}

const thinkingsBefore = namedQuery((db, { queryId, until, most }: Wanted) =>
  db.selectFrom("iteration as i").select("i.llmThinking").where("i.queryStateId", "=", queryId)
    .where("i.position", "<", until).where("i.llmThinking", "<>", "").orderBy("i.position", "desc").limit(most)
);

/** The newest thinkings of a run, oldest first. */
export async function newestThinkings(content: Content, { queryId, until, most }: Wanted): Promise<string[]> {
  const { db } = content;
  const cells: string[] = [];
  const before = Math.min(until, Number.MAX_SAFE_INTEGER);
  const rows = db.verifies
    ? newestIterations(db, queryId, before)
    : await thinkingsBefore(db, { queryId, until: before, most });
  for await (const { llmThinking } of rows) {
    if (llmThinking) cells.unshift(llmThinking);
    if (cells.length === most) break;
  }
  await content.load(cells);
  return cells.map((cell) => content.text(cell));
}

/** The iterations of a run before `until`, newest first. Each is looked up by its position: an index scan would skip
 * those that a damaged key hides. */
async function* newestIterations(db: Database, queryId: string, until = Infinity): AsyncGenerator<Found> {
  for (let place = Math.min(await verifiedNewest(db, queryId), until - 1); place >= 0; place--) {
    const [found] = await iterationAt(db, { queryId, place });
    if (found?.position !== place || found.queryStateId !== queryId) {
      throw new Damage(`iteration ${place + 1} of query ${queryId} is missing`);
    }
    yield found;
  }
}
