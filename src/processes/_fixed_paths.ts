import { dirname, join } from "node:path";
import { Pace, REAL_CLOCK, Semaphore } from "../domain/kit/concurrency.ts";
import type { Spawned } from "../extension/spawned.ts";
import { Libc } from "../sandbox/confine/libc.ts";
import type { Layer } from "../sandbox/exec/exec_plan.ts";
import {
  ClaimCache,
  entryKind,
  GIT,
  hasRepository,
  isBare,
  isFile,
  realPathOf,
  stepsTo,
  type UserFolders,
  VIS,
} from "./_paths_git_obeys.ts";
import { isBelow, isWithin } from "../domain/kit/files.ts";
import { type SpecialFiles, topsOf } from "./_workspace_walk.ts";
import { folderEntries } from "./folders.ts";
import { pauseProgram, PROC } from "./proc_files.ts";

/** The limit for placeholders, since each is an open file while a command runs. */
const MOST_PLACEHOLDERS = 1_000;
/** The limit for layers, since each is a mount and takes some 850 bytes of the 8 MB of a plan. */
const MOST_LAYERS = 6_000;
const MOST_TOP_FOLDERS = 2_000;
/** The limit for programs of a workspace that begin at the same time. */
const MOST_PROGRAMS = 1_000;
/** The folders that belong to a bare repository itself. Other folders in a bare repository may be worktrees. */
const OF_REPOSITORY = new Set(
  "branches hooks info lfs logs modules objects rebase-apply rebase-merge refs sequencer svn worktrees".split(" "),
);

export interface Fixed {
  readonly layers: readonly Layer[];
  /** Aborts once the command could change files that git or Vis obey. */
  readonly exposed: AbortSignal;
  /** Called when the command has begun. */
  began(pid: number): void;
  leave(): Promise<void>;
}

interface Found {
  /** Returns the kind of entry at a path, during one look; null for entries that Vis has made there. */
  readonly kindOf: typeof entryKind;
  readonly paths: Set<string>;
  /** Missing folders, or files, that git or Vis would obey. */
  readonly missing: Map<string, "folder" | "file">;
}

interface FixedOptions extends Readonly<Record<"repositories" | "write" | "named" | "keep", readonly string[]>> {
  /** The name of the command in the message about its forced end. */
  readonly title: string;
  /** Folders that commands cannot look into now, but could open by changing their modes. */
  readonly closed?: readonly string[];
  readonly signal?: AbortSignal | undefined;
}

/** The workspace of a command and the repository around it; both are the same without a repository. */
type Place = Readonly<Record<"root" | "workspace", string>>;

/** A running command, with the paths that are read-only for it while they stay in place. */
interface Running {
  readonly title: string;
  readonly places: ReadonlyMap<string, string>;
  readonly counts: (path: string) => boolean;
  readonly write: readonly string[];
  readonly end: AbortController;
  readonly left: PromiseWithResolvers<void>;
  pid: number;
}

const RUNNING = new Set<Running>();

/** Returns a command that runs and can change files in this folder; null if there is none. */
export function commandIn(folder: string): string | null {
  return runningWith(folder)[0]?.title ?? null;
}

function runningWith(folder: string): readonly Running[] {
  return [...RUNNING].filter(({ counts, write }) =>
    [folder, ...write.filter((one) => isWithin(one, folder))].some((one) => counts(join(one, "a")))
  );
}

/** Finds the paths of a workspace that other programs of the user later run or obey: its repositories, the paths in
 * their settings, and `.vis`. */
export class FixedPaths {
  readonly #placeholders = new Placeholders();
  readonly #claims: ClaimCache;
  /** The turns of each workspace. A program that brings files takes all turns of a workspace; a program that begins
   * takes one. */
  readonly #turns = new Map<string, Semaphore>();

  constructor(user: UserFolders) {
    this.#claims = new ClaimCache(user);
  }

