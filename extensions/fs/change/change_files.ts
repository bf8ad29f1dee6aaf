import {
  type ChangeItem,
  type Checkpoint,
  isSameState,
  type PathSnapshot,
  recordedFolders,
  type State,
  stateOf,
} from "../checkpoints.ts";
import { addedFolderOf, movedMeanwhile, OutsideWorkspace, regionOf } from "../confine.ts";
import type { FsContext } from "../context.ts";
import type { Tree } from "../tree/tree.ts";
import { askForUnasked, INSTEAD, isSecretPlace, readWhole, tooLarge } from "../read/read_place.ts";
import { applyItems, isOnlyRenamed, isTemporary, type Move, temporaryNames } from "./apply_items.ts";
import { shownChange } from "./current_file.ts";
import { bounded } from "../patch/unified_diff.ts";
import { advised, counted, Pace } from "@vis/extension";
import { dirname } from "node:path";

const MOST_ASKED = 50;

interface Change {
  readonly change: string;
  /** A folder comes before its contents. Callers may omit missing parent folders. */
  readonly items: readonly ChangeItem[];
  readonly moves?: readonly Move[];
  readonly of?: readonly string[];
  readonly kept?: readonly string[];
  /** The user must also allow these paths, to which new links lead. */
  readonly targets?: readonly string[];
}

/** After a failure, reverts the change as far as possible. After a kill, a later process that uses `fs` in the
 * workspace reverts a change that has a checkpoint. Rejects with `OutsideWorkspace` if the user must first allow a
 * path. */
export async function changeFiles(
  context: FsContext,
  { change, items: given, moves: renames = [], of = [], kept = [], targets = [] }: Change,
): Promise<void> {
  context.signal?.throwIfAborted();
  const whole = withFolders(given);
  await refuseOutside(context, { items: whole, targets });
  await askForUnasked(context, async (real) => {
    const item = whole.find(({ path }) => path === real);
    return item === undefined ? null : await shownChange(item, { isSecret: true });
  });
  const isObeyed = await askForObeyed(context, whole);
  // A renamed file can have other names, by which commands would then change it in its new place.
  const isRenamed = ({ from, to }: Move): boolean => !isObeyed && regionOf(context, from) === regionOf(context, to);
  const moves = renames.filter(isRenamed);
  const items = whole.map(({ from = "", ...item }): ChangeItem =>
    from !== "" && isRenamed({ from, to: item.path }) ? { ...item, from } : item
  );
  const all = [...missingFolders(context, items), ...items];
  const temporary = temporaryNames(context, moves.length > 0 ? [] : items);
  const id = await begin(context, { change, of, kept, items: all, temporary, moves });
  try {
    context.signal?.throwIfAborted();
    await applyItems(context, { items: all, moves, temporary, keepFull: of.length > 0 });
  } catch (error) {
    const sources = new Map(renamed(all, moves).map(({ from, to }) => [to, from]));
    const half = all.map(async (one) => (
      { ...one, from: sources.get(one.path), made: one.after, after: await stateOf(one.after) }
    ));
    await putBack(context, await Promise.all(half));
    if (id !== null) await context.checkpoints?.drop(id);
    throw error;
  }
  if (id !== null) await context.checkpoints?.done(id);
  context.accepted(all);
  for (const item of items) {
    const { path, after, from = path } = item;
    const seen = items.find((one) => one.path === from)?.seen;
    if (after?.kind !== "file" || temporary.has(path) || moves.length > 0 || isOnlyRenamed(item, items)) continue;
    if (!seen || seen.kind !== "file" || seen.names < 2) continue;
    context.note(`${path} has ${seen.names} names (hard links); the change is in all of them`);
  }
}

/** The question shows the changes of one place, and its answer counts for these changes only. */
async function refuseOutside(
  context: FsContext,
  { items, targets }: { readonly items: readonly ChangeItem[]; readonly targets: readonly string[] },
): Promise<void> {
  const changes = new Map<string, string>(), byPath = new Map(items.map((item) => [item.path, item]));
  let place = "";
  for (const path of [...byPath.keys(), ...targets]) {
    const { before = null, after = null } = byPath.get(path) ?? {}, own = regionOf(context, path);
    if (own === "" || changes.size > 0 && own !== place) continue;
    const change = JSON.stringify([await stateOf(before), await stateOf(after)]);
    if (context.allowed?.get(path) === change) continue;
    place = own;
    changes.set(path, change);
  }
  if (changes.size === 0) return;
  const shown = await shownChanges(context, { paths: [...changes.keys()], items });
  throw new OutsideWorkspace(changes, place === ".." ? "" : place, shown);
}

const MOST_SHOWN = 3_000, LEAST_SHOWN = 150;

async function shownChanges(
  context: FsContext,
  { paths, items }: { readonly paths: readonly string[]; readonly items: readonly ChangeItem[] },
): Promise<string> {
  const changed = items.filter((item) => paths.includes(item.path) && item.after?.kind !== "dir");
  let shown = "", more = changed.length;
  for (const item of changed) {
    const left = MOST_SHOWN - shown.length, isSecret = isSecretPlace(context, { path: item.path, real: item.path });
    if (left <= 0) break;
    shown += bounded(await shownChange(item, { isSecret }), Math.max(left, LEAST_SHOWN));
    more--;
  }
  return more === 0 ? shown : `${shown}… ${counted(more, "more file")}\n`;
}

