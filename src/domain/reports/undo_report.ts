import type { ExtensionAdmin } from "./extension_admin.ts";

export interface FileChange {
  readonly id: string;
  readonly at: number;
  /** The function that made it. */
  readonly change: string;
  readonly conversationId: string;
  /** Null outside a query. */
  readonly queryId: string | null;
  readonly paths: readonly string[];
  /** Only in a list. */
  readonly undone?: boolean;
  /** Only in a list: files that the undo of this change left as they were. */
  readonly kept?: readonly string[];
}

/** What was undone; in a dry run, the changes that would be. */
export interface UndoReport {
  /** Why nothing was. */
  readonly error?: string;
  /** Others changed all of the files since; `force` overwrites that. */
  readonly code?: "files_changed";
  readonly changes?: readonly FileChange[];
  readonly files?: readonly { readonly path: string; readonly diff: string }[];
  /** Files of these changes that were left as they are, such as those that others changed since. */
  readonly kept?: readonly { readonly path: string; readonly reason: string }[];
  /** What else there is to know, such as names that are no longer one file. */
  readonly notes?: readonly string[];
}

const MAX_KEPT = 5;

/** The files that an undo kept, in one sentence; "" if there are none. */
export function keptText({ kept = [] }: Pick<UndoReport, "kept">, verb = "Kept"): string {
  if (kept.length === 0) return "";
  const shown = kept.slice(0, MAX_KEPT).map(({ path, reason }) => `${path} (${reason})`).join(", ");
  return `${verb} ${shown}${kept.length > MAX_KEPT ? ` and ${kept.length - MAX_KEPT} more` : ""}`;
}

/** What `runUndo` takes as `cuts`: of queries that a fork shows in part, later changes are not touched. */
export function undoCuts(
  queries: readonly { readonly queryId: string; readonly forkedAt?: number }[],
): { readonly cuts?: string } {
  const cuts = queries.flatMap(({ queryId, forkedAt }) => forkedAt === undefined ? [] : [`${queryId}@${forkedAt}`]);
  return cuts.length === 0 ? {} : { cuts: cuts.join(",") };
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
