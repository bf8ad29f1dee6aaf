import { counted, oneLine } from "./kit/text.ts";
import type { ExtensionAdmin } from "./admin_reports.ts";

export interface FileChange {
  readonly id: string;
  readonly at: number;
  readonly change: string;
  readonly conversationId: string;
  /** Null outside a query. */
  readonly queryId: string | null;
  readonly iterationId?: string | null;
  readonly paths: readonly string[];
  /** Present only in lists of changes. */
  readonly undone?: boolean;
  readonly kept?: readonly string[];
  /** The files that have since gone into a git commit, and that an undo without `force` keeps. Present only in lists of
   * changes. */
  readonly committed?: readonly string[];
}

export interface UndoReport {
  readonly error?: string;
  /** Set if the undo changed no file, because each file has changed after the changes to undo. `force` overwrites the
   * files. */
  readonly code?: "files_changed";
  readonly changes?: readonly FileChange[];
  readonly files?: readonly { readonly path: string; readonly diff: string }[];
  /** Folders that the undo made or removed. */
  readonly folders?: readonly string[];
  /** Files of these changes that the undo left unchanged, such as files that others changed since. */
  readonly kept?: readonly { readonly path: string; readonly reason: string }[];
  /** Other facts, such as names that no longer share one file. */
  readonly notes?: readonly string[];
}

const MAX_KEPT = 5, REQUEST_CHARS = 60;

/** Returns the files that an undo kept, in one sentence, or "". */
export function keptText({ kept = [] }: Pick<UndoReport, "kept">, verb = "Kept"): string {
  if (kept.length === 0) return "";
  const shown = kept.slice(0, MAX_KEPT).map(({ path, reason }) => `${path} (${reason})`).join(", ");
  return `${verb} ${shown}${kept.length > MAX_KEPT ? ` and ${kept.length - MAX_KEPT} more` : ""}`;
}

/** Returns the number of files and folders that an undo changed. Returns "" if the undo changed none. */
export function undonePlaces({ files = [], folders = [] }: Pick<UndoReport, "files" | "folders">): string {
  const counts = [[files.length, "file"], [folders.length, "folder"]] as const;
  return counts.flatMap(([count, thing]) => count === 0 ? [] : [counted(count, thing)]).join(" and ");
}

interface BranchIds {
  readonly conversationId: string;
  readonly branchId: string;
}

interface ShownQueries<B extends BranchIds> {
  branches(conversationId: string): Promise<readonly B[]>;
  queries(
    branch: B,
  ): Promise<readonly { readonly queryId: string; readonly text?: string; readonly forkedAt?: number }[]>;
}

/** Returns the `cuts` with which `runUndo` skips changes that the branch does not show. Such changes belong to other
 * branches, or come later in a query that a fork shows in part. A retried run belongs to no branch, and every branch
 * can undo its changes. */
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

/** Names the request of undone changes if another request of the branch came later. Otherwise returns "". */
export async function earlierRequest<B extends BranchIds>(
  { changes: [change] = [] }: UndoReport,
  { conversations, branch }: { readonly conversations: Pick<ShownQueries<B>, "queries">; readonly branch: B },
): Promise<string> {
  const queries = await conversations.queries(branch);
  const at = queries.findIndex(({ queryId }) => queryId === change?.queryId);
  if (at === -1 || at === queries.length - 1) return "";
  return `No later request has changes to undo: this is request ${at + 1} of ${queries.length}, ` +
    `${JSON.stringify(oneLine(queries[at]?.text ?? "", REQUEST_CHARS))}`;
}

/** Returns null if the extension that records file changes is off. */
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
