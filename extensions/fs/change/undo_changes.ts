import {
  type ChangeItem,
  type Checkpoint,
  type Checkpoints,
  HOOK,
  isLostState,
  isSameState,
  LostContents,
  NO_COPY,
  type State,
  stateOf,
} from "../checkpoints.ts";
import { addedFolderOf, confineEntryForWrite } from "../confine.ts";
import type { FsContext } from "../context.ts";
import { askForSecret, isHiddenSecret } from "../read/read_place.ts";
import type { Facts } from "../tree/tree.ts";
import { committedSince } from "../command_changes/git_contents.ts";
import { changeFiles, foldersOf, takeSnapshot } from "./change_files.ts";
import { diffOf, withoutLines, type Written, written } from "./current_file.ts";
import { advised, AS_BEFORE, Pace, reasonOf, someOf, type UndoneChange } from "@vis/extension";
import { diffHead } from "../patch/unified_diff.ts";

export interface UndoOptions extends UndoChoice {
  /** If true, the undo also changes files with other changes since or in a commit, and files that an undo kept. */
  readonly force?: boolean | undefined;
  readonly rest?: boolean | undefined;
  /** If true, the undo also changes files in a commit. */
  readonly committed?: boolean | undefined;
  readonly dryRun?: boolean | undefined;
  /** The diffs of a dry run show the undo instead of the changes that it would revert. */
  readonly effect?: boolean | undefined;
}

interface Undone {
  readonly changes: readonly OpenChange[];
  readonly files: readonly Pick<Written, "path" | "diff">[];
  readonly folders: readonly string[];
  readonly kept: readonly Kept[];
}

interface Kept {
  readonly path: string;
  readonly reason: string;
}

const BY_OTHERS = "got other changes since", COMMITTED = "went into a git commit since";
const MAX_NAMED = 5, MAX_KEPT = 50;

/** With neither `rest` nor `force`, rejects with `UndoRefused` and changes nothing if the undo must keep a file. */
export async function undoChanges(
  context: FsContext,
  { force = false, rest = false, committed = force, dryRun = false, effect = false, ...choice }: UndoOptions,
): Promise<Undone> {
  const { checkpoints } = context;
  if (!checkpoints) {
    throw new Error(
      "Cannot undo the changes: Vis has no home folder, so it stored no file checkpoints; to undo later changes, set " +
        "VIS_HOME to a writable folder",
    );
  }
  const all = await checkpoints.list();
  const changes = chooseChanges(all, { ...choice, force });
  if (changes.length === 0 && choice.changes) return { changes, files: [], folders: [], kept: [] };
  if (changes.length === 0) throw nothing(all, choice);
  const plan = await itemsOf(context, { changes, checkpoints, force });
  const { items, kept } = await apart(
    withRenames(committed ? plan : await withoutCommitted(context, plan, changes), changes),
    (path) => lookAt(context, path),
  );
  const isPassed = items.length === 0 && kept.length > 0 && kept.every(({ reason }) => reason === NO_COPY);
  if (kept.length > 0 && !isPassed && (items.length === 0 || !rest && !force)) throw refused({ items, kept }, choice);
  for (const { path, before, after } of items) {
    if (before?.kind !== "file" && after?.kind !== "file") continue;
    await askForSecret(context, {
      place: { path, real: path },
      action: choice.redo ? "redo changes of" : "undo changes of",
      isChange: !dryRun,
      isOther: after !== null,
    });
  }
  if (!dryRun) {
    const [change, left] = [choice.redo ? "redo" : "undo", kept.map(({ path }) => path)];
    await changeFiles(asOneOf(context, changes), { change, items, of: changes.map(({ id }) => id), kept: left });
    noteSeparate(context, { items, changes });
  }
  const files: Undone["files"][number][] = [], isBack = beforeRequest(all, context);
  for (const item of items.filter((item) => [item.before, item.after].some((one) => one && one.kind !== "dir"))) {
    if (dryRun) files.push(await shown(context, item, { items, effect }));
    else {
      const { diff, ...one } = await written(context, item);
      files.push({ ...one, diff: isBack(item.path, await stateOf(item.after)) ? marked(item.path, diff) : diff });
    }
  }
  for (const { path, after } of dryRun ? [] : items) {
    if (after?.kind === "dir" && isBack(path, await stateOf(after))) context.changedFile?.(marked(path, ""));
  }
  if (isPassed) throw refused({ items, kept }, choice, dryRun ? "" : "; repeat for an earlier change");
  if (items.length === 0 && !dryRun && !choice.changes) throw nothingLeft(changes, choice);
  const left = new Set(kept.map(({ path }) => path)), paths = new Set(items.map(({ path }) => path));
  const stay = dryRun ? [] : items.filter(({ path, after }) => after === null && lookAt(context, path)?.kind === "dir");
  for (const { path } of stay) context.note(`${path} stays, because the folder is not empty`);
  const folders = [...paths].filter((path) => ![...files, ...stay].some((one) => one.path === path));
  return { changes: changes.filter((one) => one.items.some(({ path }) => !left.has(path))), files, folders, kept };
}

