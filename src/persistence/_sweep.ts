import type { Kysely } from "kysely";
import { NO_USAGE } from "../domain/usage.ts";
import { Content } from "./_content.ts";
import { endQuery } from "./_end_query.ts";
import { fromJson } from "./_json.ts";
import { type IsAlive, isLost } from "./_leases.ts";
import type { QueryMetadata } from "./_query_metadata.ts";
import type { Schema } from "./_schema.ts";

interface Running {
  readonly queryId: string;
  readonly branchId: string;
  readonly createdAt: number;
  readonly facts: Partial<QueryMetadata>;
}

/** `Store.sweepLost`. A query that ends while this looks is left alone. */
export async function sweepLost(
  db: Kysely<Schema>,
  { isAlive, now }: { readonly isAlive: IsAlive; readonly now: () => number },
): Promise<number> {
  const lost: Running[] = [];
  for (const query of await running(db)) {
    const { branchId, facts: { owner } } = query;
    if (await isLost(db, { branchId, owner, isAlive, now: now() })) lost.push(query);
  }
  if (lost.length === 0) return 0;
  return await db.transaction().execute(async (tx) => {
    const still = new Set((await running(tx)).map((query) => query.queryId));
    const ended = lost.filter((query) => still.has(query.queryId));
    for (const query of ended) await endLost(tx, query, now());
    return ended.length;
  });
}

/** Ends the queries of a branch whose process is known to be gone, in the transaction `tx`. */
export async function endLostOf(
  tx: Kysely<Schema>,
  { branchId, now }: { readonly branchId: string; readonly now: number },
): Promise<void> {
  for (const query of await running(tx)) if (query.branchId === branchId) await endLost(tx, query, now);
}

async function running(db: Kysely<Schema>): Promise<Running[]> {
  const rows = await db.selectFrom("queryState as s").innerJoin("querySoul as q", "q.id", "s.querySoulId")
    .select(["s.id", "s.createdAt", "s.metadata", "q.conversationStateId as branchId"])
    .where("s.status", "=", "running").execute();
  const content = new Content(db);
  await content.load(rows.map((row) => row.metadata));
  return rows.map(({ id, branchId, createdAt, metadata }) => ({
    queryId: id,
    branchId,
    createdAt,
    facts: fromJson<QueryMetadata>(content.text(metadata ?? "{}")),
  }));
}

async function endLost(tx: Kysely<Schema>, { queryId, createdAt, facts }: Running, now: number): Promise<void> {
  const kept = await tx.selectFrom("iteration")
    .select((i) => [i.fn.countAll<number>().as("count"), i.fn.max("finishedAt").as("last")])
    .where("queryStateId", "=", queryId).where("status", "<>", "running").executeTakeFirstOrThrow();
  const iterations = kept.count === 1 ? "1 finished iteration is" : `${kept.count} finished iterations are`;
  await endQuery(tx, {
    queryId,
    now,
    end: {
      status: "interrupted",
      reason: "process_lost",
      answer: `The process that worked on this request ended before it was done. ${iterations} kept.`,
      answerType: "text",
      confidence: "low",
      iterations: facts.iterations ?? kept.count,
      usage: facts.usage ?? NO_USAGE,
      costUsd: facts.costUsd ?? null,
      // When it died is not known; the end of its last iteration is.
      ms: Math.max(0, (kept.last ?? createdAt) - createdAt),
      notes: [],
    },
  });
}
