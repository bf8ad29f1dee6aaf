import { applyItems, temporaryNames } from "./apply_items.ts";
import type { FsContext } from "../workspace/context.ts";
import { type ChangeItem, isSameState, type PathSnapshot, type State, stateOf } from "../checkpoints/snapshot.ts";
import { takeSnapshot } from "./take_snapshot.ts";

export interface HalfChanged {
  readonly path: string;
  readonly before: PathSnapshot;
  readonly after: State;
  /** What it should become, if that is known. */
  readonly made?: PathSnapshot | undefined;
}

/** Reverts what an unfinished change has changed. What others changed since is kept. */
export async function putBack(
  context: Pick<FsContext, "tree" | "guard">,
  items: readonly HalfChanged[],
): Promise<void> {
  const place = { ...context, signal: undefined };
  const changed: ChangeItem[] = [];
  for (const { path, before, after, made = null } of items) {
    const now = await current(place, path);
    if (now === "unknown") continue;
    const state = await stateOf(now);
    if (isSameState(state, await stateOf(before))) continue;
    // Between removing an entry and creating one of another kind, there was nothing.
    const isBetween = now === null && before !== null && after !== null && before.kind !== after.kind;
    if (isBetween || isSameState(state, after) || isMixed(now, { before, made })) {
      changed.push({ path, before: now, after: before });
    }
  }
  const made = changed.filter(({ after }) => after !== null);
  const gone = changed.filter(({ after }) => after === null).toReversed();
  const failed: ChangeItem[] = [];
  for (const item of [...made, ...gone]) if (!await isReverted(place, item)) failed.push(item);
  for (const item of failed) await isReverted(place, item); // what was in its way may be gone
}

async function isReverted(place: Pick<FsContext, "tree" | "guard">, item: ChangeItem): Promise<boolean> {
  try {
    await applyItems(place, { items: [item], temporary: temporaryNames(place, [item]), keepFull: true });
    return true;
  } catch {
    return false;
  }
}

/** Whether a file has bytes of both, each at its place: it was being written in place. */
function isMixed(
  now: PathSnapshot,
  { before, made }: { readonly before: PathSnapshot; readonly made: PathSnapshot },
): boolean {
  if (now?.kind !== "file" || before?.kind !== "file" || made?.kind !== "file") return false;
  const { length } = now.bytes;
  const isBetween = length <= Math.max(before.bytes.length, made.bytes.length) &&
    length >= Math.min(before.bytes.length, made.bytes.length);
  return isBetween && now.bytes.every((byte, at) => byte === made.bytes[at] || byte === before.bytes[at]);
}

async function current(context: Pick<FsContext, "tree" | "signal">, path: string): Promise<PathSnapshot | "unknown"> {
  try {
    return await takeSnapshot(context, path);
  } catch {
    return "unknown";
  }
}