/** Finds files that are as before the request, so that no list of its changes names them. */
function beforeRequest(
  all: readonly Checkpoint[],
  { conversationId, source: { queryId } }: Pick<FsContext, "conversationId" | "source">,
): (path: string, state: State) => boolean {
  const firsts = new Map<string, State>();
  for (const one of queryId === null ? [] : all) {
    if (one.queryId !== queryId || one.conversationId !== conversationId) continue;
    for (const { path, before } of one.items) if (!firsts.has(path)) firsts.set(path, before);
  }
  return (path, state) => firsts.has(path) && isSameState(firsts.get(path) ?? null, state);
}

function marked(path: string, diff: string): string {
  return `${diff || diffHead(path, path)}${AS_BEFORE}\n`;
}

function noteSeparate(
  context: FsContext,
  { items, changes }: { readonly items: readonly ChangeItem[]; readonly changes: readonly Checkpoint[] },
): void {
  const removed = changes.flatMap((one) => one.items.filter(({ after, link }) => after === null && link !== undefined));
  const paths = new Set(removed.map(({ path }) => path));
  for (const { path, before, after, from } of items) {
    if (before !== null || after?.kind !== "file" || from !== undefined || !paths.has(path)) continue;
    context.note(`${path} was one of several names of a file (hard links); it is a file of its own now`);
  }
}

function nothing(all: readonly Checkpoint[], choice: UndoChoice): Error {
  const rest = choice.redo ? [] : chooseChanges(all, { ...choice, force: true });
  if (rest.length === 0) return new NothingToUndo(`Nothing to ${choice.redo ? "redo" : "undo"}`);
  const paths = [...new Set(rest.flatMap(({ items }) => items.map(({ path }) => path)))];
  return new UndoRefused(`Nothing to undo, except in ${someOf(paths, MAX_NAMED)}, which an undo kept`, {
    forcible: true,
  });
}

function nothingLeft(changes: readonly Checkpoint[], { redo }: UndoChoice): Error {
  const paths = [...new Set(changes.flatMap(({ items }) => items.map(({ path }) => path)))];
  return advised(
    new Error(
      `Cannot ${redo ? "redo" : "undo"} the change: the state of ${someOf(paths, MAX_NAMED)} is already ` +
        `as ${redo ? "after" : "before"} it`,
    ),
    "repeat for an earlier change",
  );
}

function refused({ items, kept }: Plan, { redo }: UndoChoice, next = ""): UndoRefused {
  const reasons = Map.groupBy(kept, ({ reason }) => reason);
  const parts = [...reasons].map(([reason, those]) => {
    return `${someOf(those.map(({ path }) => path), MAX_KEPT)} ${reason}`;
  });
  const end = items.length === 0 ? next : "; no file changed";
  const folders = items.filter(({ before, after }) => (after ?? before)?.kind === "dir");
  return new UndoRefused(`Cannot ${redo ? "redo" : "undo"}: ${parts.join(", and ")}${end}`, {
    forcible: isForcible(kept),
    others: items.length - folders.length,
    otherFolders: folders.length,
    kept,
  });
}

export function isForcible(kept: readonly Kept[]): boolean {
  return kept.some(({ reason }) => reason === BY_OTHERS || reason === COMMITTED);
}