  async find(workspace: string, repositories: readonly string[]): Promise<readonly string[]> {
    const { paths, missing } = await this.#find({ root: workspace, workspace }, { repositories, named: [] });
    return [...paths, ...missing.keys()].filter((path) => isBelow(path, workspace));
  }

  /** Fixes the paths below `write`; others do not matter. Repositories in `named` may be changed: a `.git`, with all
   * paths in its settings, or parts of one. Paths in `keep` stay fixed even there. */
  async enter(
    place: Place,
    { repositories, write, named, keep, title, closed = [], signal }: FixedOptions,
  ): Promise<Fixed> {
    const { root, workspace } = place;
    const found = await this.#find(place, { repositories, named }), pace = new Pace();
    const others = write.filter((one) => !isWithin(one, root) && isFolder(one) && !one.split("/").includes(GIT));
    keepTops(found, others, { root, named });
    const isOfGit = (path: string): boolean => path.split("/").includes(GIT) || found.paths.has(path);
    const isOpen = named.filter((path) =>
      path !== root && isOfGit(path) && ![root, workspace].some((one) => isWithin(path, join(one, VIS)))
    );
    const counts = (path: string): boolean =>
      write.some((one) => isBelow(path, one)) && !isOpen.some((one) => isWithin(path, one)) &&
      !isWithin(root, path);
    const opened = isOpen.filter((path) => [...found.paths].some((one) => counts(one) && isWithin(path, one)));
    const missing = [...found.missing].filter(([path]) => counts(path));
    if (missing.length > MOST_PLACEHOLDERS) {
      throw new Error(
        `Cannot run commands: repositories in ${root} name ${missing.length} missing paths that git would ` +
          `obey; the limit is ${MOST_PLACEHOLDERS}; correct the settings of git`,
      );
    }
    const release: (() => void)[] = [];
    const leave = async (): Promise<void> => {
      const pace = new Pace();
      for (const end of release.splice(0)) {
        if (pace.due) await pace.rest();
        end();
      }
    };
    try {
      release.push(await LOCKS.share(root, signal));
      for (const [path, kind] of missing) {
        if (pace.due) await pace.rest();
        found.paths.add(path);
        release.push(this.#placeholders.take(path, kind));
      }
    } catch (error) {
      await leave();
      throw error;
    }
    const kept = [...keep, ...closed].filter((path) =>
      write.some((one) => isWithin(path, one)) && entryKind(path) !== null
    );
    const fixed = [...[...found.paths].filter(counts), ...kept];
    for (const folder of new Set([root, workspace])) {
      if (!write.includes(folder) || !isBare(folder, found.kindOf) || folder === root && isOpen.length > 0) continue;
      fixed.push(folder);
      for (const { name, isFolder } of folderEntries(folder, { most: MOST_TOP_FOLDERS, wanted: () => false })) {
        const path = join(folder, name);
        const isKept = name === GIT || name === VIS || OF_REPOSITORY.has(name) || name.endsWith("-worktree");
        if (isFolder && !isKept && !found.paths.has(path)) opened.push(path);
      }
    }
    // Missing paths have a placeholder by now.
    const kindOf: Found["kindOf"] = (path) => found.kindOf(path) ?? entryKind(path);
    const layers = await layersOf({ fixed, opened, write, kindOf, pace });
    if (layers.length > MOST_LAYERS) {
      await leave();
      throw new Error(
        `Cannot run commands: ${layers.length} paths of ${repositories.length} repositories would be ` +
          `read-only; the limit is ${MOST_LAYERS}; start Vis in a folder with fewer repositories`,
      );
    }
    const places = new Map<string, string>();
    for (const path of fixed) {
      if (pace.due) await pace.rest();
      places.set(path, placeOf(path));
    }
    const running: Running = {
      title,
      counts,
      write,
      places,
      end: new AbortController(),
      left: Promise.withResolvers<void>(),
      pid: 0,
    };
    RUNNING.add(running);
    release.unshift(() => {
      RUNNING.delete(running);
      running.left.resolve();
    });
    return {
      layers,
      exposed: running.end.signal,
      began: (pid) => void (running.pid = pid),
      leave,
    };
  }

  /** Runs a program that does not begin while another one brings files: `run` calls `begun` once the program has its
   * file system. */
  async beginning(
    workspace: string,
    { signal, run }: {
      readonly signal: AbortSignal | undefined;
      readonly run: (begun: () => void) => Promise<Spawned>;
    },
  ): Promise<Spawned> {
    const turns = this.#turnsIn(workspace);
    await turns.acquire(signal).catch((error: unknown) => {
      signal?.throwIfAborted();
      throw error;
    });
    let isOver = false;
    const begun = (): void => {
      if (!isOver) turns.release();
      isOver = true;
    };
    return await run(begun).finally(begun);
  }

  #turnsIn(workspace: string): Semaphore {
    const turns = this.#turns.get(workspace) ?? new Semaphore(MOST_PROGRAMS);
    this.#turns.set(workspace, turns);
    return turns;
  }