function withFolders(items: readonly ChangeItem[]): readonly ChangeItem[] {
  const folders = new Set(items.flatMap(({ path, after }) => after === null ? [] : foldersOf(path)));
  const now = items.map((item): ChangeItem =>
    item.before !== null && item.after === null && folders.has(item.path)
      ? { ...item, after: { kind: "dir", mode: null } }
      : item
  );
  const crossed = new Set(
    now.filter(({ before, after }) => before && after && (before.kind === "dir") !== (after.kind === "dir"))
      .map(({ path }) => path),
  );
  return now.map(({ from, ...item }): ChangeItem => {
    const isKept = from !== undefined && ![item.path, ...foldersOf(item.path)].some((path) => crossed.has(path));
    return isKept ? { ...item, from } : item;
  });
}

/** For a path in an added folder, `top` is this folder. */
export function foldersOf(path: string, top = ""): readonly string[] {
  const names = path.split("/");
  return names.slice(1).map((_, at) => names.slice(0, at + 1).join("/")).filter((one) => one.length >= top.length);
}

async function askForObeyed(
  context: FsContext,
  items: readonly ChangeItem[],
): Promise<boolean> {
  const { conversationId, obeyedPaths, approve } = context;
  // Outside of a conversation, the user makes the call.
  if (conversationId === "" || !obeyedPaths) return false;
  const changed = items.filter((one) => [one.before, one.after].some((state) => state && state.kind !== "dir"));
  const obeyed = await obeyedPaths(changed.map(({ path }) => path));
  if (obeyed.length === 0) return false;
  const parts = [...Map.groupBy(obeyed, ({ reason }) => reason)].map(([reason, those]) =>
    `${those.map(({ path }) => path).join(", ")}, which ${reason}`
  );
  const what = `change ${parts.join(", and ")}`;
  const running = obeyed.find((one) => one.running !== null)?.running;
  if (running) {
    throw advised(
      new Error(`Cannot ${what}: the running command ${running} could then change the same files`),
      "stop the command first",
    );
  }
  if (obeyed.length > MOST_ASKED) {
    throw advised(
      new RangeError(
        `Cannot change ${obeyed.length} files that git or Vis uses: the limit of one call is ` +
          `${MOST_ASKED}`,
      ),
      "change fewer files at once",
    );
  }
  const scopes = [
    ...new Set(obeyed.map(({ path, reason }) => {
      const repository = repositoryOf(context, path);
      return `files${repository === "" ? "" : ` of ${repository}`} that ${reason}`;
    })),
  ];
  const { allowed = false, reason = "no user can answer here" } =
    await approve?.({ what, why: "", scope: scopes.join(", "), scopes }) ?? {};
  if (!allowed) throw new Error(`Cannot ${what}: ${reason}`);
  return true;
}

/** Returns "" for the repository of the workspace. */
function repositoryOf(context: FsContext, path: string): string {
  const top = addedFolderOf(context, path), git = (folder: string): string => `${folder}/.git`;
  const found = foldersOf(path, top).findLast((folder) => folder !== "" && look(context, git(folder)) !== null) ?? top;
  return /^\.\.(?:\/\.\.)*$/.test(found) ? "" : found;
}

function renamed(items: readonly ChangeItem[], moves: readonly Move[]): readonly Move[] {
  return items.flatMap(({ path, before, from }): Move[] => {
    if (from !== undefined) return [{ from, to: path }];
    const move = moves.find((one) => path === one.from || path.startsWith(`${one.from}/`));
    return move && before?.kind === "file" ? [{ from: path, to: `${move.to}${path.slice(move.from.length)}` }] : [];
  });
}

async function begin(
  { checkpoints, source, tree, readFolders = [] }: FsContext,
  { change, of, kept: left, items, temporary, moves }: Required<Omit<Change, "targets">> & {
    readonly temporary: ReadonlyMap<string, string>;
  },
): Promise<string | null> {
  if (checkpoints === null) return null;
  const files = renamed(items, moves);
  const sources = new Map(files.map(({ from, to }) => [to, from]));
  const kept = [];
  for (const { path, before, after, from } of items) {
    const isWhole = moves.length > 0 || before?.kind !== "file" && from === undefined || temporary.has(path);
    const state = isWhole ? await stateOf(after) : await checkpoints.keep(after);
    const facts = before?.kind === "file" || sources.has(path) ? tree.look(sources.get(path) ?? path) : null;
    const link = facts?.kind === "file" && facts.names > 1 ? { link: facts.id } : {};
    kept.push({ path, before: await checkpoints.keep(before), after: state, ...link });
  }
  const id = checkpoints.newId();
  const added = new Set(
    items.map(({ path }) => addedFolderOf({ readFolders }, path)).filter((folder) => folder !== ""),
  );
  const own = {
    change,
    of,
    ...(left.length > 0 ? { kept: left } : {}),
    ...(added.size > 0 ? { added: [...added] } : {}),
    items: kept,
    ...(files.length > 0 ? { moves: files } : {}),
    temporary: [...temporary.values()],
  };
  await checkpoints.begin({ ...source, id, at: Date.now(), ...own });
  return id;
}

