import { existsSync, lstatSync, readdirSync, realpathSync } from "node:fs";
import { basename, dirname, join, relative, resolve } from "node:path";
import { parseGitConfig, smallTextFile } from "@vis/extension";
import type { Git } from "../program/git.ts";
import { RecordReader } from "../output/record_reader.ts";
import { inside } from "../program/repository.ts";

const PARTS = ["head", "commondir", "objects", "refs"] as const;
/** The mode of a submodule in a tree. */
const SUBMODULE = "160000 ";
/** Settings of a submodule that name neither a program nor a file. */
const PLAIN =
  /^(?:core\.(?:repositoryformatversion|filemode|bare|logallrefupdates|ignorecase|precomposeunicode|symlinks)|extensions\.objectformat|remote\..*\.(?:url|fetch)|branch\..*\.(?:remote|merge|rebase)|user\.(?:name|email))$/;
/** Names below a submodule that are looked at. */
const MOST_NAMES = 100_000;
const ANY = /(?:^|\/)(?:head|commondir|objects|refs)(?:\/|$)/i;

/** Throws Error if the files of a commit, or others that come with it (`names`), would make a folder below `place` one
 * that git takes for a repository, whose settings can run commands when somebody calls git there, or change one; or if
 * a submodule would come over a repository that can run commands. What is already in the workspace, as HEAD has it,
 * does not count. */
export async function refusePlanted(
  git: Git,
  { commit, names = [], modules = [], place, cannot }: {
    readonly commit: string;
    readonly names?: readonly string[];
    /** Those of `names` that are submodules. */
    readonly modules?: readonly string[];
    readonly place: string;
    readonly cannot: string;
  },
): Promise<void> {
  const { workspace } = git.repository;
  const refused = (folder: string): Error =>
    new Error(
      `Cannot ${cannot}: git would take ${folder || "its top folder"} for a repository, whose settings can run ` +
        "commands; leave it to the user",
    );
  for (let at = place; at !== workspace; at = dirname(at)) { // a new folder, which may be called objects
    const folder = dirname(at), there = await partsOf(folder), made = basename(at).toLowerCase();
    if (isPart(made) && isRepository(new Set([...there, made]))) throw refused(relative(workspace, folder));
  }
  const { parts, submodules } = await partsIn(git, { commit, names });
  for (const folder of new Set([...submodules, ...modules])) {
    const isFine = await runsNothing(git, join(place, folder)) || await isSubmodule(git, folder);
    if (!isFine) throw refused(folder);
  }
  for (const [folder, comes] of parts) {
    const there = await partsOf(join(place, folder));
    if (!isRepository(new Set([...there, ...comes]))) continue;
    const changed = names.some((name) => inside(folder === "" ? "/" : `/${folder}`, `/${name}`));
    if (changed || !await isKnown(git, { commit, folder })) throw refused(folder);
  }
}

/** Whether a folder is a repository in the workspace too, and the commit does not change it. */
async function isKnown(
  git: Git,
  { commit, folder }: { readonly commit: string; readonly folder: string },
): Promise<boolean> {
  if (!isRepository(await partsOf(join(git.repository.workspace, folder)))) return false;
  const trees = ["HEAD", commit].map((one) => folder === "" ? `${one}^{tree}` : `${one}:${folder}`);
  const { code, stdout } = await git.run(["rev-parse", ...trees]);
  const [now, then] = stdout.split("\n");
  return code === 0 && now === then;
}

function isRepository(parts: ReadonlySet<string>): boolean {
  return parts.has("head") && (parts.has("commondir") || (parts.has("objects") && parts.has("refs")));
}

/** Whether HEAD has a submodule there too, whose repository no command changes. */
async function isSubmodule(git: Git, folder: string): Promise<boolean> {
  const { stdout } = await git.run(["ls-tree", "-z", "--full-tree", "HEAD", "--", folder]);
  return stdout.startsWith(SUBMODULE);
}

/** Whether git would run nothing in a submodule at this folder: there is no repository, or it is one in the `.git` of the
 * workspace, which no command changes, or it has plain settings and no hooks, as a switch leaves one behind. */
async function runsNothing({ repository }: Git, folder: string): Promise<boolean> {
  const dot = join(folder, ".git"), info = lstatSync(dot, { throwIfNoEntry: false });
  if (info === undefined) return true;
  if (!info.isDirectory()) {
    const named = info.isFile() ? /^gitdir: (.+?)\s*$/.exec(await smallTextFile(dot) ?? "")?.[1] : undefined;
    const real = named === undefined ? "" : realPathOf(resolve(folder, named));
    return [repository.gitDir, repository.commonDir].some((one) => inside(join(one, "modules"), real));
  }
  const text = await smallTextFile(join(dot, "config"));
  const isPlain = text !== null &&
    parseGitConfig(text).every(({ section, subsection, key }) =>
      PLAIN.test([section, ...subsection === null ? [] : [subsection], key].join("."))
    );
  if (!isPlain || ["commondir", "config.worktree"].some((name) => existsSync(join(dot, name)))) return false;
  return !hasHooks(join(dot, "hooks")) && !hasRepositories(folder);
}

function hasHooks(folder: string): boolean {
  const info = lstatSync(folder, { throwIfNoEntry: false });
  return info !== undefined && (!info.isDirectory() || readdirSync(folder).some((name) => !name.endsWith(".sample")));
}

/** Whether there are repositories below the one of a folder, or more names than are looked at. */
function hasRepositories(top: string): boolean {
  const open = [top];
  let count = 0;
  for (const folder of open) {
    for (const entry of readdirSync(folder, { withFileTypes: true })) {
      if (++count > MOST_NAMES || entry.name === ".git" && folder !== top) return true;
      if (entry.isDirectory() && entry.name !== ".git") open.push(join(folder, entry.name));
    }
  }
  return false;
}

function realPathOf(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return "";
  }
}

/** For each folder in a commit, which parts of a repository it has, and the submodules of the commit; nothing for an
 * unknown one. */
async function partsIn(
  git: Git,
  { commit, names }: { readonly commit: string; readonly names: readonly string[] },
): Promise<{ readonly parts: ReadonlyMap<string, ReadonlySet<string>>; readonly submodules: readonly string[] }> {
  const submodules: string[] = [];
  const found = new Map<string, Set<string>>();
  const take = (path: string): void => {
    if (!ANY.test(path)) return;
    const way = path.split("/");
    way.forEach((name, at) => {
      const part = name.toLowerCase(), folder = way.slice(0, at).join("/");
      if (isPart(part)) found.set(folder, (found.get(folder) ?? new Set()).add(part));
    });
  };
  names.forEach(take);
  const takeEntry = (entry: string): void => {
    const path = entry.slice(entry.indexOf("\t") + 1);
    if (entry.startsWith(SUBMODULE)) submodules.push(path);
    take(path);
  };
  const reader = new RecordReader(takeEntry, { separator: 0 });
  const args = ["ls-tree", "-r", "-z", "--full-tree", commit, "--"];
  await git.run(args, { take: (chunk) => reader.push(chunk) });
  reader.end();
  return { parts: found, submodules };
}

function isPart(name: string): boolean {
  return PARTS.some((part) => part === name);
}

/** The same for a folder on the disk. */
async function partsOf(folder: string): Promise<ReadonlySet<string>> {
  const parts = ["HEAD", ...PARTS.slice(1)];
  const there = await Promise.all(parts.map((name) => Deno.lstat(join(folder, name)).then(() => true, () => false)));
  return new Set(PARTS.filter((_, at) => there[at]));
}
