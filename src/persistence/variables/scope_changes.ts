import type { Database } from "../database/database.ts";
import { insertRow } from "../database/insert_row.ts";
import { lastIteration } from "../runs/last_iteration.ts";
import { newestRun } from "../runs/newest_run.ts";
import type { VariableSouls } from "./souls.ts";

/** After an iteration of a run, or before its first one (-1). Without a run, before all queries of the branch. */
export interface Moment {
  readonly queryId: string | null;
  readonly position: number;
}

/** Records that variables of a branch left the scope or came back. Names unknown to `souls` and names of system
 * variables are skipped. An inherited variable gets its own soul. */
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
    const soul = await souls.own(name);
    await insertRow(db, "scopeChange", {
      expressionSoulId: soul.id,
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
  const last = await lastIteration(db, run.id);
  return { queryId: run.id, position: last?.position ?? -1 };
}
