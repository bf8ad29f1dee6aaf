import type { Checkpoint } from "../checkpoints/checkpoints.ts";

export interface UndoChoice {
  /** How many of the latest changes; if absent, all of the newest `scope`. */
  readonly steps?: number | undefined;
  readonly scope?: "step" | "iteration" | "query" | undefined;
  /** These changes, as far as they are not undone yet. */
  readonly changes?: readonly string[] | undefined;
  /** Only changes of this conversation: its id or a prefix of it. */
  readonly conversation?: string | undefined;
  /** Of these queries, only changes that were made before a time. */
  readonly cuts?: readonly { readonly queryId: string; readonly at: number }[] | undefined;
  /** Undo the newest undo instead. */
  readonly redo?: boolean | undefined;
  /** Also what an earlier undo left as it was. */
  readonly force?: boolean | undefined;
}

/** The selected changes, newest first. */
export function chooseChanges(all: readonly Checkpoint[], choice: UndoChoice): readonly Checkpoint[] {
  const { conversation = "", redo = false, steps, scope = "step", changes: named, cuts = [], force = false } = choice;
  const isCut = (one: Checkpoint) => cuts.some(({ queryId, at }) => one.queryId === queryId && one.at >= at);
  const open = openChanges(all).filter((one) =>
    one.conversationId.startsWith(conversation) && (force || !one.isRest) && !isCut(one)
  ).reverse();
  if (redo) return open.filter(({ change }) => change === "undo").slice(0, steps ?? 1);
  if (named) return open.filter(({ id }) => named.includes(id));
  const changes = open.filter(({ change }) => change !== "undo" && change !== "redo");
  const [newest] = changes;
  if (!newest || steps !== undefined || scope === "step") return changes.slice(0, steps ?? 1);
  const sameQuery = (one: Checkpoint): boolean =>
    one.conversationId === newest.conversationId && one.queryId === newest.queryId &&
    (newest.queryId !== null || one.iterationId === newest.iterationId);
  const isSame = scope === "query"
    ? sameQuery
    : (one: Checkpoint) => one.iterationId === newest.iterationId && sameQuery(one);
  if (newest.queryId === null && newest.iterationId === null) return [newest];
  return changes.filter(isSame);
}

export interface OpenChange extends Checkpoint {
  /** Whether it is undone except for `items`, which the undo left as they were. */
  readonly isRest: boolean;
}

/** Changes that are not undone, oldest first. Redoing a change makes it available for undo again. */
export function openChanges(all: readonly Checkpoint[]): OpenChange[] {
  /** What each undo of a change left of it, the newest last. */
  const left = new Map<string, (readonly string[])[]>();
  const byId = new Map(all.map((one) => [one.id, one]));
  for (const { change, of, kept = [] } of all) {
    for (const id of of) {
      left.set(id, [...left.get(id) ?? [], kept]);
      if (change === "redo") { for (const again of byId.get(id)?.of ?? []) left.get(again)?.pop(); }
    }
  }
  return all.flatMap((one): OpenChange[] => {
    const rest = left.get(one.id)?.at(-1);
    if (rest === undefined) return [{ ...one, isRest: false }];
    const items = one.items.filter(({ path }) => rest.includes(path));
    return items.length > 0 ? [{ ...one, items, isRest: true }] : [];
  });
}