  /** Runs a program that brings files into the workspace. Meanwhile, commands that can change files there pause and
   * none begins. A command that could then change files that git or Vis obey ends instead of continuing, and a note
   * reports it. */
  async pausing(
    place: Place,
    { look, run }: {
      readonly look: () => Promise<SpecialFiles>;
      /** Receives the files that were found before, if there was a search. */
      readonly run: (found: SpecialFiles | null) => Promise<Spawned>;
    },
  ): Promise<Spawned> {
    const work = async (): Promise<Spawned> => {
      const { root } = place;
      const unlock = await LOCKS.alone(root);
      const goOn = new Map<Running, () => void>();
      try {
        if (commandIn(root) === null) return await run(null);
        for (const one of runningWith(root)) {
          if (one.pid === 0) continue; // The command belongs to another workspace, and is about to begin.
          const go = await pauseProgram(one.pid);
          if (go === null) {
            throw new Error(`Cannot change files while ${one.title} runs: that command does not pause; stop it first`);
          }
          goOn.set(one, go);
        }
        const found = await look();
        const before = await this.#exposed(place, topsOf(root, found));
        const result = await run(found).then((spawned) => ({ spawned }), (error: unknown) => ({ error }));
        const notes: string[] = [];
        for (const [running, paths] of await this.#exposed(place, topsOf(root, await look()))) {
          const path = paths.find((one) => !before.get(running)?.includes(one));
          if (path === undefined) continue;
          const why = `it could have changed ${path}, which is new and obeyed by git or Vis; start it again`;
          running.end.abort(new Error(`Cannot continue ${running.title}: ${why}`));
          notes.push(`Ended ${running.title}: ${why}`);
          goOn.delete(running);
          await running.left.promise;
        }
        if ("error" in result) throw result.error;
        return { ...result.spawned, notes: [...result.spawned.notes, ...notes] };
      } finally {
        await unlock();
        goOn.forEach((go) => go());
      }
    };
    return await this.#turnsIn(place.root).runAmount(MOST_PROGRAMS, { work, signal: undefined });
  }