/** A moved file has one diff with both of its names, which belongs to its current name. */
async function shown(
  context: FsContext,
  item: ChangeItem,
  { items, effect }: { readonly items: readonly ChangeItem[]; readonly effect: boolean },
): Promise<Undone["files"][number]> {
  const { path } = item, other = items.find((one) => one.from === path || one.path === item.from);
  const [now, back] = item.from === undefined ? [item, other] : [other, item];
  const paths = [path, ...other ? [other.path] : []];
  const hidden = await Promise.all(paths.map((one) => isHiddenSecret(context, { path: one, real: one })));
  const isHidden = hidden.includes(true);
  const diffIn = async (before: ChangeItem["before"], after: ChangeItem["after"]): Promise<string> =>
    await diffOf({ path, ...effect ? { before, after } : { before: after, after: before } });
  const joined = now && back ? await diffIn(now.before, back.after) : null;
  if (!now || !back || joined === null || joined.startsWith("Binary ")) {
    return { path, diff: withoutLines(await diffIn(item.before, item.after), { isHidden }) };
  }
  if (item === back) return { path, diff: "" };
  const [from, to] = effect ? [now.path, back.path] : [back.path, now.path];
  return { path, diff: withoutLines(diffHead(from, to) + joined.replace(/^--- .*\n\+\+\+ .*\n/, ""), { isHidden }) };
}

function asOneOf(context: FsContext, [newest]: readonly Checkpoint[]): FsContext {
  if (context.conversationId !== "" || !newest) return context;
  const { conversationId } = newest;
  return { ...context, source: { conversationId, queryId: null, iterationId: null } };
}

async function withoutCommitted(
  context: FsContext,
  { items, kept }: Plan,
  changes: readonly Checkpoint[],
): Promise<Plan> {
  const files = new Map(items.flatMap(({ path, before }) => {
    const at = changes.find((one) => one.items.some((item) => item.path === path))?.at;
    return before?.kind === "file" && at !== undefined ? [[path, { bytes: before.bytes, at }] as const] : [];
  }));
  const committed = await committedSince(context, files, (path) => files.get(path)?.bytes ?? null);
  if (committed.size === 0) return { items, kept };
  return {
    items: items.filter(({ path }) => !committed.has(path)),
    kept: [...kept, ...[...committed.keys()].map((path) => ({ path, reason: COMMITTED }))],
  };
}

/** Maps files to the time of a later commit. `changes` must begin with the latest change. */
export async function committedFiles(
  context: FsContext,
  changes: readonly Checkpoint[],
): Promise<ReadonlyMap<string, number>> {
  const files = new Map(changes.flatMap(({ at, items }) => items.map(({ path }) => [path, { at }] as const)));
  return await committedSince(context, files, async (path) => {
    const now = await takeSnapshot(context, path).catch(() => null);
    context.signal?.throwIfAborted();
    return now?.kind === "file" ? now.bytes : null;
  });
}

export async function undoneByUser(
  context: FsContext,
  { seen, since }: { readonly seen: Set<string>; readonly since: number },
): Promise<readonly UndoneChange[]> {
  const { checkpoints, conversationId, source: { queryId } } = context;
  const undone: UndoneChange[] = [];
  let isBack: ReturnType<typeof beforeRequest> | null = null;
  for (const one of await checkpoints?.unseen(seen, { since }) ?? []) {
    const redo = one.change === "redo";
    if (!checkpoints || one.queryId !== null || one.conversationId !== conversationId) continue;
    if (!redo && one.change !== "undo") continue;
    const named = await Promise.all(one.of.map((id) => checkpoints.find(id)));
    const of = redo
      ? await Promise.all(named.flatMap((undo) => undo?.of ?? []).map((id) => checkpoints.find(id)))
      : named;
    if (of.every((change) => change?.queryId !== queryId)) continue;
    isBack ??= beforeRequest(await checkpoints.list(), context); // An undo is rare, and a list reads each checkpoint.
    for (const { path, before, after } of one.items) {
      const [from, to] = await Promise.all(
        [before, after].map((state) => checkpoints.load(state).catch(() => undefined)),
      );
      const isKnown = from !== undefined && to !== undefined;
      const isHidden = await isHiddenSecret(context, { path, real: path });
      const diff = isKnown ? withoutLines(await diffOf({ path, before: from, after: to }), { isHidden }) : "";
      undone.push({ path, redo, diff: isBack(path, after) ? marked(path, diff) : diff });
    }
  }
  return undone;
}

