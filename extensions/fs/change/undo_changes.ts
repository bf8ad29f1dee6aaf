import { changeFiles } from "./change_files.ts";
import { diffOf } from "./diff_of.ts";
import type { Checkpoint } from "../checkpoints/checkpoints.ts";
import { chooseChanges, type UndoChoice } from "./choose_changes.ts";
import { confineEntryForWrite } from "../workspace/confine.ts";
import { Pace } from "../tree/pace.ts";
import { FilesChanged } from "./files_changed_error.ts";
import type { FsContext } from "../workspace/context.ts";
import type { Checkpoints } from "../checkpoints/checkpoints.ts";
import { type ChangeItem, isSameState, type State, stateOf } from "../checkpoints/snapshot.ts";
import { takeSnapshot } from "./take_snapshot.ts";
import { type Written, written } from "./written.ts";

export interface UndoOptions extends UndoChoice {
  /** Overwrites changes that others made since. */
  readonly force?: boolean | undefined;
  /** Changes nothing; `files` has the changes that would be undone. */
  readonly dryRun?: boolean | undefined;
}

export interface Undone {
  /** Changes that were undone. */
  readonly changes: readonly Checkpoint[];
  readonly files: readonly Pick<Written, "path" | "diff">[];
}

/** Undoes changes, all or none, as one change that can itself be undone. Throws Error if there is nothing to undo,
 * and FilesChanged if a file is no longer as the change left it. */
export async function undoChanges(
  context: FsContext,
  { force = false, dryRun = false, ...choice }: UndoOptions,
): Promise<Undone> {
  const { checkpoints } = context;
  if (!checkpoints) {
    throw new Error("Cannot undo: changes are kept only where VIS_HOME is a folder that can be written");
  }
  const changes = chooseChanges(await checkpoints.list(), choice);
  if (changes.length === 0 && choice.changes) return { changes, files: [] }; // they were undone before
  if (changes.length === 0) throw new Error(`Nothing to ${choice.redo ? "redo" : "undo"}`);
  const { items, others } = await itemsOf(context, { changes, checkpoints });
  if (others.length > 0 && !force) {
    const shown = others.length > 5
      ? `${others.slice(0, 5).join(", ")} and ${others.length - 5} more`
      : others.join(", ");
    throw new FilesChanged(`Cannot ${choice.redo ? "redo" : "undo"}: ${shown} changed since by someone else`);
  }
  if (!dryRun) {
    const change = choice.redo ? "redo" : "undo";
    await changeFiles(asOneOf(context, changes), { change, items, of: changes.map(({ id }) => id) });
  }
  const files: Undone["files"][number][] = [];
  for (const item of items.filter(({ before, after }) => before?.kind !== "dir" && after?.kind !== "dir")) {
    files.push(dryRun ? await kept(item) : await written(context, item));
  }
  return { changes, files };
}

/** A change that an item would undo. */
async function kept({ path, before, after }: ChangeItem): Promise<Undone["files"][number]> {
  return { path, diff: await diffOf({ path, before: after, after: before }) };
}

/** Outside a conversation, the undo belongs to the conversation whose changes it undoes. */
function asOneOf(context: FsContext, [newest]: readonly Checkpoint[]): FsContext {
  if (context.conversationId !== "" || !newest) return context;
  const { conversationId } = newest;
  return { ...context, source: { conversationId, queryId: null, iterationId: null } };
}

/** Items that lead from the current state to the one before the oldest change, and paths whose current state is not the
 * one that the changes left. */
async function itemsOf(
  context: FsContext,
  { changes, checkpoints }: { readonly changes: readonly Checkpoint[]; readonly checkpoints: Checkpoints },
): Promise<{ readonly items: readonly ChangeItem[]; readonly others: readonly string[] }> {
  const { wanted, broken } = composed(changes);
  const items: ChangeItem[] = [];
  const others = new Set(broken);
  const pace = new Pace(context.signal);
  for (const [path, { from, to }] of [...wanted].sort(([a], [b]) => a < b ? -1 : 1)) {
    if (pace.due) await pace.rest();
    confineEntryForWrite(context, path);
    const seen = context.tree.look(path);
    const before = await takeSnapshot(context, path);
    const now = await stateOf(before);
    if (isSameState(now, to)) continue;
    if (!isSameState(now, from)) others.add(path);
    const loaded = await checkpoints.load(to);
    const owner = before?.kind === "file" ? before.owner : null;
    const after = loaded?.kind === "file" ? { ...loaded, owner } : loaded;
    items.push({ path, before, after, seen });
  }
  return { items, others: [...others] };
}

/** The combined effect of all changes on each path; `broken` are paths that changed between two of them. */
function composed(changes: readonly Checkpoint[]) {
  const wanted = new Map<string, { readonly from: State; readonly to: State }>();
  const broken: string[] = [];
  for (const { items } of changes) {
    for (const { path, before, after } of items) {
      const later = wanted.get(path);
      if (later && !isSameState(later.to, after)) broken.push(path);
      wanted.set(path, { from: later?.from ?? after, to: before });
      if (later) wanted.set(path, { from: later.from, to: before });
    }
  }
  return { wanted, broken };
}
