import { counted, oneLine, someOf } from "./kit/text.ts";
import type { ExtensionAdmin } from "./admin_reports.ts";

export interface FileChange {
  readonly id: string;
  readonly at: number;
  readonly change: string;
  readonly conversationId: string;
  readonly queryId: string | null;
  readonly iterationId?: string | null;
  readonly paths: readonly string[];
  /** Only lists of changes have this field. */
  readonly undone?: boolean;
  readonly kept?: readonly string[];
  /** A later git commit contains these files, so an undo without `force` keeps them. Only lists of changes have this
   * field. */
  readonly committed?: readonly string[];
  /** No undo can restore these files, because Vis kept no copy. Only lists without `faults` have this field. */
  readonly lost?: readonly string[];
  /** An undo without `force` would keep these other files. Only lists with `faults` have this field. */
  readonly blocked?: readonly { readonly path: string; readonly reason: string }[];
}

export interface UndoReport {
  readonly error?: string;
  /** An undo with `force` would change more files. */
  readonly code?: "files_changed";
  readonly nothing?: boolean;
  /** If `error` is set, an undo with `rest` would change these numbers of files and folders. */
  readonly others?: number;
  readonly otherFolders?: number;
  readonly changes?: readonly FileChange[];
  readonly files?: readonly { readonly path: string; readonly diff: string }[];
  readonly folders?: readonly string[];
  readonly kept?: readonly { readonly path: string; readonly reason: string }[];
  readonly notes?: readonly string[];
}

const MAX_KEPT = 5, REQUEST_CHARS = 60;

export function keptText({ kept = [] }: Pick<UndoReport, "kept">, verb = "Kept"): string {
  if (kept.length === 0) return "";
  return `${verb} ${someOf(kept.map(({ path, reason }) => `${path} (${reason})`), MAX_KEPT)}`;
}

export function undoFault(
  report: UndoReport,
  { redo = false, rest, force = redo ? "vis undo --redo --force" : "vis undo --force" }: {
    readonly redo?: boolean;
    readonly rest: string;
    readonly force?: string;
  },
): string | null {
  if (report.error === undefined) return null;
  return [report.error, ...undoWays(report, { redo, rest, force })].join("; ");
}

export function undoWays(
  { code, others = 0, otherFolders = 0 }: UndoReport,
  { redo, rest, force }: { readonly redo: boolean; readonly rest: string; readonly force: string },
): readonly string[] {
  const does = redo ? "redoes" : "undoes";
  const counts = [[others, "other file"], [otherFolders, "other folder"]] as const;
  const places = counts.filter(([count]) => count > 0).map(([count, one]) => count === 1 ? one : counted(count, one));
  return [
    ...(places.length > 0 ? [`${rest} ${does} the ${places.join(" and the ")}`] : []),
    ...(code === "files_changed" ? [`${force} ${does} ${places.length > 0 ? "all files" : "it anyway"}`] : []),
  ];
}

export function undonePlaces({ files = [], folders = [] }: Pick<UndoReport, "files" | "folders">): string {
  const counts = [[files.length, "file"], [folders.length, "folder"]] as const;
  return counts.flatMap(([count, thing]) => count === 0 ? [] : [counted(count, thing)]).join(" and ");
}

export function undoableChanges({ changes = [] }: UndoReport): readonly FileChange[] {
  return changes.filter(({ change }) => change !== "undo" && change !== "redo");
}

/** The report must have all changes of a conversation. The result has each query whose changes are all undone. */
export function undoneQueries(report: UndoReport): readonly string[] {
  const changes = undoableChanges(report);
  const isUndone = ({ undone = false, kept = [] }: FileChange): boolean => undone && kept.length === 0;
  const left = new Set(changes.filter((one) => !isUndone(one)).map(({ queryId }) => queryId));
  return [...new Set(changes.flatMap(({ queryId }) => queryId === null || left.has(queryId) ? [] : [queryId]))];
}

/** Makes one diff of the diffs of a removed file and of a new file with the same content. */
export function withMoves(diffs: ReadonlyMap<string, string>): Map<string, string> {
  const shown = new Map(diffs);
  const contentOf = (diff: string, sign: string): string =>
    diff.split("\n").slice(3).map((line) => line.startsWith(sign) ? line.slice(1) : `\n${line}`).join("\n");
  for (const [from, gone] of diffs) {
    if (!/^--- .*\n\+\+\+ \/dev\/null\n@@/.test(gone)) continue;
    const same = [...shown].find(([, made]) =>
      /^--- \/dev\/null\n.*\n@@/.test(made) && contentOf(made, "+") === contentOf(gone, "-")
    );
    if (same === undefined) continue;
    const [before] = gone.split("\n"), [, after] = same[1].split("\n");
    shown.delete(from);
    shown.set(same[0], `${before}\n${after}\n`);
  }
  return shown;
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

/** With these `cuts`, `runUndo` skips changes of other branches, and changes after the point at which a fork cuts a
 * query. A replaced run belongs to no branch, so an undo in any branch may revert its changes. */
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
