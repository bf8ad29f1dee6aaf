import { addUsage, NO_USAGE, type Usage } from "../../domain/query/usage.ts";
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
  if (!cut) return before;
  const calls = await tx.selectFrom("subCall").select(["usage", "costUsd"]).where("iterationId", "=", cut.id).execute();
  const rows = await tx.selectFrom("childBranch as c")
    .innerJoin("querySoul as q", "q.conversationStateId", "c.conversationStateId")
    .innerJoin("queryState as s", "s.querySoulId", "q.id")
    .select("s.metadata").where("c.iterationId", "=", cut.id).execute();
  const content = new Content(tx);
  await content.load(rows.map(({ metadata }) => metadata));
  const children = rows.map(({ metadata }) => fromJson<QueryMetadata>(content.text(metadata ?? "{}")));
  return [...calls.map(({ usage, costUsd }) => ({ usage: fromJson<Usage>(usage), costUsd })), ...children]
    .reduce<Spent>(
      (sum, { usage, costUsd }) => added(sum, { usage: { ...NO_USAGE, ...usage }, costUsd: costUsd ?? null }),
      before,
    );
}

function added(sum: Spent, { usage, costUsd }: Spent): Spent {
  const unpriced = sum.costUsd === null || (costUsd === null && usage.calls > 0);
  return { usage: addUsage(sum.usage, usage), costUsd: unpriced ? null : (sum.costUsd ?? 0) + (costUsd ?? 0) };
}
