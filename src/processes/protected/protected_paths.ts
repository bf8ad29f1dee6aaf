import { delimiter, dirname, isAbsolute, join } from "node:path";
import { advised } from "../../domain/errors.ts";
import { Pace } from "../../domain/kit/concurrency.ts";
import { isBelow, isWithin } from "../../domain/kit/files.ts";
import { counted } from "../../domain/kit/text.ts";
import type { Spawned } from "../../extension/spawn_types.ts";
import type { GrantedPath } from "../../sandbox/confine/access.ts";
import type { HiddenFile, Layer } from "../../sandbox/exec/confinement_plan.ts";
import { ClaimCache, databaseFiles, VIS } from "./git_claims.ts";
import type { WallOptions } from "../_granted_paths.ts";
import { entryKind, isFile, isFolder, realPathOf, stepsTo } from "../_paths.ts";
import { isPlaceholder, Placeholders } from "./placeholders.ts";
import { foldersBeside, GIT, hasRepository, isBare } from "./repositories.ts";
import { linkedSecrets, type SpecialFiles, topsOf, WorkspaceWalk } from "./workspace_walk.ts";
import { commandIn, placeOf, RunningCommand, TURNS } from "./running_commands.ts";
import { entryFacts, folderEntries } from "../folder_entries.ts";
import { pauseProgram } from "../proc_files.ts";

/** A placeholder is an open file while a command runs, so the number of placeholders has a limit. */
const MOST_PLACEHOLDERS = 1_000;
/** Each layer is a mount and a part of the plan, whose size has a limit. */
const MOST_LAYERS = 6_000;
const MOST_TOP_FOLDERS = 2_000;
/** These folders belong to a bare repository itself. Other folders in a bare repository may be worktrees. */
const OF_REPOSITORY = new Set(
  "branches hooks info lfs logs modules objects rebase-apply rebase-merge refs sequencer svn worktrees".split(" "),
);

export interface Kept {
  readonly layers: readonly Layer[];
  readonly running: RunningCommand;
  leave(): Promise<void>;
}

interface Found {
  readonly kindOf: typeof entryKind;
  readonly paths: Set<string>;
  readonly missing: Map<string, "folder" | "file">;
}

/** `root` is the top of the repository around `workspace`, or `workspace` itself without a repository. */
type Place = Readonly<Record<"root" | "workspace", string>>;

/** Other programs of the user later run or obey some paths of a workspace, so programs of Vis must not change these
 * paths. */
export class ProtectedPaths {
  readonly #placeholders = new Placeholders();
  readonly #walk: WorkspaceWalk;
  readonly #claims: ClaimCache;
  readonly #database: readonly string[];
  readonly #added: readonly string[];

  constructor(options: WallOptions) {
    this.#walk = new WorkspaceWalk(options.secrets ?? []);
    const programs = (options.env["PATH"] ?? "").split(delimiter).filter(isAbsolute)
      .flatMap((entry) => realPathOf(entry) ?? []);
    // A folder of programs is a toolchain, which needs certificates with names of secret files.
    this.#added = options.read.filter((folder) => !programs.some((entry) => isWithin(entry, folder)));
    this.#claims = new ClaimCache(options);
    this.#database = databaseFiles(options.database);
  }

  look({ root, workspace }: Place): Promise<SpecialFiles> {
    return this.#walk.look(root, { workspace, running: commandIn(root) });
  }

