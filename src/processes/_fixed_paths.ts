import { existsSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { everyGitSetting, type GitSetting, untilde } from "../domain/kit/git_config.ts";
import { smallTextFile } from "../domain/kit/small_text_file.ts";
import type { Layer } from "../sandbox/exec/exec_policy.ts";
import { folderEntries } from "./folders.ts";
import { Placeholders } from "./_placeholders.ts";
import { holds } from "./_wall_paths.ts";

const GIT = ".git", VIS = ".vis";
/** Links in a repository that lead elsewhere, and what they lead to. */
export const IN_GIT = [
  "HEAD",
  "config",
  "config.worktree",
  "commondir",
  "hooks",
  "info",
  "info/attributes",
  "modules",
  "worktrees",
];
export const MOST_HOOKS = 200;
const MOST_WORDS = 2_000, MOST_SUBMODULES = 500, MODULES_DEPTH = 4;
export const VIS_DEPTH = 2;

/** What stays as it is while a command runs in a workspace. */
export interface Fixed {
  readonly layers: readonly Layer[];
  /** Call it when the command has ended. */
  leave(): void;
}

interface Found {
  /** Files, folders and links that stay as they are. */
  readonly paths: Set<string>;
  /** Folders, or files, that git or Vis would obey if they were there. */
  readonly missing: Map<string, "folder" | "file">;
}

/** Finds the paths of a workspace that other programs of the user later run or obey: its repositories, what their settings
 * name, and `.vis`. */
export class FixedPaths {
  readonly #placeholders = new Placeholders();
  readonly #home: string;

  constructor(home: string | null) {
    this.#home = home ?? "/";
  }

  /** All of them, existing or not. */
  async find(workspace: string, repositories: readonly string[]): Promise<readonly string[]> {
    const { paths, missing } = await this.#find(workspace, { repositories, named: [] });
    return [...paths, ...missing.keys()].filter((path) => path !== workspace && holds(workspace, path));
  }

  /** Only paths below `write` matter. What `named` says of repositories may be changed: a `.git`, with all that its
   * settings name, or parts of one. `keep` stays even there. */
  async enter(
    workspace: string,
    { repositories, write, named, keep }: Record<"repositories" | "write" | "named" | "keep", readonly string[]>,
  ): Promise<Fixed> {
    const found = await this.#find(workspace, { repositories, named });
    const isOfGit = (path: string): boolean => path.split("/").includes(GIT) || found.paths.has(path);
    const isOpen = named.filter((path) => isOfGit(path) && !holds(join(workspace, VIS), path));
    const counts = (path: string): boolean =>
      write.some((one) => one !== path && holds(one, path)) && !isOpen.some((one) => holds(one, path)) &&
      !holds(path, workspace);
    const opened = isOpen.filter((path) => [...found.paths].some((one) => counts(one) && holds(one, path)));
    const release = [...found.missing].filter(([path]) => counts(path)).map(([path, kind]) => {
      found.paths.add(path);
      return this.#placeholders.take(path, kind);
    });
    const kept = keep.filter((path) => write.some((one) => holds(one, path)) && entryKind(path) !== null);
    return {
      layers: layersOf({ fixed: [...[...found.paths].filter(counts), ...kept], opened, write }),
      leave: () => release.forEach((end) => end()),
    };
  }

  async #find(
    workspace: string,
    { repositories, named }: Record<"repositories" | "named", readonly string[]>,
  ): Promise<Found> {
    const found: Found = { paths: new Set(), missing: new Map() };
    const tops = repositories.filter((top) => !named.includes(join(top, GIT)));
    await Promise.all(tops.map((top) => this.#repository(found, { top, workspace })));
    if (!named.includes(join(workspace, GIT))) expect(found, join(workspace, GIT), "folder");
    expect(found, join(workspace, VIS), "folder");
    addLinks(found, { folder: join(workspace, VIS), depth: VIS_DEPTH });
    return found;
  }

  async #repository(
    found: Found,
    { top, workspace }: { readonly top: string; readonly workspace: string },
  ): Promise<void> {
    add(found, join(top, GIT));
    const folders = await repositoryFolders(top);
    if (folders === null) return;
    const { gitDir, commonDir } = folders;
    for (const folder of new Set([gitDir, commonDir])) {
      add(found, folder);
      for (const name of IN_GIT) add(found, join(folder, name));
      addLinks(found, { folder: join(folder, "hooks"), depth: 1 });
    }
    for (const submodule of await submodules(join(commonDir, "modules"))) add(found, join(submodule, GIT));
    const { named } = await namedBySettings({ top, gitDir, commonDir, home: this.#home });
    for (const { path, as } of named) {
      if (!holds(workspace, path)) continue;
      if (as === "word") {
        if (isFile(path)) add(found, path);
        continue;
      }
      expect(found, path, as === "hooks" ? "folder" : "file");
      if (as === "hooks") addLinks(found, { folder: path, depth: 1 });
    }
  }
}

/** A path that a setting of git names, existing or not. A word of a value may be a program, or no path at all. */
export interface NamedPath {
  readonly path: string;
  readonly as: "hooks" | "settings" | "word";
  readonly setting: string;
  /** Whether git runs what is there. */
  readonly runs: boolean;
}

/** What the settings of a repository and of its user name, and the files that they are in, existing or not. */
export async function namedBySettings(
  { top, gitDir, commonDir, home }: Record<"top" | "gitDir" | "commonDir" | "home", string>,
): Promise<{ readonly named: readonly NamedPath[]; readonly files: readonly string[] }> {
  const own = [join(commonDir, "config"), join(commonDir, "config.worktree"), join(gitDir, "config.worktree")];
  const users = ["/etc/gitconfig", join(home, ".config/git/config"), join(home, ".gitconfig")];
  const files = [...new Set([...own, ...users])];
  const { settings, included } = await everyGitSetting(files, home);
  const named: NamedPath[] = [];
  for (const path of included) named.push({ path, as: "settings", setting: "include.path", runs: false });
  let words = 0;
  for (const one of settings) {
    const setting = nameOf(one);
    if (setting === "core.hookspath") {
      const folder = resolve(top, untilde(one.value, home)), parent = dirname(folder);
      // The hooks of Husky in `.husky/_` run those in `.husky`.
      const path = basename(folder) === "_" && parent !== top ? parent : folder;
      named.push({ path, as: "hooks", setting: "core.hooksPath", runs: true });
      continue;
    }
    const runs = RUNS.test(setting.toLowerCase()) && (one.section !== "alias" || one.value.startsWith("!"));
    for (const word of one.value.split(/[\s'"`;&|()<>=,!]+/)) {
      if (word === "" || ++words > MOST_WORDS) continue;
      named.push({ path: resolve(top, untilde(word, home)), as: "word", setting, runs });
    }
  }
  return { named, files: [...files, ...included] };
}

function nameOf({ section, subsection, key }: GitSetting): string {
  return [section, ...subsection === null ? [] : [subsection], key].join(".");
}

/** The folder that git uses at the top of a repository, and the one that worktrees share; null if there is none. */
export async function repositoryFolders(
  top: string,
): Promise<{ readonly gitDir: string; readonly commonDir: string } | null> {
  const dot = join(top, GIT);
  const named = entryKind(dot) === "file" ? /^gitdir: (.+?)\s*$/m.exec(await smallTextFile(dot) ?? "")?.[1] : undefined;
  const gitDir = realPathOf(named === undefined ? dot : resolve(top, named));
  if (gitDir === null || entryKind(join(gitDir, "HEAD")) === null) return null;
  const common = await smallTextFile(join(gitDir, "commondir"));
  const commonDir = common === null ? gitDir : realPathOf(resolve(gitDir, common.trim())) ?? gitDir;
  return { gitDir, commonDir };
}

/** Settings by which git runs a program or reads other settings. */
const RUNS =
  /^(?:core\.(?:hookspath|fsmonitor|editor|pager|sshcommand|gitproxy|askpass|worktree|attributesfile)|(?:alias|pager|include|includeif)\..*|.*\.(?:command|cmd|program|helper|driver|clean|smudge|process|textconv|external|editor|vcs|uploadpack|receivepack|update|packobjectshook|difffilter|path))$/;
const TODO_LISTS = ["rebase-merge/git-rebase-todo", "sequencer/todo"];

/** What git runs or obeys at the top of a repository, each with a text that differs once it has changed. */
export async function obeyedAt(top: string): Promise<ReadonlyMap<string, string>> {
  const found = new Map<string, string>();
  const folders = await repositoryFolders(top);
  if (folders === null) return found;
  const { gitDir, commonDir } = folders;
  const files = new Set([
    join(commonDir, "config"),
    join(commonDir, "config.worktree"),
    join(gitDir, "config.worktree"),
  ]);
  const { settings, included } = await everyGitSetting([...files], "/");
  for (const path of included) found.set(`settings in ${path}`, "");
  for (const one of settings) {
    const name = nameOf(one);
    if (RUNS.test(name.toLowerCase())) found.set(`${name} = ${one.value}`, "");
  }
  const hooks = join(commonDir, "hooks");
  for (const { name } of folderEntries(hooks, { most: MOST_HOOKS, wanted: () => true })) {
    if (!name.endsWith(".sample")) found.set(`hook ${name}`, stampOf(join(hooks, name)));
  }
  for (const name of TODO_LISTS) {
    for (const line of (await smallTextFile(join(gitDir, name)) ?? "").split("\n")) {
      if (/^\s*(?:exec|x)\s/.test(line)) found.set(`${name}: ${line.trim()}`, "");
    }
  }
  return found;
}

/** A text that differs once what is at a path, or where a link leads, has changed; "" if nothing is there. */
export function stampOf(path: string): string {
  if (!existsSync(path)) return ""; // an error costs more than the question
  try {
    const { size, mtime, ctime, mode } = Deno.statSync(path);
    return [size, mtime?.getTime(), ctime?.getTime(), mode].join();
  } catch {
    return "";
  }
}

/** Adds a path, and where it leads if it is a link. */
function add({ paths }: Found, path: string): void {
  const kind = entryKind(path);
  if (kind === null) return;
  const parent = realPathOf(dirname(path));
  if (parent === null) return;
  paths.add(join(parent, path.slice(path.lastIndexOf("/") + 1)));
  if (kind !== "link") return;
  const real = realPathOf(path);
  if (real !== null) paths.add(real);
}

/** The same for a path that may be missing: what would be there is obeyed. */
function expect(found: Found, path: string, kind: "folder" | "file"): void {
  if (entryKind(path) !== null) return add(found, path);
  let first = path;
  while (entryKind(dirname(first)) === null) first = dirname(first);
  const parent = realPathOf(dirname(first));
  if (parent === null) return;
  found.missing.set(join(parent, first.slice(first.lastIndexOf("/") + 1)), first === path ? kind : "folder");
}

/** Adds where links in a folder lead. */
function addLinks(found: Found, { folder, depth }: { readonly folder: string; readonly depth: number }): void {
  for (const { name, isFolder } of folderEntries(folder, { most: MOST_HOOKS, wanted: () => true })) {
    const path = join(folder, name);
    if (isFolder && depth > 1) addLinks(found, { folder: path, depth: depth - 1 });
    else if (!isFolder && entryKind(path) === "link") add(found, path);
  }
}

/** The folders that the repository's submodules are checked out in, by their settings. */
export async function submodules(modules: string): Promise<readonly string[]> {
  const found: string[] = [];
  const open = [{ folder: modules, depth: 0 }];
  for (const { folder, depth } of open) {
    if (found.length >= MOST_SUBMODULES || depth > MODULES_DEPTH) break;
    const entries = [...folderEntries(folder, { most: MOST_SUBMODULES, wanted: (first) => first === 99 })]; // "c"
    if (entries.some(({ name, isFolder }) => name === "config" && !isFolder)) {
      const { settings } = await everyGitSetting([join(folder, "config")], "/");
      const tree = settings.findLast(({ section, key }) => section === "core" && key === "worktree")?.value;
      if (tree !== undefined) found.push(resolve(folder, tree));
      open.push({ folder: join(folder, "modules"), depth: depth + 1 });
    } else {
      for (const { name, isFolder } of entries) {
        if (isFolder) open.push({ folder: join(folder, name), depth: depth + 1 });
      }
    }
  }
  return found;
}

/** Layers on top of what may be changed. A folder on the way to a fixed path is one too: a folder that is a mount point
 * cannot be renamed or removed. */
function layersOf(
  { fixed, opened, write }: Record<"fixed" | "opened" | "write", readonly string[]>,
): readonly Layer[] {
  const layers = new Map<string, Layer>();
  const set = (path: string, writable: boolean): void => {
    const kind = entryKind(path);
    if (kind !== null) layers.set(path, { path, folder: kind === "folder", link: kind === "link", writable });
  };
  for (const path of fixed) {
    const top = write.filter((one) => holds(one, path)).reduce((a, b) => a.length < b.length ? a : b, path);
    for (let at = dirname(path); at.length > top.length; at = dirname(at)) {
      if (!layers.has(at) && !fixed.some((one) => holds(one, at))) set(at, true);
    }
  }
  for (const path of fixed) set(path, false);
  for (const path of opened) set(path, true);
  return [...layers.values()].sort((a, b) => a.path.length - b.path.length);
}

/** Links are followed. */
export function isFile(path: string): boolean {
  const real = realPathOf(path);
  return real !== null && entryKind(real) === "file";
}

export function entryKind(path: string): "folder" | "file" | "link" | null {
  try {
    const { isDirectory, isSymlink } = Deno.lstatSync(path);
    return isDirectory ? "folder" : isSymlink ? "link" : "file";
  } catch {
    return null;
  }
}

export function realPathOf(path: string): string | null {
  try {
    return Deno.realPathSync(path);
  } catch {
    return null;
  }
}