/** Maps ids of changes to files that an undo without `force` would keep, apart from files in commits. `changes` must
 * begin with the latest change. */
export async function undoFaults(
  context: FsContext,
  changes: readonly Checkpoint[],
): Promise<ReadonlyMap<string, readonly Kept[]>> {
  const { checkpoints } = context;
  if (!checkpoints) return new Map();
  const links = linksOf(changes);
  const seen = new Map<string, { readonly to: State; readonly reason: string | null }>();
  const pace = new Pace(context.signal);
  const reasonFor = async ({ path, before, after, link }: Checkpoint["items"][number]): Promise<string | null> => {
    const later = seen.get(path), shared = links.get(link ?? "");
    if (later && later.reason !== null) return later.reason;
    if (shared?.isBroken || later && !shared && !isSameState(later.to, after)) return BY_OTHERS;
    try {
      if (later) return (await checkpoints.load(before), null);
      const from = withContent(after, shared?.from), to = withContent(before, shared?.to);
      return (await itemOf(context, path, { from, to, checkpoints })).isOther ? BY_OTHERS : null;
    } catch (error) {
      context.signal?.throwIfAborted();
      return reasonOf(error);
    }
  };
  const faults = new Map<string, readonly Kept[]>();
  for (const { id, items } of changes) {
    const kept: Kept[] = [];
    for (const item of items) {
      if (pace.due) await pace.rest();
      const reason = await reasonFor(item);
      if (reason !== null) kept.push({ path: item.path, reason });
      seen.set(item.path, { to: item.before, reason });
    }
    if (kept.length > 0) faults.set(id, kept);
  }
  return faults;
}

interface Undoing {
  readonly changes: readonly Checkpoint[];
  readonly checkpoints: Checkpoints;
  readonly force: boolean;
}

interface Plan {
  readonly items: readonly ChangeItem[];
  readonly kept: readonly Kept[];
}

function withRenames({ items, kept }: Plan, changes: readonly Checkpoint[]): Plan {
  const names = new Map<string, string>();
  for (const { from, to } of changes.flatMap(({ moves = [] }) => moves)) {
    const name = names.get(to) ?? to;
    names.delete(to);
    names.set(from, name);
  }
  const goes = new Set(items.filter(({ before, after }) => before?.kind === "file" && !after).map(({ path }) => path));
  const renamed = items.map((item) => {
    const from = names.get(item.path);
    if (item.before !== null || item.after?.kind !== "file" || from === undefined || !goes.delete(from)) return item;
    return { ...item, from };
  });
  return { items: renamed, kept };
}

async function apart({ items, kept }: Plan, look: (path: string) => Facts | null): Promise<Plan> {
  const written = new Map<string, { readonly path: string; readonly state: State }>();
  const [own, left]: [ChangeItem[], Kept[]] = [[], []];
  for (const item of items) {
    const { path, after, from = path } = item;
    const id = after?.kind === "file" ? linkOf(look(from)) : null;
    const state = await stateOf(after);
    const other = id === null ? undefined : written.get(id);
    if (other && !isSameState(other.state, state)) {
      left.push({ path, reason: sharedWith(other.path) });
      continue;
    }
    if (id !== null) written.set(id, { path, state });
    own.push(item);
  }
  const renamed = new Map(kept.map(({ path, reason }) => {
    const other = written.get(linkOf(look(path)) ?? "");
    return [path, other && reason === BY_OTHERS ? sharedWith(other.path) : reason];
  }));
  return { items: own, kept: [...[...renamed].map(([path, reason]) => ({ path, reason })), ...left] };
}

function sharedWith(path: string): string {
  return `shares its content with ${path} by a hard link`;
}

function linkOf(facts: Facts | null): string | null {
  return facts?.kind === "file" && facts.names > 1 ? facts.id : null;
}