  async hidden(
    root: string,
    { found, except, granted }: {
      readonly found: SpecialFiles | null;
      readonly except: readonly string[];
      readonly granted: readonly GrantedPath[];
    },
  ): Promise<{ readonly files: readonly HiddenFile[]; readonly links: readonly string[] }> {
    const secrets = found === null ? [] : [...await this.#walk.secrets(root, found)];
    for (const folder of found === null ? [] : this.#added) {
      if (isWithin(folder, root)) continue;
      const looked = await this.#walk.look(folder, { running: commandIn(folder), isAdded: true });
      // An added folder may contain `root`, whose own search leaves tracked files readable.
      secrets.push(...(await this.#walk.secrets(folder, looked)).filter(({ path }) => !isWithin(path, root)));
    }
    const files = [...new Map(secrets.map((one) => [one.path, one])).values()]
      .filter(({ path }) => !except.includes(path));
    for (const path of this.#database) {
      const facts = granted.some((one) => isWithin(path, one.path)) ? entryFacts(path) : null;
      if (facts?.isFile) files.push({ path, inode: facts.inode });
    }
    return { files, links: found === null ? [] : linkedSecrets(root, { ...found, hidden: files }) };
  }

  async find(folder: string): Promise<readonly string[]> {
    const place = { root: folder, workspace: folder };
    const { paths, missing } = await this.#find(place, topsOf(folder, await this.look(place)));
    return [...paths, ...missing.keys()].filter((path) => isBelow(path, folder));
  }

  /** Programs may change a repository in `named`, or parts of a repository, but paths in `keep` stay protected even
   * there. */
  async keep(
    place: Place,
    { found: files, write: granted, named, keep, keepsNamed, title, signal }: {
      readonly found: SpecialFiles;
      readonly write: readonly GrantedPath[];
      readonly named: readonly string[];
      readonly keep: readonly string[];
      readonly keepsNamed: boolean;
      readonly title: string;
      readonly signal: AbortSignal | undefined;
    },
  ): Promise<Kept> {
    const { root, workspace } = place, write = granted.map(({ path }) => path);
    const kindOf = remembered(), beside = foldersBeside(root, granted, kindOf), tops = [...topsOf(root, files)];
    for (const folder of beside) {
      tops.push(...topsOf(folder, await this.look({ root: folder, workspace: folder })));
    }
    const free = keepsNamed ? [] : named;
    const found = await this.#find(place, tops, { named: free, kindOf }), pace = new Pace();
    keepTops(found, beside, { root, named: free });
    const isOfGit = (path: string): boolean => path.split("/").includes(GIT) || found.paths.has(path);
    const isOpen = (keepsNamed ? write : named).filter((path) =>
      path !== root && isOfGit(path) && ![root, workspace].some((one) => isWithin(path, join(one, VIS)))
    );
    const counts = (path: string): boolean =>
      write.some((one) => isBelow(path, one)) && !isOpen.some((one) => isWithin(path, one)) &&
      !isWithin(root, path);
    const opened = isOpen.filter((path) => [...found.paths].some((one) => counts(one) && isWithin(path, one)));
    const missing = [...found.missing].filter(([path]) => counts(path));
    if (missing.length > MOST_PLACEHOLDERS) {
      throw new Error(
        `Cannot run commands: repositories in ${root} name ${missing.length} missing paths that git would use, more ` +
          `than the limit of ${MOST_PLACEHOLDERS}; correct the settings of git`,
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
      release.push(await TURNS.share(root, signal));
      for (const [path, kind] of missing) {
        if (pace.due) await pace.rest();
        found.paths.add(path);
        release.push(this.#placeholders.take(path, kind));
      }
    } catch (error) {
      await leave();
      throw error;
    }
    // Commands cannot look into closed folders now, but could open them by changing their modes.
    const kept = [...keep, ...files.closed.map((folder) => join(root, folder))].filter((path) =>
      write.some((one) => isWithin(path, one)) && entryKind(path) !== null
    );
    const fixed = [...[...found.paths].filter(counts), ...kept];
    for (const folder of new Set([root, workspace])) {
      if (!write.includes(folder) || !isBare(folder, kindOf) || folder === root && isOpen.length > 0) continue;
      fixed.push(folder);
      for (const { name, isFolder } of folderEntries(folder, { most: MOST_TOP_FOLDERS, wanted: () => false })) {
        const path = join(folder, name);
        const isKept = name === GIT || name === VIS || OF_REPOSITORY.has(name) || name.endsWith("-worktree");
        if (isFolder && !isKept && !found.paths.has(path)) opened.push(path);
      }
    }
    const kindNow: Found["kindOf"] = (path) => kindOf(path) ?? entryKind(path);
    const layers = await layersOf({ fixed, opened, write, kindOf: kindNow, pace });
    if (layers.length > MOST_LAYERS) {
      await leave();
      throw new Error(
        `Cannot run commands: ${layers.length} paths of ${counted(tops.length, "repository")} would be ` +
          `read-only, more than the limit of ${MOST_LAYERS}; start Vis in a folder with fewer repositories`,
      );
    }
    const places = new Map<string, string>();
    for (const path of fixed) {
      if (pace.due) await pace.rest();
      places.set(path, placeOf(path));
    }
    const running = new RunningCommand(title, { write, counts, places });
    release.unshift(() => running.leave());
    return { layers, running, leave };
  }

  /** During `run`, commands that can change files of the workspace pause, and no command begins. Afterwards, Vis ends a
   * paused command that could change a new path that git or Vis uses, and adds a note. */
  async pausing(place: Place, run: (found: SpecialFiles | null) => Promise<Spawned>): Promise<Spawned> {
    const { root } = place, goOn = new Map<RunningCommand, () => void>();
    const bring = async (): Promise<Spawned> => {
      if (commandIn(root) === null) return await run(null);
      for (const one of RunningCommand.in(root)) {
        if (one.pid === 0) continue; // The command belongs to another workspace, and is about to begin.
        const go = await pauseProgram(one.pid);
        if (go === null) {
          throw advised(
            new Error(`Cannot change files while ${one.title} runs: that command does not pause`),
            "stop that command first",
          );
        }
        goOn.set(one, go);
      }
      const found = await this.look(place);
      const before = await this.#exposed(place, found);
      const result = await run(found).then((spawned) => ({ spawned }), (error: unknown) => ({ error }));
      const notes: string[] = [];
      const end = async (running: RunningCommand, why: string): Promise<void> => {
        running.end.abort(advised(new Error(`Cannot continue ${running.title}: ${why}`), "start it again"));
        notes.push(`Ended ${running.title}: ${why}; start it again`);
        goOn.delete(running);
        await running.left.promise;
      };
      const after = await this.look(place).then((now) => this.#exposed(place, now)).catch(async (error: unknown) => {
        for (const running of [...goOn.keys()]) await end(running, "Vis could not search the files that git brought");
        throw error;
      });
      for (const [running, paths] of after) {
        const path = paths.find((one) => !before.get(running)?.includes(one));
        if (path !== undefined) {
          await end(running, `it could have changed ${path}, a new path that git or Vis uses`);
        }
      }
      if ("error" in result) throw result.error;
      return { ...result.spawned, notes: [...result.spawned.notes, ...notes] };
    };
    return await TURNS.alone(root, bring).finally(() => goOn.forEach((go) => go()));
  }

  async #exposed(place: Place, files: SpecialFiles): Promise<ReadonlyMap<RunningCommand, readonly string[]>> {
    const { paths, missing } = await this.#find(place, topsOf(place.root, files));
    const exposed = new Map<RunningCommand, string[]>(), pace = new Pace();
    for (const running of RunningCommand.in(place.root)) {
      const open: string[] = [];
      for (const path of [...paths, ...missing.keys()]) {
        if (pace.due) await pace.rest();
        if (running.canChange(path)) open.push(path);
      }
      exposed.set(running, open);
    }
    return exposed;
  }

  async #find(
    { root, workspace }: Place,
    repositories: readonly string[],
    { named = [], kindOf = remembered() }: Partial<Pick<Found, "kindOf">> & { readonly named?: readonly string[] } = {},
  ): Promise<Found> {
    const found: Found = { kindOf, paths: new Set(), missing: new Map() };
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

/** A command could make a repository or settings of Vis in these folders. */
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

/** Git does not take a folder for a bare repository while these names are empty folders, which `git status` does not
 * list. Inside a repository, a folder `HEAD` would make `git diff HEAD` ambiguous. */
function partsToKeep(
  folder: string,
  { root, kindOf }: { readonly root: string; readonly kindOf: Found["kindOf"] },
): readonly string[] {
  // With a file `commondir`, git looks for `refs` elsewhere. Git stops at a folder `commondir`, so `refs` comes first.
  const others = ["refs", "commondir"];
  return folder !== root && others.every((name) => kindOf(join(folder, name)) === null) ? others : ["HEAD"];
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

/** A folder on the way to a fixed path is a layer, because a program cannot rename or remove a mount point. */
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
    // A command can change only folders above the outermost fixed path.
    for (const at of way.slice(way.findLastIndex((one) => all.has(one)) + 1)) if (!layers.has(at)) set(at, true);
  }
  for (const path of all) {
    if (pace.due) await pace.rest();
    set(path, false);
  }
  for (const path of opened) set(path, true);
  return [...layers.values()].sort((a, b) => a.path.length - b.path.length);
}