  /** Finds the paths that running commands can change although git or Vis obey them. */
  async #exposed(
    place: Place,
    repositories: readonly string[],
  ): Promise<ReadonlyMap<Running, readonly string[]>> {
    const { paths, missing } = await this.#find(place, { repositories, named: [] });
    const exposed = new Map<Running, string[]>(), pace = new Pace();
    for (const running of runningWith(place.root)) {
      const open: string[] = [];
      for (const path of [...paths, ...missing.keys()]) {
        if (pace.due) await pace.rest();
        if (running.counts(path) && !isCovered(running, path)) open.push(path);
      }
      exposed.set(running, open);
    }
    return exposed;
  }

  async #find(
    { root, workspace }: Place,
    { repositories, named }: Pick<FixedOptions, "repositories" | "named">,
  ): Promise<Found> {
    const found: Found = { kindOf: remembered(), paths: new Set(), missing: new Map() };
    const tops = repositories.filter((top) => !named.includes(join(top, GIT)));
    const pace = new Pace();
    for (const { path, as, runs = false, reason } of await this.#claims.all(tops, { within: root })) {
      if (pace.due) await pace.rest();
      if (as === "folder" && runs && [root, workspace].includes(realPathOf(path) ?? "")) {
        throw new Error(
          `Cannot run commands: they could change ${path}, whose files ${reason}; name a folder inside it in the setting`,
        );
      }
      const isThere = as === "word" || as === "near" ? isFile(path) : false;
      if (as === "part" || isThere) follow(found, path, { kind: "file", isExpected: false });
      else if (as === "file" || as === "near" && isFolder(dirname(path))) expectFile(found, path);
      else if (as === "folder") follow(found, path, { kind: "folder", isExpected: true });
    }
    keepTops(found, new Set([root, workspace]), { root, named });
    return found;
  }
}

/** Keeps commands from making a repository or settings of Vis in these folders themselves. */
function keepTops(
  found: Found,
  folders: Iterable<string>,
  { root, named }: { readonly root: string; readonly named: readonly string[] },
): void {
  for (const folder of folders) {
    if (isBare(folder, found.kindOf)) continue;
    if (!named.includes(join(folder, GIT))) {
      follow(found, join(folder, GIT), { kind: "folder", isExpected: true });
      // Git would take the folder itself for a repository, and obey its settings.
      for (const name of hasRepository(folder) ? [] : partsToKeep(folder, { root, kindOf: found.kindOf })) {
        follow(found, join(folder, name), { kind: "folder", isExpected: true });
      }
    }
    follow(found, join(folder, VIS), { kind: "folder", isExpected: true });
  }
}

/** Returns names without which a folder is not a bare repository. Entries of these names are empty folders while a
 * command runs: `git status` lists no empty folder, and git reads none as `HEAD`. Inside a repository, a folder `HEAD`
 * would make `git diff HEAD` ambiguous. */
function partsToKeep(
  folder: string,
  { root, kindOf }: { readonly root: string; readonly kindOf: Found["kindOf"] },
): readonly string[] {
  // With a file `commondir`, git looks for `refs` elsewhere. `refs` comes first, also on removal: git stops at a folder
  // `commondir`.
  const others = ["refs", "commondir"];
  return folder !== root && others.every((name) => kindOf(join(folder, name)) === null) ? others : ["HEAD"];
}

/** Whether a path is still below a mount that makes it read-only. */
function isCovered({ places }: Running, path: string): boolean {
  for (let at = path; at !== dirname(at); at = dirname(at)) {
    const place = places.get(at);
    if (place !== undefined && place === placeOf(at)) return true;
  }
  return false;
}

/** Returns the identity of the entry: a mount belongs to the file or folder below it, whose number a later one may
 * get. */
function placeOf(path: string): string {
  try {
    const { dev, ino, birthtime, ctime } = Deno.lstatSync(path);
    return `${dev} ${ino} ${(birthtime ?? ctime)?.getTime()}`;
  } catch {
    return "";
  }
}

function remembered(): typeof entryKind {
  const known = new Map<string, ReturnType<typeof entryKind>>();
  return (path) => {
    const before = known.get(path);
    if (before !== undefined) return before;
    const kind = entryKind(path), is = kind !== "link" && isPlaceholder(path) ? null : kind;
    known.set(path, is);
    return is;
  };
}

function expectFile(found: Found, path: string): void {
  if (!isFolder(path)) follow(found, path, { kind: "file", isExpected: true });
}

function isFolder(path: string): boolean {
  const real = realPathOf(path);
  return real !== null && entryKind(real) === "folder";
}

