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
  /** The other path from which its file was to be renamed. */
  readonly from?: string | undefined;
}

/** Reverts what an unfinished change has changed. What others changed since is kept. */
export async function putBack(
  context: Pick<FsContext, "tree" | "guard">,
  items: readonly HalfChanged[],
): Promise<void> {
  const place = { ...context, signal: undefined };
  const changed: ChangeItem[] = [];
  const befores = new Map(items.map(({ path, before }) => [path, before]));
  /** Where files are that were renamed: by the path at which they were. */
  const renamed = new Map<string, string>();
  for (const { path, before, after, made = null, from } of items) {
    const now = await current(place, path);
    if (now === "unknown") continue;
    const state = await stateOf(now);
    if (isSameState(state, await stateOf(before))) continue;
    const base = from === undefined ? null : befores.get(from) ?? null;
    if (from !== undefined && base !== null && before === null) {
      const isOurs = isSameState(state, await stateOf(base)) || isSameState(state, after) ||
        isMixed(now, { before: base, made });
      if (!isOurs) continue;
      renamed.set(from, path);
      changed.push({ path, before: now, after: null });
      continue;
    }
    // Between removing an entry and creating one of another kind, there was nothing.
    const isBetween = now === null && before !== null && after !== null && before.kind !== after.kind;
    if (isBetween || isSameState(state, after) || isMixed(now, { before, made })) {
      changed.push({ path, before: now, after: before });
    }
  }
  const made = changed.filter(({ after }) => after !== null);
  const gone = changed.filter(({ after }) => after === null).toReversed();
  const failed: ChangeItem[] = [];
  const back = new Set<string>();
  for (const item of made) {
    const from = renamed.get(item.path);
    const source = item.before === null ? changed.find(({ path }) => path === from) : undefined;
    if (source && await isReverted(place, { ...item, from }, source)) back.add(source.path);
    else if (!await isReverted(place, item)) failed.push(item);
  }
  for (const item of gone) if (!back.has(item.path) && !await isReverted(place, item)) failed.push(item);
  for (const item of failed) await isReverted(place, item); // what was in its way may be gone
}

async function isReverted(
  place: Pick<FsContext, "tree" | "guard">,
  ...items: readonly [ChangeItem, ...ChangeItem[]]
): Promise<boolean> {
  try {
    await applyItems(place, { items, temporary: temporaryNames(place, items), keepFull: true });
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
