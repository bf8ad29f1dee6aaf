import { hasPlaceholderMode, Pace } from "@vis/extension";
import { isTemporary } from "../change/apply_items.ts";
import { isGuarded, upTo } from "../confine.ts";
import { Kernel } from "../tree/kernel.ts";
import { AT, nameBytes, STAMP, type Tree } from "../tree/tree.ts";
import { entriesOf, IgnoreRules, NEVER, plainPath, rulesAbove } from "../walk/walk.ts";

const MAX_LOOKED = 100_000;
const EVENTS_FROM = 2_000;
/** Folder times are coarse, so a folder that changed within this time may change again without a new time. */
const FRESH_MS = 100;
const KIND = 0o170000, FOLDER = 0o040000;

export type Stamp = Float64Array;

export interface Difference {
  readonly path: string;
  readonly before: Stamp | null;
  readonly after: Stamp | null;
  readonly wasIgnored?: true;
}

interface Seen {
  readonly above: IgnoreRules;
  readonly rules: IgnoreRules;
  readonly names: readonly string[];
  readonly bytes: readonly Uint8Array<ArrayBuffer>[];
  readonly stamps: Float64Array;
  readonly isFresh: boolean;
}

const ITSELF = nameBytes(".\0");

export class WorkspaceScan {
  readonly #tree: Tree;
  readonly #top: IgnoreRules;
  #folders: ReadonlyMap<string, Seen> | null = null;
  readonly #accepted = new Map<string, Stamp | null>();
  readonly #root: string;
  readonly #start: string;
  readonly #eventsFrom: number;
  #events: FolderEvents | null = null;

  constructor(root: string, tree: Tree, { eventsFrom = EVENTS_FROM, all = false } = {}) {
    this.#root = root;
    this.#tree = tree;
    this.#start = all ? upTo(tree).slice(0, -1) : "";
    this.#top = rulesAbove(tree, this.#start || ".") ?? IgnoreRules.of(tree);
    this.#eventsFrom = eventsFrom;
  }

