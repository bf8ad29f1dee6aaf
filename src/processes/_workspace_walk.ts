import { Buffer } from "node:buffer";
import { createHash } from "node:crypto";
import { dirname, join, resolve } from "node:path";
import { BoundedMap } from "../domain/kit/bounded_map.ts";
import { isSecretFile } from "../domain/kit/secret_files.ts";
import { smallTextFile } from "../domain/kit/small_text_file.ts";
import { folderEntries, folderStamp } from "./folders.ts";
import { holds } from "./_wall_paths.ts";

/** Folders that are looked into, those nearest to the top first, and names in each. */
const MOST_FOLDERS = 2_000, MOST_NAMES = 20_000;
const MOST_WORKSPACES = 16;
const MOST_HIDDEN = 500, MOST_REPOSITORIES = 500;
const MOST_INDEX_BYTES = 64 << 20;
/** Not looked into: repositories' own folders, and packages. */
const PASSED = new Set([".git", ".hg", ".svn", "node_modules", "__pycache__", ".venv"]);
const NONE: ReadonlySet<string> = new Set();
/** Folders that are looked into, those included, once a file is no longer where it was. */
const MOST_MOVED = 20_000;
const MOST_HASHED = 1 << 20;

interface KnownFolder {
  readonly stamp: string;
  readonly folders: readonly string[];
  readonly secrets: readonly string[];
  /** Whether it is the top of a repository: it has a file, folder or link `.git`. */
  readonly isTop: boolean;
}

/** Paths relative to a workspace. */
export interface SpecialFiles {
  readonly secrets: readonly string[];
  /** Folders with a `.git`. */
  readonly repositories: readonly string[];
}

/** Finds the files of a workspace that may hold keys, and its repositories. A folder is listed again only once names in
 * it have changed, so that the second look costs a system call for each folder. */
export class WorkspaceWalk {
  readonly #patterns: readonly string[];
  readonly #wanted: (first: number, last: number) => boolean;
  readonly #known = new BoundedMap<string, Map<string, KnownFolder>>(MOST_WORKSPACES);

  /** Secrets that were found last. */
  readonly #found = new BoundedMap<string, readonly string[]>(MOST_WORKSPACES);
  /** Repositories that were ever found: a command can make so many folders that they are not looked into. */
  readonly #repositories = new BoundedMap<string, ReadonlySet<string>>(MOST_WORKSPACES);

  constructor(patterns: readonly string[]) {
    this.#patterns = patterns;
    this.#wanted = byteCheck(patterns);
  }

  /** The secret files and the tops of repositories that are near the top. */
  look(workspace: string): SpecialFiles {
    return this.#walk(workspace, { most: MOST_FOLDERS, passed: PASSED });
  }