async function itemsOf(
  context: FsContext,
  { changes, checkpoints, force }: Undoing,
): Promise<Plan> {
  const { wanted, broken } = composed(changes);
  const items: ChangeItem[] = [];
  const kept: Kept[] = [];
  const pace = new Pace(context.signal);
  for (const [path, states] of [...wanted].sort(([a], [b]) => a < b ? -1 : 1)) {
    if (pace.due) await pace.rest();
    try {
      const folders = foldersOf(path, addedFolderOf(context, path));
      const at = folders.find((one) => lookAt(context, one)?.kind !== "dir");
      if (at !== undefined && wanted.get(at)?.to?.kind === "dir") {
        items.push({ path, before: null, after: await checkpoints.load(states.to) });
        continue;
      }
      const { item, isOther } = await itemOf(context, path, { ...states, checkpoints });
      if (item === null) continue;
      if (!force && (isOther || broken.has(path))) kept.push({ path, reason: BY_OTHERS });
      else items.push(item);
    } catch (error) {
      context.signal?.throwIfAborted();
      kept.push({ path, reason: error instanceof LostContents ? NO_COPY : `stayed, because ${reasonOf(error)}` });
    }
  }
  return { items, kept };
}

function lookAt({ tree }: FsContext, path: string): Facts | null {
  try {
    return tree.look(path);
  } catch {
    return null;
  }
}

async function itemOf(
  context: FsContext,
  path: string,
  { from, to, checkpoints }: { readonly from: State; readonly to: State; readonly checkpoints: Checkpoints },
): Promise<{ readonly item: ChangeItem | null; readonly isOther: boolean }> {
  confineEntryForWrite(context, path);
  const seen = context.tree.look(path);
  if (isLostState(to) || isLostState(from) && (seen !== null || to !== null)) throw new LostContents(NO_COPY);
  const before = await takeSnapshot(context, path);
  const now = await stateOf(before);
  if (isSameState(now, to) && (modeOf(from) === modeOf(to) || modeOf(now) !== modeOf(from))) {
    return { item: null, isOther: false };
  }
  const loaded = await checkpoints.load(to);
  const owner = before?.kind === "file" ? before.owner : null;
  const after = loaded?.kind === "file" ? { ...loaded, owner } : loaded;
  return { item: { path, before, after, seen }, isOther: !isSameState(now, from) };
}

function modeOf(state: State): number | null {
  return state?.kind === "file" ? state.mode : null;
}

interface Wanted {
  readonly from: State;
  readonly to: State;
  readonly fromLink: string | undefined;
  readonly toLink: string | undefined;
}

function composed(changes: readonly Checkpoint[]) {
  const paths = new Map<string, Wanted>();
  const broken = new Set<string>();
  const links = linksOf(changes);
  for (const { items } of changes) {
    for (const { path, before, after, link } of items) {
      const later = paths.get(path);
      const isShared = link !== undefined && link === later?.toLink && later.to?.kind === after?.kind;
      if (later && !isShared && !isSameState(later.to, after)) broken.add(path);
      if (link !== undefined && links.get(link)?.isBroken) broken.add(path);
      const [from, fromLink] = later ? [later.from, later.fromLink] : [after, link];
      paths.set(path, { from, to: before, fromLink, toLink: link });
    }
  }
  const wanted = new Map([...paths].map(([path, { from, to, fromLink, toLink }]) => [path, {
    from: from?.kind === "file" ? withContent(from, links.get(fromLink ?? "")?.from) : from,
    to: to?.kind === "file" ? withContent(to, links.get(toLink ?? "")?.to) : to,
  }]));
  return { wanted, broken };
}

function linksOf(changes: readonly Checkpoint[]) {
  const links = new Map<string, { readonly from: State; readonly to: State; readonly isBroken: boolean }>();
  for (const { items, moves = [] } of changes) {
    const befores = new Map<string, State>();
    const byPath = new Map(items.map((item) => [item.path, item]));
    for (const { path, before, after, link } of items.toReversed()) {
      if (link === undefined) continue;
      const to = moves.find((move) => move.from === path)?.to ?? "";
      const from = moves.find((move) => move.to === path)?.from ?? "";
      const made = after ?? byPath.get(to)?.after ?? before;
      const was = before ?? byPath.get(from)?.before ?? after;
      const later = links.get(link);
      const isKnown = befores.has(link) && isSameState(befores.get(link) ?? null, was);
      const isBroken = later !== undefined && (later.isBroken || !isKnown && !isSameState(later.to, made));
      befores.set(link, was);
      links.set(link, { from: later ? later.from : made, to: was, isBroken });
    }
  }
  return links;
}

function withContent(state: State, content: State | undefined): State {
  return content?.kind === "file" ? content : state;
}

