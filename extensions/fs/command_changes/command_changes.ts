import { diffOf, isSameContent } from "../change/current_file.ts";
import { type ChangeItem, HOOK, lostState, type PathSnapshot, type State, stateOf } from "../checkpoints.ts";
import type { FsContext } from "../context.ts";
import { diffHead } from "../patch/unified_diff.ts";
import { AT, sha256Of, type Tree } from "../tree/tree.ts";
import { GitContents } from "./git_contents.ts";
import { type Difference, isFolderStamp, isSameStamp, type Stamp, WorkspaceScan } from "./workspace_scan.ts";
import { type EnvironmentView, type FileChanges, isSecretFile, Pace, reasonOf } from "@vis/extension";

const MOST_ITEMS = 2_000, MOST_BYTES = 64 << 20, MOST_OF_FILE = 16 << 20;
const KEPT_FILES = 2_000, KEPT_BYTES = 32 << 20, KEPT_OF_FILE = 1 << 20;
const MOST_DIFFS = 200, DIFF_BYTES = 4 << 20;
const MOST_NAMED = 40;
const KIND = 0o170000, LINK = 0o120000, MODE = 0o7777;

interface Copy {
  readonly stamp: Stamp;
  readonly snapshot: NonNullable<PathSnapshot>;
}

interface Changed extends Difference {
  readonly old: PathSnapshot | undefined;
  readonly now: PathSnapshot | undefined;
  readonly from?: string;
}

export class CommandChanges {
  readonly #look: WorkspaceScan;
  readonly #git: GitContents;
  readonly #copies = new Map<string, Copy>();
  #copied = 0;
  #running = 0;
  #foreground = 0;
  #isOpen = false;
  #untold: Report = emptyReport();
  #isOff = false;

  constructor(root: string, tree: Tree, { all = false } = {}) {
    this.#look = new WorkspaceScan(root, tree, { all });
    this.#git = new GitContents(root, { all });
  }

  /** While only background programs run, the differences before another program begins are rather the user's edits, which
   * undo must not revert. */
  async begin(
    context: FsContext,
    { spawn, root }: Pick<EnvironmentView, "spawn" | "root">,
    { isBackground = false } = {},
  ): Promise<void> {
    const found = await this.#next(context);
    const isOfUser = this.#foreground === 0 && this.#running > 0;
    if (this.#isOpen && !isOfUser) this.#untold = joined(this.#untold, await this.#record(context, found, spawn));
    await this.#git.refresh(root);
    await this.#copy(context, found);
    this.#running++;
    if (!isBackground) this.#foreground++;
    this.#isOpen = true;
  }

  ended({ isBackground = false } = {}): void {
    this.#running--;
    if (!isBackground) this.#foreground--;
  }

  async report(
    context: FsContext,
    spawn: EnvironmentView["spawn"],
    { isHook = false, only, began }: {
      readonly isHook?: boolean;
      readonly only?: ReadonlySet<string> | undefined;
      readonly began?: number | undefined;
    } = {},
  ): Promise<FileChanges | null> {
    if (!this.#isOpen) return null;
    const found = await this.#next(context);
    const isOwn = ({ path }: Difference): boolean => this.#running > 0 || only === undefined || only.has(path);
    await this.#copy(context, found.filter((one) => !isOwn(one)));
    const recorded = await this.#record(context, found.filter(isOwn), spawn, {
      change: isHook ? HOOK : "command",
      began,
    });
    const report = joined(this.#untold, recorded);
    this.#untold = emptyReport();
    this.#isOpen = this.#running > 0;
    return report.files === 0 ? null : report;
  }

  accept(items: readonly ChangeItem[]): void {
    for (const { path, after } of items) {
      const stamp = this.#look.accept(path);
      if (stamp !== undefined) this.#keep(path, stamp, after);
    }
  }

  async #next({ note }: FsContext): Promise<readonly Difference[]> {
    if (this.#isOff) return [];
    try {
      return await this.#look.next();
    } catch (error) {
      this.#isOff = true;
      note(`Vis does not see changes of commands here, and undo cannot revert them: ${reasonOf(error)}`);
      return [];
    }
  }

  async #copy(context: FsContext, found: readonly Difference[]): Promise<void> {
    const pace = new Pace();
    for (const { path, after } of found) {
      if (pace.due) await pace.rest();
      const isKept = after === null || isFolderStamp(after) || this.#git.has(path, after);
      const snapshot = isKept ? null : snapshotAt(context.tree, path, { stamp: after, most: KEPT_OF_FILE });
      this.#keep(path, after, snapshot ?? null);
    }
  }