function missingFolders({ tree }: FsContext, items: readonly ChangeItem[]): ChangeItem[] {
  const named = new Set(items.map(({ path }) => path));
  const missing = new Set<string>();
  for (const { path, after } of items) {
    if (after === null) continue;
    for (let at = dirname(path); at !== "." && !named.has(at) && !missing.has(at); at = dirname(at)) {
      if (tree.look(at) !== null) break;
      missing.add(at);
    }
  }
  return [...missing].sort().map((path) => ({ path, before: null, after: { kind: "dir", mode: null } }));
}

/** Undo needs the old content, so a call removes or moves at most this many bytes. */
export const MAX_KEPT = 64 * 1024 * 1024;

export async function takeSnapshot(
  context: Pick<FsContext, "tree" | "signal">,
  path: string,
): Promise<PathSnapshot> {
  const facts = look(context, path);
  if (facts === null) return null;
  const { mode, uid, gid } = facts;
  if (facts.kind === "dir") return { kind: "dir", mode };
  if (facts.kind === "link") return { kind: "link", target: context.tree.readLink(path) };
  if (facts.kind === "other") throw new RangeError(`Cannot change ${path}: it is not a regular file`);
  await new Pace(context.signal).rest();
  using file = context.tree.open(path);
  const bytes = await readWhole(file, { size: file.facts.size, most: MAX_KEPT, signal: context.signal });
  if (bytes !== null) return { kind: "file", bytes, mode, owner: { uid, gid }, attributes: file.attributes() };
  throw tooLarge(`Cannot change ${path}`, {
    size: file.facts.size,
    most: MAX_KEPT,
    by: "undo keeps at most",
    wayOut: INSTEAD,
  });
}

function look({ tree }: Pick<FsContext, "tree">, path: string) {
  try {
    return tree.look(path);
  } catch (error) {
    throw error instanceof Deno.errors.FilesystemLoop ? movedMeanwhile(path) : error;
  }
}

interface HalfChanged {
  readonly path: string;
  readonly before: PathSnapshot;
  readonly after: State;
  readonly made?: PathSnapshot | undefined;
  readonly from?: string | undefined;
}

/** Returns false if an item could have the change still. */
async function putBack(
  context: Pick<FsContext, "tree" | "guard">,
  items: readonly HalfChanged[],
): Promise<boolean> {
  const place = { ...context, signal: undefined };
  const changed: ChangeItem[] = [];
  const befores = new Map(items.map(({ path, before }) => [path, before]));
  const renamed = new Map<string, string>();
  let isWhole = true;
  for (const { path, before, after, made = null, from } of items) {
    const now = await current(place, path);
    if (now === "unknown") {
      isWhole = false;
      continue;
    }
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
    // Between the removal of an entry and the creation of another kind of entry, the path was empty.
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
  for (const item of failed) if (!await isReverted(place, item)) isWhole = false;
  return isWhole;
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

type Place = Pick<FsContext, "tree" | "guard" | "checkpoints">;

export async function recover(
  { treeWith, ...place }: Omit<Place, "tree"> & { treeWith(added: readonly string[]): Tree },
): Promise<number> {
  const { checkpoints } = place;
  const abandoned = await checkpoints?.abandoned() ?? [];
  for (const checkpoint of abandoned) {
    const context = { ...place, tree: treeWith(recordedFolders([checkpoint])) };
    removeTemporary(context, checkpoint);
    // The user can later undo the rest, such as files in an added folder that is absent now.
    if (await putBack(context, await itemsOf(context, checkpoint))) await checkpoints?.drop(checkpoint.id);
    else await checkpoints?.done(checkpoint.id);
  }
  return abandoned.length;
}

async function itemsOf({ checkpoints }: Place, { items, moves = [] }: Checkpoint): Promise<readonly HalfChanged[]> {
  const sources = new Map(moves.map(({ from, to }) => [to, from]));
  const loaded = await Promise.all(items.map(async ({ path, before, after }) => {
    const snapshot = await checkpoints?.load(before).catch(() => undefined);
    const made = await checkpoints?.load(after).catch(() => null);
    return snapshot === undefined ? [] : [{ path, before: snapshot, after, made, from: sources.get(path) }];
  }));
  return loaded.flat();
}

function removeTemporary({ tree, guard }: Place, { temporary }: Checkpoint): void {
  for (const path of temporary) {
    const name = path.slice(path.lastIndexOf("/") + 1);
    try {
      using folder = tree.folder(dirname(path), (one) => guard.check(one));
      if (isTemporary(name)) folder.remove(name);
    } catch { /* A temporary file that Vis cannot remove stays. */ }
  }
}
