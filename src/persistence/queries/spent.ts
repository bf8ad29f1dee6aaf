import { addUsage, type ModelTrace, NO_USAGE } from "../../domain/query/model_call.ts";
import type { Usage } from "../../domain/query/query_schemas.ts";
import { Content } from "../content/content.ts";
import type { Database } from "../database/database.ts";
import { fromJson } from "../database/json.ts";
import type { QueryMetadata } from "../runs/query_metadata.ts";

interface Spent {
  readonly usage: Usage;
  readonly costUsd: number | null;
}

/** What an interrupted query has spent: the totals of its last reply, plus the model calls that the blocks of the
 * running iteration made since. Its child queries have ended. */
export async function spentOf(
  tx: Database,
  { queryId, facts }: { readonly queryId: string; readonly facts: Partial<QueryMetadata> },
): Promise<Spent> {
  const before = { usage: facts.usage ?? NO_USAGE, costUsd: facts.costUsd ?? null };
  const cut = await tx.selectFrom("iteration").select("id")
    .where("queryStateId", "=", queryId).where("status", "=", "running").executeTakeFirst();
  return cut ? (await spentBelow(new Content(tx), [cut.id])).reduce(added, before) : before;
}

/** What the iterations of a query up to a position took. */
export async function spentUntil(
  content: Content,
  { queryId, position, begun }: { readonly queryId: string; readonly position: number; readonly begun: number },
): Promise<Spent & { readonly ms: number; readonly nextAt: number | undefined }> {
  const rows = await content.db.selectFrom("iteration as i")
    .select(["i.id", "i.position", "i.llmTraces", "i.metadata", "i.createdAt", "i.finishedAt"])
    .where("i.queryStateId", "=", queryId).where("i.position", "<=", position + 1)
    .orderBy("i.position").execute();
  const shown = rows.filter((row) => row.position <= position);
  await content.load(shown.flatMap(({ llmTraces, metadata }) => [llmTraces, metadata]));
  const replies = shown.map(({ llmTraces, metadata }): Spent => {
    const traces = JSON.parse(content.text(llmTraces ?? "[]")) as readonly ModelTrace[];
    const usage = traces.reduce((sum, trace) => trace.usage ? addUsage(sum, trace.usage) : sum, NO_USAGE);
    const { costUsd } = fromJson<{ readonly costUsd: number | null }>(content.text(metadata ?? "{}"));
    return { usage, costUsd: costUsd ?? null };
  });
  const below = await spentBelow(content, shown.map(({ id }) => id));
  const end = shown.at(-1);
  return {
    ...[...replies, ...below].reduce(added, { usage: NO_USAGE, costUsd: 0 }),
    ms: Math.max(0, (end?.finishedAt ?? end?.createdAt ?? begun) - begun),
    nextAt: rows.find((row) => row.position > position)?.createdAt,
  };
}

/** What the model calls of the blocks of these iterations took, and their child queries. */
async function spentBelow(content: Content, iterationIds: readonly string[]): Promise<readonly Spent[]> {
  if (iterationIds.length === 0) return [];
  const calls = await content.db.selectFrom("subCall").select(["usage", "costUsd"])
    .where("iterationId", "in", iterationIds).execute();
  const rows = await content.db.selectFrom("childBranch as c")
    .innerJoin("querySoul as q", "q.conversationStateId", "c.conversationStateId")
    .innerJoin("queryState as s", "s.querySoulId", "q.id")
    .select("s.metadata").where("c.iterationId", "in", iterationIds).execute();
  await content.load(rows.map(({ metadata }) => metadata));
  const children = rows.map(({ metadata }) => fromJson<QueryMetadata>(content.text(metadata ?? "{}")));
  return [...calls.map(({ usage, costUsd }) => ({ usage: fromJson<Usage>(usage), costUsd })), ...children]
    .map(({ usage, costUsd }) => ({ usage: { ...NO_USAGE, ...usage }, costUsd: costUsd ?? null }));
}

function added(sum: Spent, { usage, costUsd }: Spent): Spent {
  const unpriced = sum.costUsd === null || (costUsd === null && usage.calls > 0);
  return { usage: addUsage(sum.usage, usage), costUsd: unpriced ? null : (sum.costUsd ?? 0) + (costUsd ?? 0) };
}