  #keep(path: string, stamp: Stamp | null, snapshot: PathSnapshot): void {
    this.#copied -= sizeOf(this.#copies.get(path)?.snapshot);
    this.#copies.delete(path);
    const size = sizeOf(snapshot);
    const fits = size <= KEPT_OF_FILE && this.#copied + size <= KEPT_BYTES && this.#copies.size < KEPT_FILES;
    if (stamp === null || snapshot === null || snapshot.kind === "dir" || !fits) return;
    this.#copies.set(path, { stamp, snapshot });
    this.#copied += size;
  }

  async #record(
    context: FsContext,
    found: readonly Difference[],
    spawn: EnvironmentView["spawn"],
    { change = "command", began }: { readonly change?: string; readonly began?: number | undefined } = {},
  ): Promise<Report> {
    const own = found.filter((one) => !one.wasIgnored);
    await this.#copy(context, found.filter((one) => one.wasIgnored));
    if (own.length === 0) return emptyReport();
    const all = await this.#contents(context, own, spawn);
    const changed = all.filter(isChanged);
    for (const { path, after, now } of all) this.#keep(path, after, now ?? null);
    const known = changed.filter(({ old, now }) => old !== undefined && now !== undefined);
    const lost = changed.filter(({ old, now }) => old === undefined || now === undefined).slice(0, MOST_ITEMS);
    const moves = known.flatMap(({ path, from }) => from === undefined ? [] : [{ from, to: path }]);
    let isStored = true;
    try {
      await store(context, { change, began, moves, changed: [...known, ...lost] });
    } catch (error) {
      isStored = false;
      context.note(`Undo cannot revert the changes of the ${change}: ${reasonOf(error)}`);
    }
    await tell(context, changed);
    await remember(context, known);
    const report = reportOf(changed);
    return isStored ? report : { ...report, notUndoable: report.files };
  }

  async #contents(
    { tree }: FsContext,
    found: readonly Difference[],
    spawn: EnvironmentView["spawn"],
  ): Promise<readonly Changed[]> {
    const sorted = found.toSorted((a, b) => a.path < b.path ? -1 : 1);
    const added = new Map(sorted.flatMap((one) => one.before === null && one.after ? [[fileOf(one.after), one]] : []));
    const ofGit = new Map<string, Stamp>(), pace = new Pace();
    let count = 0, bytes = 0;
    const fits = (stamp: Stamp | null): boolean => {
      const size = stamp === null || isFolderStamp(stamp) ? 0 : stamp[AT.size] ?? 0;
      if (size > MOST_OF_FILE || bytes + size > MOST_BYTES) return false;
      bytes += size;
      return true;
    };
    const known: (Changed & { readonly isKnown: boolean })[] = [];
    for (const one of sorted) {
      if (pace.due) await pace.rest();
      const { path, before, after } = one;
      const isKnown = ++count <= MOST_ITEMS && fits(before) && fits(after);
      const now = isKnown ? snapshotAt(tree, path, { stamp: after, most: MOST_OF_FILE }) : undefined;
      const old = isKnown ? this.#oldOf(path, before) : undefined;
      if (isKnown && old === undefined && before !== null) ofGit.set(path, before);
      known.push({ ...one, old, now, isKnown });
    }
    const texts = await this.#git.read(
      new Map([...ofGit].filter(([path, stamp]) => this.#git.has(path, stamp))),
      spawn,
    );
    const byPath = new Map(known.map((one) => [one.path, one]));
    const sources = new Map(known.flatMap(({ path, before, after }) => {
      const to = before === null || after !== null || isFolderStamp(before) ? undefined : added.get(fileOf(before));
      return to === undefined ? [] : [[to.path, path] as const];
    }));
    const targets = new Map([...sources].map(([to, from]) => [from, to]));
    return known.map((one) => {
      const text = texts.get(one.path), moved = byPath.get(targets.get(one.path) ?? "")?.now;
      const old = one.old ??
        (one.before === null || !one.isKnown
          ? one.old
          : text
          ? fileSnapshot(one.before, text)
          : moved?.kind === "file"
          ? fileSnapshot(one.before, moved.bytes)
          : undefined);
      const from = sources.get(one.path);
      return { ...one, old, ...(from === undefined ? {} : { from }) };
    });
  }

  #oldOf(path: string, before: Stamp | null): PathSnapshot | undefined {
    if (before === null) return null;
    if (isFolderStamp(before)) return { kind: "dir", mode: (before[AT.mode] ?? 0) & MODE };
    const copy = this.#copies.get(path);
    return copy && isSameStamp(copy.stamp, before) ? copy.snapshot : undefined;
  }
}

