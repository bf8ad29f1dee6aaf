import { sql } from "kysely";
import { NO_USAGE } from "../../domain/query/model_call.ts";
import type { StoredQuery } from "../../domain/query/stored_query.ts";
import { type BranchSegment, type ForkPoint, isShownRun } from "../branches/lineage.ts";
import type { Content } from "../content/content.ts";
import type { Database } from "../database/database.ts";
import { fromJson } from "../database/json.ts";
import { namedQuery } from "../database/named_query.ts";
import type { QueryMetadata } from "../runs/query_metadata.ts";
import { queriesIn } from "../runs/query_numbers.ts";
import type { DatabaseSchema } from "../schema/schema.ts";
import { spentUntil } from "./spent.ts";

export interface QueryRow {
  readonly queryId: string;
  readonly conversationId: string;
  readonly branchId: string;
  readonly query: string | null;
  readonly status: DatabaseSchema["queryState"]["status"];
  readonly metadata: string | null;
  readonly soulMetadata: string | null;
  readonly createdAt: number;
}

/** Selects runs of queries. */
function queryRows(db: Database) {
  return db.selectFrom("queryState as s")
    .innerJoin("querySoul as q", "q.id", "s.querySoulId")
    .innerJoin("conversationState as c", "c.id", "q.conversationStateId")
    .select(["s.id as queryId", "c.conversationSoulId as conversationId", "c.id as branchId"])
    .select(["q.query", "s.status", "s.metadata"])
    .select(["q.metadata as soulMetadata", "s.createdAt"]);
}

export const runById = namedQuery((db, { queryId }: { readonly queryId: string }) =>
  queryRows(db).where("s.id", "=", queryId)
);

/** The newest run of the query before the one that a run belongs to. */
export const runBefore = namedQuery((db, { queryId }: { readonly queryId: string }) =>
  queryRows(db)
    .innerJoin("querySoul as m", (join) =>
      join.onRef("m.conversationStateId", "=", "q.conversationStateId")
        .on("q.number", "=", sql<number>`m.number - 1`))
    .innerJoin("queryState as r", "r.querySoulId", "m.id")
    .where("r.id", "=", queryId).where("s.version", "=", sql<number>`q.runs - 1`)
);

/** A run that a branch shows; `until` is set for the query of a fork, which the branch shows in part. */
export interface ShownRow {
  readonly row: QueryRow;
  readonly until: ForkPoint | null;
}

/** The newest queries that a lineage shows, oldest first. */
export async function shownRows(
  tx: Database,
  { lineage, newest }: { readonly lineage: readonly BranchSegment[]; readonly newest: number },
): Promise<readonly ShownRow[]> {
  const found: ShownRow[] = [];
  for (const segment of lineage) {
    if (found.length >= newest) break;
    const { branchId, until } = segment;
    const to = await queriesIn(tx, segment);
    const from = Math.max(0, to - (newest - found.length));
    const rows = await queryRows(tx).where("q.conversationStateId", "=", branchId).where("q.number", ">=", from)
      .where((on) => isShownRun(on, segment)).orderBy("q.number").execute();
    found.unshift(...rows.map((row) => ({ row, until: row.queryId === until?.queryId ? until : null })));
  }
  return found;
}

/** The queries of these rows, in their order. */
export async function shownQueries(content: Content, shown: readonly ShownRow[]): Promise<readonly StoredQuery[]> {
  await content.load(shown.flatMap(({ row }) => [row.metadata, row.soulMetadata]));
  const queries: StoredQuery[] = [];
  for (const { row, until } of shown) {
    const query = storedQuery(content, row);
    queries.push(until ? await cutAt(query, { content, until }) : query);
  }
  return queries;
}

/** The query of a fork as the fork sees it: without what came later. */
async function cutAt(
  query: StoredQuery,
  { content, until: { position } }: { readonly content: Content; readonly until: ForkPoint },
): Promise<StoredQuery> {
  const iterations = position + 1;
  if (!query.running && iterations >= query.iterations) return query;
  const { queryId, conversationId, branchId, text, createdAt, steered } = query;
  const { nextAt, ms, ...spent } = await spentUntil(content, { queryId, position, begun: createdAt });
  return {
    ...{ queryId, conversationId, branchId, text, createdAt, iterations, ...spent },
    // The end of an iteration is stored while the next one is under way.
    ms: query.running ? ms : Math.min(ms, query.ms),
    steered: steered.filter(({ iteration }) => iteration <= iterations),
    notes: [`Forked after iteration ${iterations}`],
    ...{ running: false, status: "interrupted", reason: "forked" },
    ...{ answer: "", answerType: "text", confidence: "low" },
    ...(nextAt === undefined ? {} : { forkedAt: nextAt }),
  };
}

function storedQuery(content: Content, row: QueryRow): StoredQuery {
  const soul = fromJson<{ query: string }>(content.text(row.soulMetadata ?? "{}"));
  const facts = fromJson<QueryMetadata>(content.text(row.metadata ?? "{}"));
  const known = {
    queryId: row.queryId,
    conversationId: row.conversationId,
    branchId: row.branchId,
    text: soul.query ?? row.query ?? "",
    createdAt: row.createdAt,
    answer: facts.answer ?? "",
    answerType: facts.answerType ?? "text",
    confidence: facts.confidence ?? "low",
    iterations: facts.iterations ?? 0,
    usage: facts.usage ?? NO_USAGE,
    costUsd: facts.costUsd ?? null,
    ms: facts.ms ?? 0,
    notes: facts.notes ?? [],
    steered: facts.steered ?? [],
    ...(facts.noAnswer ? { noAnswer: true as const } : {}),
    ...(facts.temporary ? { temporary: true as const } : {}),
  };
  const { status } = row;
  if (status === "running") return { ...known, running: true, status, reason: null };
  return { ...known, running: false, status, reason: facts.reason ?? "process_lost" };
}
