import type { ExtensionAdmin } from "./reports.ts";

export interface FileChange {
  readonly id: string;
  readonly at: number;
  /** The function that made it. */
  readonly change: string;
  readonly conversationId: string;
  /** Null outside a query. */
  readonly queryId: string | null;
  readonly iterationId?: string | null;
  readonly paths: readonly string[];
  /** Only a list has this. */
  readonly undone?: boolean;
  /** Only a list has these files, which the undo of this change left as they were. */
  readonly kept?: readonly string[];
}

/** A dry run reports the changes that would be undone. */
export interface UndoReport {
  /** Why nothing was. */
  readonly error?: string;
  /** Others changed all of the files since; `force` overwrites that. */
  readonly code?: "files_changed";
  readonly changes?: readonly FileChange[];
  readonly files?: readonly { readonly path: string; readonly diff: string }[];
  /** Files of these changes that were left as they are, such as those that others changed since. */
  readonly kept?: readonly { readonly path: string; readonly reason: string }[];
  /** Notes report other facts, such as names that are no longer one file. */
  readonly notes?: readonly string[];
}

const MAX_KEPT = 5;

/** The files that an undo kept, in one sentence; "" if there are none. */
export function keptText({ kept = [] }: Pick<UndoReport, "kept">, verb = "Kept"): string {
  if (kept.length === 0) return "";
  const shown = kept.slice(0, MAX_KEPT).map(({ path, reason }) => `${path} (${reason})`).join(", ");
  return `${verb} ${shown}${kept.length > MAX_KEPT ? ` and ${kept.length - MAX_KEPT} more` : ""}`;
}

interface BranchIds {
  readonly conversationId: string;
  readonly branchId: string;
}

interface ShownQueries<B extends BranchIds> {
  branches(conversationId: string): Promise<readonly B[]>;
  /** Resolves with the queries that the branch shows. */
  queries(branch: B): Promise<readonly { readonly queryId: string; readonly forkedAt?: number }[]>;
}

/** Returns the `cuts` with which `runUndo` leaves changes that the branch does not show: changes by queries of
 * other branches, and later changes by a query that a fork shows in part. A run that was retried is in no branch,
 * and its changes can be undone in each. */
export async function undoCuts<B extends BranchIds>(
  conversations: ShownQueries<B>,
  branch: B,
): Promise<{ readonly cuts?: string }> {
  const shown = await conversations.queries(branch);
  const cuts = new Map(shown.map(({ queryId, forkedAt }) => [queryId, forkedAt]));
  for (const other of await conversations.branches(branch.conversationId)) {
    if (other.branchId === branch.branchId) continue;
    for (const { queryId } of await conversations.queries(other)) if (!cuts.has(queryId)) cuts.set(queryId, 0);
  }
  const texts = [...cuts].flatMap(([queryId, at]) => at === undefined ? [] : [`${queryId}@${at}`]);
  return texts.length === 0 ? {} : { cuts: texts.join(",") };
}

/** Runs the command that undoes file changes. Null if the extension that records them is off. */
export async function runUndo(
  admin: Pick<ExtensionAdmin, "run">,
  options: Readonly<Record<string, string | number | boolean | undefined>>,
): Promise<UndoReport | null> {
  const parts: string[] = [];
  const words = Object.entries(options).flatMap(([key, value]) => {
    if (value === undefined || value === false) return [];
    return [value === true ? `--${key}` : `--${key}=${value}`];
  });
  const code = await admin.run(["undo", ...words], { print: (text) => void parts.push(text) });
  return code === null ? null : JSON.parse(parts.join(""));
}
