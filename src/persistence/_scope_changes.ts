import type { Database } from "./_database.ts";
import { insertRow } from "./_insert_row.ts";
import { newestRun } from "./_newest_run.ts";
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
  const run = await newestRun(db, branchId);
  if (!run) return { queryId: null, position: -1 };
  const { last } = await db.selectFrom("iteration").select((i) => i.fn.max("position").as("last"))
    .where("queryStateId", "=", run.id).executeTakeFirstOrThrow();
  return { queryId: run.id, position: last ?? -1 };
}