function fileOf(stamp: Stamp): string {
  return [stamp[AT.inode], stamp[AT.size], stamp[AT.modified]].join();
}

function sizeOf(snapshot: PathSnapshot | undefined): number {
  return snapshot?.kind === "file" ? snapshot.bytes.length : 0;
}

function fileSnapshot(stamp: Stamp, bytes: Uint8Array<ArrayBuffer>): NonNullable<PathSnapshot> {
  return { kind: "file", bytes, mode: (stamp[AT.mode] ?? 0) & MODE, owner: null };
}

function snapshotAt(
  tree: Tree,
  path: string,
  { stamp, most }: { readonly stamp: Stamp | null; readonly most: number },
): PathSnapshot | undefined {
  if (stamp === null) return null;
  if (isFolderStamp(stamp)) return { kind: "dir", mode: (stamp[AT.mode] ?? 0) & MODE };
  try {
    if (((stamp[AT.mode] ?? 0) & KIND) === LINK) return { kind: "link", target: tree.readLink(path) };
    using file = tree.open(path);
    const bytes = new Uint8Array(Math.min(file.facts.size, most) + 1);
    let length = 0;
    for (let count = 1; count > 0 && length < bytes.length; length += count) count = file.read(bytes.subarray(length));
    return length < bytes.length ? fileSnapshot(stamp, bytes.slice(0, length)) : undefined;
  } catch {
    return undefined;
  }
}

function isChanged({ old, now, before, after }: Changed): boolean {
  if (old === undefined || now === undefined || before === null || after === null) return true;
  if (before[AT.mode] !== after[AT.mode]) return true;
  if (old?.kind === "link" && now?.kind === "link") return old.target !== now.target;
  return !isSameContent(old, now);
}

async function store(
  { checkpoints, source, tree }: FsContext,
  { change, began = Date.now(), moves, changed }: {
    readonly change: string;
    readonly began: number | undefined;
    readonly moves: readonly { readonly from: string; readonly to: string }[];
    readonly changed: readonly Changed[];
  },
): Promise<void> {
  if (checkpoints === null || changed.length === 0) return;
  const kept: { readonly path: string; readonly before: State; readonly after: State; readonly link?: string }[] = [];
  const pace = new Pace();
  for (const { path, before, after, old, now } of changed) {
    if (pace.due) await pace.rest();
    const facts = now?.kind === "file" && old ? lookAt(tree, path) : null;
    const link = facts?.kind === "file" && facts.names > 1 && before?.[AT.inode] === after?.[AT.inode]
      ? { link: facts.id }
      : {};
    const was = old === undefined ? unknownState(before) : await checkpoints.keep(old);
    kept.push({ path, before: was, after: now === undefined ? unknownState(after) : await stateOf(now), ...link });
  }
  const own = { change, of: [], items: kept, ...(moves.length > 0 ? { moves } : {}), temporary: [] };
  await checkpoints.record({ ...source, id: checkpoints.newId(), at: began, ...own });
}

