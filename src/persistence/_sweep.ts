import type { Kysely } from "kysely";
import { NO_USAGE } from "../domain/usage.ts";
import { Content } from "./_content.ts";
import { endQuery } from "./_end_query.ts";
import { fromJson } from "./_json.ts";
import type { QueryMetadata } from "./_query_metadata.ts";
import type { Schema } from "./_schema.ts";
import type { ProcessOwner } from "./store.ts";

interface Running {
  readonly queryId: string;
  readonly createdAt: number;
  readonly facts: Partial<QueryMetadata>;
}

/** `Store.sweepLost`. A query that ends while this looks is left alone. */
export async function sweepLost(
  db: Kysely<Schema>,
  { alive, now }: { readonly alive: (owner: ProcessOwner) => boolean; readonly now: () => number },
): Promise<number> {
  const lost = (await running(db)).filter(({ facts }) => facts.owner === undefined || !alive(facts.owner));
  if (lost.length === 0) return 0;
  return await db.transaction().execute(async (tx) => {
    const still = new Set((await running(tx)).map((query) => query.queryId));
    const ended = lost.filter((query) => still.has(query.queryId));
    for (const query of ended) await endLost(tx, query, now());
    return ended.length;
  });
}

async function running(db: Kysely<Schema>): Promise<Running[]> {
  const rows = await db.selectFrom("queryState").select(["id", "createdAt", "metadata"])
    .where("status", "=", "running").execute();
  const content = new Content(db);
  await content.load(rows.map((row) => row.metadata));
  return rows.map(({ id, createdAt, metadata }) => ({
    queryId: id,
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