  /** Real paths of the tops, with those that were found before and those around the workspace. */
  repositories(workspace: string, { repositories }: SpecialFiles): readonly string[] {
    const all = new Set(["", ...this.#repositories.get(workspace) ?? [], ...repositories]);
    const there = [...all].filter((folder) => hasGit(join(workspace, folder))).slice(0, MOST_REPOSITORIES);
    this.#repositories.set(workspace, new Set(there));
    const around: string[] = [];
    for (let at = workspace; dirname(at) !== at; at = dirname(at)) if (hasGit(dirname(at))) around.push(dirname(at));
    return [...around, ...there.map((folder) => join(workspace, folder))];
  }

  /** Real paths of secret files, without those whose text the repository has: a commit would record that they changed.
   * Throws Error for too many. */
  async secrets(workspace: string, { secrets: found }: SpecialFiles): Promise<readonly string[]> {
    if (this.#patterns.length === 0) return [];
    const before = this.#found.get(workspace) ?? [];
    // A command may have moved a folder to where nothing is looked for.
    const isMoved = before.some((path) => !found.includes(path));
    const named = isMoved ? this.#walk(workspace, { most: MOST_MOVED, passed: NONE }).secrets : found;
    this.#found.set(workspace, named);
    const untracked = named.length === 0 ? [] : await withoutTracked(workspace, named);
    const real = new Set(untracked.flatMap((path) => realFile(workspace, path)));
    if (real.size <= MOST_HIDDEN) return [...real];
    throw new Error(
      `Cannot run commands: ${real.size} files may hold keys, and ${MOST_HIDDEN} is the most that are hidden; the setting secrets names them`,
    );
  }

  /** Relative to the workspace. */
  #walk(
    workspace: string,
    { most, passed }: { readonly most: number; readonly passed: ReadonlySet<string> },
  ): SpecialFiles {
    const before = this.#known.get(workspace);
    const now = new Map<string, KnownFolder>();
    const secrets: string[] = [], repositories: string[] = [];
    const open = [""];
    for (let at = 0; at < open.length && at < most; at++) {
      const folder = open[at] ?? "";
      const stamp = folderStamp(join(workspace, folder));
      if (stamp === null) continue;
      const known = before?.get(folder);
      const current = known?.stamp === stamp ? known : this.#read(workspace, { folder, stamp });
      now.set(folder, current);
      open.push(...current.folders.filter((path) => !passed.has(path.slice(path.lastIndexOf("/") + 1))));
      secrets.push(...current.secrets);
      if (current.isTop) repositories.push(folder);
    }
    this.#known.set(workspace, now);
    return { secrets, repositories };
  }

  #read(workspace: string, { folder, stamp }: { readonly folder: string; readonly stamp: string }): KnownFolder {
    const folders: string[] = [], secrets: string[] = [];
    const below = folder === "" ? "" : `${folder}/`;
    let isTop = false;
    for (
      const { name, isFolder } of folderEntries(join(workspace, folder), { most: MOST_NAMES, wanted: this.#wanted })
    ) {
      if (name === ".git") isTop = true;
      if (isFolder) folders.push(below + name);
      else if (isSecretFile(below + name, this.#patterns)) secrets.push(below + name);
    }
    return { stamp, folders, secrets, isTop };
  }
}

/** A quick look at two bytes of a name, since most names are those of no secret. */
function byteCheck(patterns: readonly string[]): (first: number, last: number) => boolean {
  const wanted = patterns.filter((one) => !one.startsWith("!"));
  if (wanted.some((one) => !/^(?!\*(?:.*\*)?$)[\x20-\x2e\x30-\x7e]+$/.test(one))) return () => true;
  const codes = (char = ""): number[] => [char.toLowerCase().charCodeAt(0), char.toUpperCase().charCodeAt(0)];
  const firsts = new Set(wanted.flatMap((one) => codes(one[0]))),
    lasts = new Set(wanted.flatMap((one) => codes(one.at(-1))));
  const isGit = (first: number, last: number): boolean => first === 46 && last === 116; // "." and "t"
  return (first, last) => firsts.has(first) || lasts.has(last) || isGit(first, last);
}

function hasGit(folder: string): boolean {
  try {
    Deno.lstatSync(join(folder, ".git"));
    return true;
  } catch {
    return false;
  }
}

/** Where links lead, if that is a file of the workspace. */
function realFile(workspace: string, path: string): string[] {
  try {
    const real = Deno.realPathSync(join(workspace, path));
    return holds(workspace, real) && Deno.statSync(real).isFile ? [real] : [];
  } catch {
    return [];
  }
}

async function withoutTracked(workspace: string, paths: readonly string[]): Promise<readonly string[]> {
  const index = await indexOf(workspace);
  if (index === null) return paths;
  const isTracked = await Promise.all(paths.map((path) => isInIndex(index, { workspace, path })));
  return paths.filter((_, at) => !isTracked[at]);
}

/** The list of tracked files of a repository or worktree; null if there is none. */
async function indexOf(workspace: string): Promise<Buffer | null> {
  const own = join(workspace, ".git");
  const [, linked] = /^gitdir: (.+)$/m.exec(await smallTextFile(own) ?? "") ?? [];
  const path = join(linked === undefined ? own : resolve(workspace, linked), "index");
  try {
    const { isFile, size } = await Deno.lstat(path);
    return isFile && size <= MOST_INDEX_BYTES ? Buffer.from(await Deno.readFile(path)) : null;
  } catch {
    return null;
  }
}

/** Whether the index names the text that the file has now: a command can add a file that it does not see. An entry is a
 * hash, two bytes with the length of the path, and the path with a NUL. */
async function isInIndex(
  index: Buffer,
  { workspace, path }: { readonly workspace: string; readonly path: string },
): Promise<boolean> {
  const name = Buffer.from(`${path}\0`);
  for (let at = index.indexOf(name); at >= 0; at = index.indexOf(name, at + 1)) {
    if (at < 34 || (index.readUInt16BE(at - 2) & 0xfff) !== Math.min(name.length - 1, 0xfff)) continue;
    const file = join(workspace, path);
    const { isFile, size } = await Deno.lstat(file);
    if (!isFile || size > MOST_HASHED) return false;
    const bytes = await Deno.readFile(file);
    return ["sha1", "sha256"].some((kind) => {
      const hash = createHash(kind).update(`blob ${bytes.length}\0`).update(bytes).digest();
      return hash.equals(index.subarray(at - 2 - hash.length, at - 2));
    });
  }
  return false;
}