function follow(
  { kindOf, paths, missing }: Found,
  path: string,
  { kind, isExpected }: { readonly kind: "folder" | "file"; readonly isExpected: boolean },
): void {
  let links = 0;
  for (const { path: at, is, isLast } of stepsTo(path, { kindOf })) {
    if (is === "link") {
      paths.add(at);
      links++;
    } else if (is === null) {
      if (isExpected || links > 0) missing.set(at, isLast ? kind : "folder");
      return;
    } else if (isLast) paths.add(at);
  }
}

/** Returns layers on top of the writable paths. A folder on the way to a fixed path is a layer too: a folder that is a
 * mount point cannot be renamed or removed. */
async function layersOf(
  { fixed, opened, write, kindOf, pace }:
    & Readonly<Record<"fixed" | "opened" | "write", readonly string[]>>
    & Pick<Found, "kindOf">
    & { readonly pace: Pace },
): Promise<readonly Layer[]> {
  const layers = new Map<string, Layer>();
  const set = (path: string, writable: boolean): void => {
    const kind = kindOf(path);
    if (kind !== null) layers.set(path, { path, folder: kind === "folder", link: kind === "link", writable });
  };
  const all = new Set(fixed);
  for (const path of all) {
    if (pace.due) await pace.rest();
    const top = write.filter((one) => isWithin(path, one)).reduce((a, b) => a.length < b.length ? a : b, path);
    const way: string[] = [];
    for (let at = dirname(path); at.length > top.length; at = dirname(at)) way.push(at);
    // Only folders above the outermost fixed one can be changed.
    for (const at of way.slice(way.findLastIndex((one) => all.has(one)) + 1)) if (!layers.has(at)) set(at, true);
  }
  for (const path of all) {
    if (pace.due) await pace.rest();
    set(path, false);
  }
  for (const path of opened) set(path, true);
  return [...layers.values()].sort((a, b) => a.path.length - b.path.length);
}

const LOCK_SHARED = 1n, LOCK_ALONE = 2n, LOCK_AT_ONCE = 4n;
const EWOULDBLOCK = 11;
const LOCK_AGAIN_MS = 50, ALONE_TRIES = 40, LOCK_TRIES = 5;

/** Locks of workspaces between Vis processes. A process has a shared lock while a command of it can change files there.
 * While git brings files, a process has the lock alone, since it cannot pause commands of another process. */
class WorkspaceLocks {
  readonly #held = new Map<string, { readonly descriptor: number; shares: number; isAlone: boolean }>();
  #libc: Libc | null = null;

  /** Waits while git of another process brings files. */
  async share(folder: string, signal: AbortSignal | undefined): Promise<() => void> {
    const held = this.#open(folder);
    held.shares++;
    const leave = (): void => {
      held.shares--;
      this.#close(folder);
    };
    try {
      if (!held.isAlone) await this.#until(() => this.#lock(folder, LOCK_SHARED), { signal });
    } catch (error) {
      leave();
      throw error;
    }
    return leave;
  }

  /** Throws Error while a command of another process runs. */
  async alone(folder: string): Promise<() => Promise<void>> {
    const held = this.#open(folder);
    held.isAlone = await this.#until(() => this.#lock(folder, LOCK_ALONE), { most: ALONE_TRIES });
    const leave = async (): Promise<void> => {
      held.isAlone = false;
      // A failed attempt has lost the shared lock, too.
      if (held.shares > 0) await this.#until(() => this.#lock(folder, LOCK_SHARED));
      this.#close(folder);
    };
    if (held.isAlone) return leave;
    await leave();
    throw new Error(`Cannot change files in ${folder} while a command of another Vis runs there: stop it first`);
  }

