import { applyItems } from "./apply_items.ts";
import type { FsContext } from "../workspace/context.ts";
import { type ChangeItem, isSameState, type PathSnapshot, type State, stateOf } from "../checkpoints/snapshot.ts";
import { takeSnapshot } from "./take_snapshot.ts";
import { temporaryOf } from "./temporary_of.ts";

export interface HalfChanged {
  readonly path: string;
  readonly before: PathSnapshot;
  readonly after: State;
}

/** Reverts what an unfinished change has changed. What others changed since is kept. */
export async function putBack(
  context: Pick<FsContext, "tree" | "guard">,
  items: readonly HalfChanged[],
): Promise<void> {
  const place = { ...context, signal: undefined };
  const changed: ChangeItem[] = [];
  for (const { path, before, after } of items) {
    const now = await current(place, path);
    if (now === "unknown") continue;
    const state = await stateOf(now);
    if (isSameState(state, await stateOf(before))) continue;
    // Between removing an entry and creating one of another kind, there was nothing.
    const isBetween = now === null && before !== null && after !== null && before.kind !== after.kind;
    if (isBetween || isSameState(state, after)) changed.push({ path, before: now, after: before });
  }
  const made = changed.filter(({ after }) => after !== null);
  const gone = changed.filter(({ after }) => after === null).toReversed();
  const failed: ChangeItem[] = [];
  for (const item of [...made, ...gone]) if (!await isReverted(place, item)) failed.push(item);
  for (const item of failed) await isReverted(place, item); // what was in its way may be gone
}

async function isReverted(place: Pick<FsContext, "tree" | "guard">, item: ChangeItem): Promise<boolean> {
  const temporary = new Map(item.after?.kind === "file" ? [[item.path, temporaryOf(item.path)]] : []);
  return await applyItems(place, { items: [item], temporary, keepFull: true }).then(() => true, () => false);
}

async function current(context: Pick<FsContext, "tree" | "signal">, path: string): Promise<PathSnapshot | "unknown"> {
  try {
    return await takeSnapshot(context, path);
  } catch {
    return "unknown";
  }
}
