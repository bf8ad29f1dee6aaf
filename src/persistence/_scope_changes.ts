import type { Database } from "./_database.ts";
import { insertRow } from "./_insert_row.ts";
import type { VariableSouls } from "./_variable_souls.ts";

/** After an iteration of a run, or before its first one (-1); without a run before all queries of the branch. */
export interface Moment {
  readonly queryId: string | null;
  readonly position: number;
}

/** Writes that variables of a branch left the scope or came back. Names that are unknown to `souls` are passed over, and
 * those of system variables. An inherited one gets a soul of its own. */
export async function writeScopes(
  names: readonly string[],
  { db, souls, at, scope, now }: {
    readonly db: Database;
    readonly souls: VariableSouls;
    readonly at: Moment;
    readonly scope: "live" | "forgotten";
    readonly now: number;
  },
): Promise<void> {
  for (const name of names) {
    const known = souls.get(name);
    if (!known || known.metadata.scope === "system") continue;
    await insertRow(db, "scopeChange", {
      expressionSoulId: (await souls.own(name)).id,
      queryStateId: at.queryId,
      position: at.position,
      scope,
      createdAt: now,
    });
  }
}

/** The newest moment of a branch. */
export async function newestMoment(db: Database, branchId: string): Promise<Moment> {
  const run = await db.selectFrom("queryState as s").innerJoin("querySoul as q", "q.id", "s.querySoulId")
    .select((s) => [
      "s.id",
      s.selectFrom("iteration as i").select((i) => i.fn.max("i.position").as("last"))
        .whereRef("i.queryStateId", "=", "s.id").as("last"),
    ])
    .where("q.conversationStateId", "=", branchId)
    .orderBy("q.createdAt", "desc").orderBy("q.id", "desc").orderBy("s.version", "desc").limit(1).executeTakeFirst();
  return { queryId: run?.id ?? null, position: run?.last ?? -1 };
}