interface UndoChoice {
  readonly steps?: number | undefined;
  readonly scope?: "call" | "step" | "request" | undefined;
  readonly changes?: readonly string[] | undefined;
  readonly conversation?: string | undefined;
  readonly cuts?: readonly { readonly queryId: string; readonly at: number }[] | undefined;
  readonly redo?: boolean | undefined;
  readonly force?: boolean | undefined;
}

export function isOf({ conversationId }: Pick<Checkpoint, "conversationId">, conversation: string): boolean {
  return conversation === "" || conversationId === conversation;
}

export function chooseChanges(all: readonly Checkpoint[], choice: UndoChoice): readonly OpenChange[] {
  const { conversation = "", redo = false, steps, scope = "call", changes: named, cuts = [], force = false } = choice;
  const isCut = (one: Checkpoint) => cuts.some(({ queryId, at }) => one.queryId === queryId && one.at >= at);
  const open = openChanges(all).filter((one) =>
    isOf(one, conversation) && (!one.isRest || force && !one.items.every(hasLost)) && ![one, ...one.undone].some(isCut)
  ).reverse();
  // An undo that found each file as before the change left nothing to redo.
  if (redo) return open.filter(({ change, items }) => change === "undo" && items.length > 0).slice(0, steps ?? 1);
  if (named) return open.filter(({ id }) => named.includes(id));
  const changes = open.filter(({ change }) => change !== "undo" && change !== "redo");
  const [newest] = changes;
  if (!newest || steps !== undefined || scope === "call") {
    const calls = changes.filter(({ change }) => change !== HOOK);
    const oldest = calls[(steps ?? 1) - 1];
    return oldest ? changes.slice(0, changes.indexOf(oldest) + 1) : changes;
  }
  const sameQuery = (one: Checkpoint): boolean =>
    one.conversationId === newest.conversationId && one.queryId === newest.queryId &&
    (newest.queryId !== null || one.iterationId === newest.iterationId);
  const isSame = scope === "request"
    ? sameQuery
    : (one: Checkpoint) => one.iterationId === newest.iterationId && sameQuery(one);
  if (newest.queryId === null && newest.iterationId === null) return [newest];
  return changes.filter(isSame);
}

function hasLost({ before, after }: Checkpoint["items"][number]): boolean {
  return isLostState(before) || isLostState(after);
}

/** Maps ids of changes to files that an undo of the whole request cannot restore. `changes` must begin with the latest
 * change. */
export function lostPaths(changes: readonly Checkpoint[]): ReadonlyMap<string, readonly string[]> {
  const lost = new Map<string, readonly string[]>();
  for (const those of Map.groupBy(changes, ({ queryId }) => queryId).values()) {
    const { wanted } = composed(those);
    for (const { id, items } of those) {
      const paths = items.map(({ path }) => path);
      lost.set(
        id,
        paths.filter((path) => [wanted.get(path)?.from, wanted.get(path)?.to].some((one) => one && isLostState(one))),
      );
    }
  }
  return lost;
}

interface OpenChange extends Checkpoint {
  readonly isRest: boolean;
  readonly undone: readonly Checkpoint[];
}

/** Returns the changes that are not undone or only partly undone, in the order of `all`. */
export function openChanges(all: readonly Checkpoint[]): OpenChange[] {
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
    const undone = one.change === "undo" ? one.of.flatMap((id) => byId.get(id) ?? []) : [];
    if (rest === undefined) return [{ ...one, isRest: false, undone }];
    const items = one.items.filter(({ path }) => rest.includes(path));
    return items.length > 0 ? [{ ...one, items, isRest: true, undone }] : [];
  });
}

export class NothingToUndo extends Error {
  override readonly name = "NothingToUndo";
}

export class UndoRefused extends Error {
  override readonly name = "UndoRefused";
  readonly forcible: boolean;
  readonly others: number;
  readonly otherFolders: number;
  readonly kept: readonly Kept[];

  constructor(
    message: string,
    { forcible, others = 0, otherFolders = 0, kept = [] }:
      & Pick<UndoRefused, "forcible">
      & Partial<Pick<UndoRefused, "others" | "otherFolders" | "kept">>,
  ) {
    super(message);
    [this.forcible, this.others, this.otherFolders, this.kept] = [forcible, others, otherFolders, kept];
  }
}
