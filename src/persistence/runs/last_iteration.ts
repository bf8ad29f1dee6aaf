import type { Content } from "../content/content.ts";
import { namedQuery } from "../database/named_query.ts";
import type { Database } from "../database/database.ts";
import type { DatabaseSchema } from "../schema/schema.ts";

type Found = Pick<DatabaseSchema["iteration"], "id" | "status" | "metadata" | "position">;

const newestOf = namedQuery((db, { queryId }: { readonly queryId: string }) =>
  db.selectFrom("iteration as i").select(["i.id", "i.status", "i.metadata", "i.position"])
    .where("i.queryStateId", "=", queryId).orderBy("i.position", "desc").limit(1)
);

/** The newest iteration of a run. */
export async function lastIteration(db: Database, queryId: string): Promise<Found | null> {
  return (await newestOf(db, { queryId }))[0] ?? null;
}

const THINKINGS = 2;

interface Wanted {
  readonly queryId: string;
  /** The position at which iterations no longer count. */
  readonly until: number;
}

const thinkingsBefore = namedQuery((db, { queryId, until }: Wanted) =>
  db.selectFrom("iteration as i").select("i.llmThinking").where("i.queryStateId", "=", queryId)
    .where("i.position", "<", until).where("i.llmThinking", "<>", "").orderBy("i.position", "desc").limit(THINKINGS)
);

/** The two newest thinkings of a run, oldest first. */
export async function newestThinkings(content: Content, { queryId, until }: Wanted): Promise<string[]> {
  const before = Math.min(until, Number.MAX_SAFE_INTEGER);
  const rows = await thinkingsBefore(content.db, { queryId, until: before });
  const cells = rows.map(({ llmThinking }) => llmThinking ?? "").reverse();
  await content.load(cells);
  return cells.map((cell) => content.text(cell));
}