  async next(): Promise<readonly Difference[]> {
    using tree = this.#tree.held();
    const before = this.#folders, now = new Map<string, Seen>(), pace = new Pace();
    const found: Difference[] = [], open: [folder: string, above: IgnoreRules][] = [[this.#start, this.#top]];
    const dirty = this.#events?.take() ?? null;
    const isSame = (folder: string, above: IgnoreRules, known: Seen): boolean =>
      dirty !== null && !dirty.has(folder) && known.above === above && (this.#events?.isWatched(folder) ?? false);
    let count = 0;
    for (let next = open.pop(); next !== undefined; next = open.pop()) {
      if (pace.due) await pace.rest();
      const [folder, above] = next;
      const known = before?.get(folder), isKnown = known !== undefined && isSame(folder, above, known);
      if (!isKnown) this.#events?.watch(folder);
      const seen = isKnown ? known : look(tree, { folder, above, known });
      now.set(folder, seen);
      count += seen.names.length;
      if (count > MAX_LOOKED) {
        throw new RangeError(`The workspace has more than ${MAX_LOOKED} files and folders, the limit of a scan`);
      }
      if (!isKnown) compare(folder, { known, seen, found });
      seen.names.forEach((name, at) => {
        if (isFolder(seen.stamps, at + 1)) open.push([joined(folder, name), seen.rules]);
      });
    }
    for (const [folder, { names, stamps }] of before ?? []) {
      if (now.has(folder)) continue;
      names.forEach((name, at) =>
        found.push({ path: joined(folder, name), before: stampAt(stamps, at + 1), after: null })
      );
    }
    this.#folders = now;
    if (count >= this.#eventsFrom) this.#events ??= new FolderEvents(this.#root);
    const hasRules = before !== null && found.some(({ path }) => path === ".gitignore" || path.endsWith("/.gitignore"));
    const known = hasRules
      ? found.map((one) => wasIgnored(before, one) ? { ...one, wasIgnored: true as const } : one)
      : found;
    const all = known.map((one) => ({ ...one, path: plainPath(tree, one.path) }))
      .flatMap((one) => this.#withoutAccepted(one));
    this.#accepted.clear();
    // After a change of the ignore rules, an existing entry may be missing from the scan, which is no removal.
    return hasRules ? all.filter(({ path, after }) => after !== null || this.stamp(path) === null) : all;
  }

  stamp(path: string): Stamp | null {
    const at = path.lastIndexOf("/"), into = new Float64Array(STAMP);
    this.#tree.stamps(at < 0 ? "." : path.slice(0, at), [nameBytes(`${path.slice(at + 1)}\0`)], into);
    return into[AT.mode] === 0 ? null : into;
  }

  accept(path: string): Stamp | null | undefined {
    if (this.#folders === null) return undefined;
    const now = this.stamp(path);
    this.#accepted.set(path, now);
    return now;
  }

  #withoutAccepted(one: Difference): readonly Difference[] {
    const accepted = this.#accepted.get(one.path);
    if (accepted === undefined) return [one];
    return isSameStamp(accepted, one.after) ? [] : [{ ...one, before: accepted }];
  }
}

function wasIgnored(folders: ReadonlyMap<string, Seen>, { path, before, after }: Difference): boolean {
  if (before !== null || after === null) return false;
  const parts = path.split("/"), folderAt = (length: number): string => parts.slice(0, length).join("/");
  let length = parts.length - 1;
  while (length > 0 && !folders.has(folderAt(length))) length--;
  const rules = folders.get(folderAt(length))?.rules;
  return parts.some((_, at) => {
    const isFolder = at < parts.length - 1 || isFolderStamp(after);
    return at >= length && rules?.ignores(folderAt(at + 1), isFolder) === true;
  });
}

export function isSameStamp(a: Stamp | null, b: Stamp | null): boolean {
  return a === null || b === null ? a === b : a.every((value, at) => value === b[at]);
}

export function isFolderStamp(stamp: Stamp | null): boolean {
  return stamp !== null && isFolder(stamp, 0);
}

function look(
  tree: Tree,
  { folder, above, known }: { readonly folder: string; readonly above: IgnoreRules; readonly known: Seen | undefined },
): Seen {
  const place = folder || ".";
  if (known && !known.isFresh && known.above === above) {
    const stamps = new Float64Array(known.stamps.length), rules = known.names.indexOf(".gitignore") + 1;
    tree.stamps(place, known.bytes, stamps);
    if (isSameAt(stamps, known.stamps, 0) && (rules === 0 || isSameAt(stamps, known.stamps, rules))) {
      return { ...known, stamps };
    }
  }
  const facts = new Float64Array(STAMP);
  tree.stamps(place, [ITSELF], facts);
  const isFresh = Date.now() - (facts[AT.changed] ?? 0) < FRESH_MS;
  const entries = entriesOf(tree, folder);
  const rules = above.below(folder, entries);
  const listed = entries.filter(({ name, kind }) =>
    kind !== "other" && !NEVER.includes(name) && !isGuarded(name) && !isTemporary(name) &&
    !rules.ignores(joined(folder, name), kind === "dir")
  ).map(({ name }) => name);
  const all = stampsOf(tree, place, listed);
  const names = listed.filter((name, at) => !isPlaceholder(tree, joined(folder, name), stampAt(all.stamps, at + 1)));
  const { bytes, stamps } = names.length === listed.length ? all : stampsOf(tree, place, names);
  const own = names.indexOf(".gitignore") + 1, before = (known?.names.indexOf(".gitignore") ?? -1) + 1;
  const hasSame = known?.above === above &&
    (own === 0 ? before === 0 : before > 0 && isSameAt(stamps, known.stamps, own, before));
  stamps.set(facts);
  return { above, rules: hasSame ? known.rules : rules, names, bytes, stamps, isFresh };
}

function stampsOf(tree: Tree, place: string, names: readonly string[]): Pick<Seen, "bytes" | "stamps"> {
  const bytes = [ITSELF, ...names.map((name) => nameBytes(`${name}\0`))];
  const stamps = new Float64Array(bytes.length * STAMP);
  tree.stamps(place, bytes, stamps);
  return { bytes, stamps };
}

function isPlaceholder(tree: Tree, path: string, stamp: Stamp): boolean {
  if (!hasPlaceholderMode(stamp[AT.mode] ?? 0)) return false;
  return isFolderStamp(stamp) ? entriesOf(tree, path).length === 0 : stamp[AT.size] === 0;
}

function compare(
  folder: string,
  { known, seen, found }: { readonly known: Seen | undefined; readonly seen: Seen; readonly found: Difference[] },
): void {
  const isListed = known?.names !== seen.names;
  const places = new Map(isListed ? known?.names.map((name, at) => [name, at + 1]) : []);
  for (let at = 1; at <= seen.names.length; at++) {
    const name = seen.names[at - 1] ?? "", was = isListed ? places.get(name) ?? 0 : at;
    places.delete(name);
    const isThere = seen.stamps[at * STAMP] !== 0;
    if (was > 0 && known) {
      if (isSameAt(seen.stamps, known.stamps, at, was)) continue;
      if (isFolder(seen.stamps, at) && isFolder(known.stamps, was)) continue;
    }
    const before = was > 0 && known ? stampAt(known.stamps, was) : null;
    const after = isThere ? stampAt(seen.stamps, at) : null;
    if (before !== null || after !== null) found.push({ path: joined(folder, name), before, after });
  }
  for (const [name, was] of places) {
    if (known) found.push({ path: joined(folder, name), before: stampAt(known.stamps, was), after: null });
  }
}

function joined(folder: string, name: string): string {
  return folder === "" ? name : `${folder}/${name}`;
}

function isFolder(stamps: Float64Array, at: number): boolean {
  return ((stamps[at * STAMP] ?? 0) & KIND) === FOLDER;
}

function stampAt(stamps: Float64Array, at: number): Stamp {
  return stamps.slice(at * STAMP, (at + 1) * STAMP);
}

function isSameAt(a: Float64Array, b: Float64Array, at: number, other = at): boolean {
  for (let i = 0; i < STAMP; i++) if (a[at * STAMP + i] !== b[other * STAMP + i]) return false;
  return true;
}

const MODIFY = 0x2, ATTRIBUTES = 0x4, CLOSE_WRITE = 0x8, MOVED_FROM = 0x40, MOVED_TO = 0x80, CREATE = 0x100;
const DELETE = 0x200, MOVE_SELF = 0x800, OVERFLOW = 0x4000, IGNORED = 0x8000, ONLY_FOLDERS = 0x1000000;
const NOT_FOLLOWED = 0x2000000, IS_FOLDER = 0x40000000;
const WATCHED = MODIFY | ATTRIBUTES | CLOSE_WRITE | MOVED_FROM | MOVED_TO | CREATE | DELETE | MOVE_SELF | ONLY_FOLDERS |
  NOT_FOLLOWED;
const READ_BYTES = 64 << 10, HEAD_BYTES = 16;

class FolderEvents {
  static readonly #closing = new FinalizationRegistry<number>((at) => Kernel.shared()?.close(at));
  readonly #root: string;
  readonly #kernel = Kernel.shared();
  #at: number | null = null;
  readonly #folders = new Map<number, string>();
  readonly #watches = new Map<string, number>();

  constructor(root: string) {
    this.#root = root;
    this.#open();
  }

  watch(folder: string): void {
    if (this.#at === null || this.#watches.has(folder)) return;
    const path = folder === "" ? this.#root : `${this.#root}/${folder}`;
    const watch = this.#kernel?.watch(this.#at, path, WATCHED) ?? -1;
    if (watch < 0) return;
    const before = this.#folders.get(watch);
    if (before !== undefined) this.#watches.delete(before);
    this.#folders.set(watch, folder);
    this.#watches.set(folder, watch);
  }

  isWatched(folder: string): boolean {
    return this.#watches.has(folder);
  }

  /** Returns the folders that have changed since the last call, or null if the list may be incomplete. */
  take(): ReadonlySet<string> | null {
    if (this.#at === null || this.#kernel === null) return null;
    const found = new Set<string>(), bytes = new Uint8Array(READ_BYTES), view = new DataView(bytes.buffer);
    let isKnown = true, hasMoved = false;
    for (let length = 1; length > 0;) {
      length = this.#kernel.readEvents(this.#at, bytes);
      for (let at = 0; at + HEAD_BYTES <= length; at += HEAD_BYTES + view.getUint32(at + 12, true)) {
        const watch = view.getInt32(at, true), mask = view.getUint32(at + 4, true);
        const folder = this.#folders.get(watch);
        if ((mask & OVERFLOW) !== 0) isKnown = false;
        if ((mask & MOVE_SELF) !== 0 || (mask & MOVED_FROM) !== 0 && (mask & IS_FOLDER) !== 0) hasMoved = true;
        if (folder === undefined) continue;
        found.add(folder);
        if ((mask & IGNORED) === 0) continue;
        this.#folders.delete(watch);
        this.#watches.delete(folder);
      }
    }
    // Moved folders would keep their old names, so all watches begin again.
    if (hasMoved) this.#open();
    return isKnown && !hasMoved ? found : null;
  }

  #open(): void {
    if (this.#at !== null) {
      FolderEvents.#closing.unregister(this);
      this.#kernel?.close(this.#at);
    }
    this.#folders.clear();
    this.#watches.clear();
    this.#at = this.#kernel?.openEvents() ?? null;
    if (this.#at !== null) FolderEvents.#closing.register(this, this.#at, this);
  }
}