function unknownState(stamp: Stamp | null): State {
  return stamp && lostState({ content: fileOf(stamp), mode: (stamp[AT.mode] ?? 0) & MODE });
}

function lookAt(tree: Tree, path: string) {
  try {
    return tree.look(path);
  } catch {
    return null;
  }
}

async function tell({ changedFile, secrets }: FsContext, changed: readonly Changed[]): Promise<void> {
  if (!changedFile) return;
  const sources = new Set(changed.map(({ from }) => from));
  const pace = new Pace();
  let left = MOST_DIFFS, bytes = DIFF_BYTES;
  for (const { path, before, after, old, now, from } of changed) {
    if (isFolderStamp(after ?? before) || after === null && sources.has(path)) continue;
    if (pace.due) await pace.rest();
    const isShown = old !== undefined && now !== undefined && left > 0 && from === undefined &&
      sizeOf(old) + sizeOf(now) <= bytes && !isSecretFile(path, secrets);
    if (isShown) {
      left--;
      bytes -= sizeOf(old) + sizeOf(now);
    }
    const diff = isShown
      ? await diffOf({ path, before: old, after: now })
      : diffHead(from ?? (before === null ? null : path), after ? path : null);
    changedFile(
      isShown || from !== undefined || after === null ? diff : `${diff}… the lines are left out, with +0 −0 lines\n`,
    );
  }
}

async function remember({ ledger, conversationId, root }: FsContext, changed: readonly Changed[]): Promise<void> {
  for (const { path, before, old, now } of changed) {
    const known = ledger.find(conversationId, `${root}/${path}`);
    if (known === null || old?.kind !== "file" || now?.kind !== "file") continue;
    const was = await sha256Of(old.bytes);
    const isKnown = known.hash === null
      ? known.size === old.bytes.length && known.mtime === Math.floor(before?.[AT.modified] ?? 0)
      : await known.hash === was || (await Promise.all(known.others)).includes(was);
    if (!isKnown) continue;
    for (const { bytes } of [old, now]) ledger.alsoKnown(conversationId, `${root}/${path}`, sha256Of(bytes));
  }
}

type Report = { -readonly [Key in keyof FileChanges]: FileChanges[Key] };

function emptyReport(): Report {
  return { files: 0, added: [], changed: [], removed: [] };
}

function joined(a: Report, b: Report): Report {
  const both = (key: "added" | "changed" | "removed"): readonly string[] =>
    [...new Set([...a[key], ...b[key]])].slice(0, MOST_NAMED);
  const lost = (a.notUndoable ?? 0) + (b.notUndoable ?? 0);
  return {
    files: a.files + b.files,
    added: both("added"),
    changed: both("changed"),
    removed: both("removed"),
    ...(lost > 0 ? { notUndoable: lost } : {}),
  };
}

function reportOf(all: readonly Changed[]): Report {
  const shown = all.filter(({ path, before, after }, at) =>
    !isFolderStamp(after ?? before) || !(all[at + 1]?.path ?? "").startsWith(`${path}/`)
  );
  const named = (is: (one: Changed) => boolean): readonly string[] =>
    shown.filter(is).slice(0, MOST_NAMED).map(({ path, before, after }) => (
      isFolderStamp(after ?? before) ? `${path}/` : path
    ));
  const lost = shown.filter(({ old, now }) => old === undefined || now === undefined).length;
  return {
    files: shown.length,
    added: named(({ before }) => before === null),
    changed: named(({ before, after }) => before !== null && after !== null),
    removed: named(({ after }) => after === null),
    ...(lost > 0 ? { notUndoable: lost } : {}),
  };
}
