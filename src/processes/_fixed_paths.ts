import { Buffer } from "node:buffer";
import { existsSync } from "node:fs";
import { setImmediate } from "node:timers";
import { basename, dirname, join, resolve } from "node:path";
import { BoundedMap } from "../domain/kit/bounded_map.ts";
import { everyGitSetting, type GitSetting, untilde } from "../domain/kit/git_config.ts";
import { smallTextFile } from "../domain/kit/small_text_file.ts";
import type { Layer } from "../sandbox/exec/exec_policy.ts";
import { folderEntries } from "./folders.ts";
import { isPlaceholder, Placeholders } from "./_placeholders.ts";
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
/** As many as the kernel follows. */
const MOST_LINKS = 40;
/** Each is an open file while a command runs. */
const MOST_PLACEHOLDERS = 200;
const MOST_INDEXES = 64, MOST_INDEX_BYTES = 64 << 20;
/** Of an entry in an index, before its name. */
const ENTRY_BYTES = 62;
/** Folders that are looked into for submodules. */
const MOST_VISITED = 2_000;

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
  /** By the repository's folder, with a text that differs once its index has changed. */
  readonly #indexes = new BoundedMap<string, { readonly stamp: string; readonly names: readonly string[] }>(
    MOST_INDEXES,
  );

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
    const missing = [...found.missing].filter(([path]) => counts(path));
    if (missing.length > MOST_PLACEHOLDERS) {
      throw new Error(
        `Cannot run commands: repositories here name ${missing.length} missing paths that git would obey, and ${MOST_PLACEHOLDERS} is the most that are kept; look at the settings of git in ${workspace}`,
      );
    }
    const release: (() => void)[] = [];
    const leave = (): void => release.splice(0).forEach((end) => end());
    try {
      for (const [path, kind] of missing) {
        found.paths.add(path);
        release.push(this.#placeholders.take(path, kind));
      }
    } catch (error) {
      leave();
      throw error;
    }
    const kept = keep.filter((path) => write.some((one) => holds(one, path)) && entryKind(path) !== null);
    return { layers: layersOf({ fixed: [...[...found.paths].filter(counts), ...kept], opened, write }), leave };
  }

  async #find(
    workspace: string,
    { repositories, named }: Record<"repositories" | "named", readonly string[]>,
  ): Promise<Found> {
    const found: Found = { paths: new Set(), missing: new Map() };
    const tops = repositories.filter((top) => !named.includes(join(top, GIT)));
    await Promise.all(tops.map((top) => this.#repository(found, top)));
    if (!named.includes(join(workspace, GIT))) expect(found, join(workspace, GIT), "folder");
    expect(found, join(workspace, VIS), "folder");
    addLinks(found, { folder: join(workspace, VIS), depth: VIS_DEPTH });
    return found;
  }

  async #gitlinks(gitDir: string): Promise<readonly string[]> {
    const path = join(gitDir, "index"), stamp = stampOf(path);
    const known = this.#indexes.get(gitDir);
    if (known?.stamp === stamp) return known.names;
    const size = Number(stamp.split(",", 1)[0]);
    const bytes = size > 0 && size <= MOST_INDEX_BYTES ? await Deno.readFile(path).catch(() => null) : null;
    const names = bytes === null ? [] : gitlinksOf(Buffer.from(bytes.buffer));
    this.#indexes.set(gitDir, { stamp, names });
    return names;
  }

  async #repository(
    found: Found,
    top: string,
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
    for (const name of await this.#gitlinks(gitDir)) expect(found, join(top, name, GIT), "folder");
    const { named } = await namedBySettings({ top, gitDir, commonDir, home: this.#home });
    for (const { path, as } of named) {
      if (as === "hooks") {
        expect(found, path, "folder");
        addLinks(found, { folder: path, depth: 1 });
      } else if (as !== "word") expect(found, path, "file");
      else if (existsSync(path) && isFile(path)) add(found, path);
    }
  }
}

/** Names of the entries of an index that are submodules, checked out or not. */
function gitlinksOf(index: Buffer): readonly string[] {
  const version = index.length < 12 || index.toString("latin1", 0, 4) !== "DIRC" ? 0 : index.readUInt32BE(4);
  if (version < 2 || version > 4) return [];
  const found: string[] = [];
  let name = Buffer.alloc(0);
  for (let at = 12, left = index.readUInt32BE(8); left > 0 && at + ENTRY_BYTES < index.length; left--) {
    const mode = index.readUInt32BE(at + 24), flags = index.readUInt16BE(at + ENTRY_BYTES - 2);
    let from = at + ENTRY_BYTES + (version > 2 && (flags & 0x4000) !== 0 ? 2 : 0);
    let kept = 0;
    if (version === 4) {
      // How many bytes of the name before are not in this one.
      let cut = 0, more = true;
      for (let first = true; more; first = false) {
        const byte = index[from++] ?? 0;
        cut = (first ? 0 : (cut + 1) << 7) | (byte & 0x7f);
        more = (byte & 0x80) !== 0;
      }
      kept = Math.max(name.length - cut, 0);
    }
    const end = index.indexOf(0, from);
    if (end < 0) break;
    name = Buffer.concat([name.subarray(0, kept), index.subarray(from, end)]);
    if ((mode & 0o170000) === 0o160000 && found.length < MOST_SUBMODULES) found.push(name.toString());
    at = version === 4 ? end + 1 : at + Math.ceil((end - at + 1) / 8) * 8;
  }
  return found;
}

/** A path that a setting of git names, existing or not. A word of a value may be no path at all. */
export interface NamedPath {
  readonly path: string;
  readonly as: "hooks" | "settings" | "program" | "word";
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
  let hooks = 0;
  for (const path of included) named.push({ path, as: "settings", setting: "include.path", runs: false });
  let words = 0;
  for (const one of settings) {
    const setting = nameOf(one);
    if (setting === "core.hookspath") {
      if (++hooks > MOST_HOOKS) continue;
      const folder = resolve(top, untilde(one.value, home)), parent = dirname(folder);
      // The hooks of Husky in `.husky/_` run those in `.husky`.
      const path = basename(folder) === "_" && parent !== top ? parent : folder;
      named.push({ path, as: "hooks", setting: "core.hooksPath", runs: true });
      continue;
    }
    const runs = RUNS.test(setting.toLowerCase()) && (one.section !== "alias" || one.value.startsWith("!"));
    let isFirst = true;
    for (const word of one.value.split(/[\s'"`;&|()<>=,!]+/)) {
      if (word === "" || ++words > MOST_WORDS) continue;
      const isProgram = runs && word.includes("/") && (isFirst || /^(?:\.{1,2}|~)?\//.test(word));
      named.push({ path: resolve(top, untilde(word, home)), as: isProgram ? "program" : "word", setting, runs });
      isFirst = false;
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

/** The repository outside of a linked worktree, if it names the worktree too; null for any other workspace. */
export async function outsideRepository(workspace: string): Promise<string | null> {
  const { gitDir = "", commonDir = "" } = await repositoryFolders(workspace) ?? {};
  if (gitDir === "" || holds(workspace, gitDir) || commonDir !== dirname(dirname(gitDir))) return null;
  const named = (await smallTextFile(join(gitDir, "gitdir")) ?? "").trim();
  return realPathOf(named) === join(workspace, GIT) && entryKind(join(commonDir, "objects")) === "folder"
    ? commonDir
    : null;
}

/** Settings by which git runs a program or reads other settings. */
const RUNS =
  /^(?:core\.(?:hookspath|fsmonitor|editor|pager|sshcommand|gitproxy|askpass|worktree|attributesfile)|(?:alias|pager|include|includeif)\..*|.*\.(?:command|cmd|program|helper|driver|clean|smudge|process|textconv|external|editor|vcs|uploadpack|receivepack|update|packobjectshook|difffilter|path))$/;
const TODO_LISTS = ["rebase-merge/git-rebase-todo", "sequencer/todo"];

/** What git runs or obeys at the top of a repository, each with a text that differs once it has changed. */
export async function obeyedAt(top: string): Promise<ReadonlyMap<string, string>> {
  const found = new Map<string, string>();
  const repository = await repositoryFolders(top);
  if (repository === null) return found;
  const { gitDir, commonDir } = repository;
  const files = new Set([
    join(commonDir, "config"),
    join(commonDir, "config.worktree"),
    join(gitDir, "config.worktree"),
  ]);
  const { settings, included } = await everyGitSetting([...files], "/");
  for (const path of included) found.set(`settings in ${path}`, "");
  // Of files that are too large to be read, only that they changed is known.
  for (const path of files) if (existsSync(path) && await smallTextFile(path) === null) found.set(path, stampOf(path));
  for (const one of settings) {
    const name = nameOf(one);
    if (RUNS.test(name.toLowerCase())) found.set(`${name} = ${one.value}`, "");
  }
  const { named } = await namedBySettings({ top, gitDir, commonDir, home: "/" });
  for (const { path, as } of named) {
    if (as === "program" || as === "word" && isFile(path)) found.set(path, stampOf(path));
  }
  const folders = named.filter(({ as }) => as === "hooks").map(({ path }) => path);
  for (const folder of [join(commonDir, "hooks"), ...folders]) {
    const real = realPathOf(folder);
    if (real === null) continue;
    for (const { name } of folderEntries(real, { most: MOST_HOOKS, wanted: () => true })) {
      if (!name.endsWith(".sample")) found.set(`hook ${name}`, `${real} ${stampOf(join(real, name))}`);
    }
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

/** Adds what is at a path, with each link on the way to it. */
function add(found: Found, path: string): void {
  follow(found, path, { kind: "file", isExpected: false });
}

/** The same for a path that may be missing: what would be there is obeyed. */
function expect(found: Found, path: string, kind: "folder" | "file"): void {
  follow(found, path, { kind, isExpected: true });
}

/** Goes to a path as the kernel does. The end of a link that leads nowhere is always expected. */
function follow(
  { paths, missing }: Found,
  path: string,
  { kind, isExpected }: { readonly kind: "folder" | "file"; readonly isExpected: boolean },
): void {
  const names = resolve(path).split("/").filter((name) => name !== "");
  let at = "/", links = 0;
  while (names.length > 0) {
    const name = names.shift() ?? "";
    if (name === "..") {
      at = dirname(at);
      continue;
    }
    const here = join(at, name), is = entryKind(here);
    if (is === "link") {
      paths.add(here);
      if (++links > MOST_LINKS) return;
      const to = Deno.readLinkSync(here);
      if (to.startsWith("/")) at = "/";
      names.unshift(...to.split("/").filter((one) => one !== "" && one !== "."));
      continue;
    }
    if (is === null || isPlaceholder(here)) {
      if (isExpected || links > 0) missing.set(here, names.length === 0 ? kind : "folder");
      return;
    }
    at = here;
  }
  paths.add(at);
}

/** Adds where links in a folder lead. */
function addLinks(found: Found, { folder, depth }: { readonly folder: string; readonly depth: number }): void {
  const real = realPathOf(folder);
  if (real === null) return;
  for (const { name, isFolder } of folderEntries(real, { most: MOST_HOOKS, wanted: () => true })) {
    const path = join(real, name);
    if (isFolder && depth > 1) addLinks(found, { folder: path, depth: depth - 1 });
    else if (!isFolder && entryKind(path) === "link") add(found, path);
  }
}

/** The folders that the repository's submodules are checked out in, by their settings. */
export async function submodules(modules: string): Promise<readonly string[]> {
  const found: string[] = [];
  const open = [{ folder: modules, depth: 0 }];
  for (const [at, { folder, depth }] of open.entries()) {
    if (found.length >= MOST_SUBMODULES || depth > MODULES_DEPTH || at >= MOST_VISITED) break;
    if (at % 50 === 49) await new Promise<void>((resolve) => setImmediate(resolve));
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