  #open(folder: string) {
    const libc = this.#libc ??= new Libc();
    const held = this.#held.get(folder) ?? { descriptor: libc.open(folder), shares: 0, isAlone: false };
    this.#held.set(folder, held);
    return held;
  }

  #close(folder: string): void {
    const held = this.#held.get(folder);
    if (held === undefined || held.shares > 0 || held.isAlone) return;
    this.#held.delete(folder);
    this.#libc?.closeDescriptor(held.descriptor);
  }

  /** Some file systems have no locks, and then every process has them all. */
  #lock(folder: string, how: bigint): boolean {
    const descriptor = this.#held.get(folder)?.descriptor ?? -1;
    if (descriptor < 0 || this.#libc === null) return true;
    for (let tries = 0; tries < LOCK_TRIES; tries++) {
      if (this.#libc.call("flock", [BigInt(descriptor), how | LOCK_AT_ONCE]) === 0) return true;
      if (this.#libc.errno() === EWOULDBLOCK) return false;
      // The runtime's own calls may have overwritten the number, so one other number is no proof.
    }
    return true;
  }

  async #until(
    isDone: () => boolean,
    { most = Infinity, signal }: { readonly most?: number; readonly signal?: AbortSignal | undefined } = {},
  ): Promise<boolean> {
    for (let tries = 1; !isDone(); tries++) {
      if (tries >= most) return false;
      signal?.throwIfAborted();
      await REAL_CLOCK.sleep(LOCK_AGAIN_MS);
    }
    return true;
  }
}

const LOCKS = new WorkspaceLocks();

/** The sticky bit marks entries that Vis made: it has no effect on an empty folder or file. */
const MARK = 0o1000;
const TRIES = 10;

/** Empty folders and files in places where git or Vis would obey a command's entries. Each exists as long as a command
 * of any Vis process needs it; entries that the user adds meanwhile stay. */
class Placeholders {
  readonly #held = new Map<string, { count: number; readonly release: () => void }>();
  #libc: Libc | null = null;

  /** Makes a placeholder; the returned function releases it. Throws Error if the placeholder cannot be made. */
  take(path: string, kind: "folder" | "file"): () => void {
    const held = this.#held.get(path) ?? { count: 0, release: this.#hold(path, kind) };
    held.count++;
    this.#held.set(path, held);
    return () => {
      if (--held.count > 0) return;
      this.#held.delete(path);
      held.release();
    };
  }

  /** Makes a placeholder and locks it, again if another Vis process has just removed it. */
  #hold(path: string, kind: "folder" | "file"): () => void {
    const libc = this.#libc ??= new Libc();
    for (let tries = 0; tries < TRIES; tries++) {
      make(path, kind);
      const descriptor = libc.open(path);
      if (descriptor < 0) continue;
      const lock = (how: bigint): boolean => libc.call("flock", [BigInt(descriptor), how | LOCK_AT_ONCE]) === 0;
      if (lock(LOCK_SHARED) && PROC.link(`/proc/self/fd/${descriptor}`) === path) {
        return () => {
          if (lock(LOCK_ALONE)) removeMarked(path);
          libc.closeDescriptor(descriptor);
        };
      }
      libc.closeDescriptor(descriptor);
    }
    throw new Error(`Cannot run the command: it could make ${path}, which git or Vis would obey`);
  }
}

/** Whether Vis made the entry, for another command or before it was killed, and it is still empty. */
export function isPlaceholder(path: string): boolean {
  try {
    const { mode, isFile, isDirectory, size } = Deno.lstatSync(path);
    if (((mode ?? 0) & MARK) === 0) return false;
    return isFile
      ? size === 0
      : isDirectory && Array.from(folderEntries(path, { most: 1, wanted: () => true })).length === 0;
  } catch {
    return false;
  }
}

function make(path: string, kind: "folder" | "file"): void {
  try {
    if (kind === "folder") Deno.mkdirSync(path);
    else Deno.writeFileSync(path, new Uint8Array(), { createNew: true });
    Deno.chmodSync(path, MARK | (kind === "folder" ? 0o755 : 0o644));
  } catch { /* The entry exists by now. */ }
}

function removeMarked(path: string): void {
  try {
    const { mode, isFile, size } = Deno.lstatSync(path);
    if (((mode ?? 0) & MARK) === 0) return;
    if (isFile && size > 0) Deno.chmodSync(path, 0o644);
    else Deno.removeSync(path);
  } catch { /* The user has put an entry there. */ }
}
