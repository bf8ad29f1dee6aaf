import { existsSync, lstatSync, readdirSync } from "node:fs";
import { basename, dirname, join, relative } from "node:path";
import { advised, gitFolderOf, isWithin, parseGitConfig, smallTextFile, someOf } from "@vis/extension";
import { Git, type GitOptions, plainReason, untrackedLoss } from "./git.ts";
import { RecordReader } from "./git_output.ts";

const MOST_FOLDERS = 1000;

const OWN = ".vis";

const NONE = "000000", SUBMODULE = "160000";

export type IncomingNames =
  | { readonly commit: string; readonly carries?: boolean; readonly paths?: readonly string[] }
  | { readonly from: string; readonly to: string; readonly sinceFork?: boolean }
  | { readonly each: readonly string[]; readonly reverted?: boolean };

/** Rejects with Error if the changes would lose untracked files, change Vis's folder, or bring a repository. Returns
 * arguments that turn off unsafe renames of a merge. */
export async function refuseIncoming(
  git: Git,
  { incoming, base = "HEAD", cannot }: {
    readonly incoming: readonly IncomingNames[];
    readonly base?: string;
    readonly cannot: string;
  },
): Promise<readonly string[]> {
  const changes = await Promise.all(incoming.map((one) => changesOf(git, one)));
  refuseOwn(git, changes.flatMap(({ own }) => own), cannot);
  const coming = new Map(changes.flatMap(({ files }) => files));
  await refusePlanted(git, {
    commit: base,
    names: [...coming.keys()],
    modules: [...coming].flatMap(([name, mode]) => mode === SUBMODULE ? [name] : []),
    place: git.repository.workspace,
    cannot,
  });
  const lost = await untrackedAt(git, [...coming].flatMap(([name, mode]) => mode === SUBMODULE ? [] : [name]));
  if (lost.length === 0) return await mayRenameToObeyed(git, changes, base) ? NO_RENAMES : [];
  throw untrackedLoss(git, lost, cannot);
}

const NO_RENAMES = [
  ...["-c", "merge.renames=false", "-c", "merge.directoryRenames=false"],
  ...["-c", "pull.twohead=recursive"],
];

async function mayRenameToObeyed(git: Git, changes: readonly Changes[], base: string): Promise<boolean> {
  const changed = changes.flatMap((one) => one.changed);
  if (changed.length === 0) return false;
  if ((await git.obeyedOf(changed.map(({ name }) => name))).length > 0) return true;
  const files = await namesOf(git, ["ls-tree", "-r", "-z", "--name-only", "--full-tree", base, "--"]);
  const there = new Set(files), folders = new Set(files.map((name) => dirname(name)));
  const isElsewhere = ({ name, isNew }: Changes["changed"][number]): boolean =>
    !there.has(name) && !(isNew && folders.has(dirname(name)));
  return changed.some(isElsewhere) && (await git.obeyedOf(files)).length > 0;
}

/** Git cannot write in Vis's folder and would stop halfway. */
export function refuseOwn(git: Git, names: readonly string[], cannot: string): void {
  const own = [...new Set(names.filter(isOwn))];
  if (own.length === 0) return;
  throw advised(
    new Error(`${cannot}: it would change ${git.places(own)}, which only the user may change`),
    "ask the user to do it",
  );
}

function isOwn(name: string): boolean {
  return name === OWN || name.startsWith(`${OWN}/`);
}

interface Changes {
  readonly files: readonly (readonly [name: string, mode: string])[];
  readonly changed: readonly { readonly name: string; readonly isNew: boolean }[];
  readonly own: readonly string[];
}

async function changesOf(git: Git, incoming: IncomingNames): Promise<Changes> {
  const files: (readonly [name: string, mode: string])[] = [], changed: Changes["changed"][number][] = [];
  let own: string[] = [], modes: readonly string[] | null = null;
  const take = (record: string): void => {
    if (modes === null) return void (modes = record.slice(1).split(" ", 2));
    const [before = NONE, after = NONE] = modes;
    modes = null;
    if (!("commit" in incoming)) changed.push({ name: record, isNew: before === NONE });
    if (isOwn(record)) own.push(record);
    if (after !== NONE && (before === NONE || !("commit" in incoming))) files.push([record, after]);
  };
  const raw = ["--raw", "--no-renames", "-z"];
  if ("commit" in incoming) {
    const { commit, paths = [] } = incoming;
    await eachRecord(git, ["diff", "--cached", "-R", ...raw, commit, "--", ...paths], { take });
  } else if ("to" in incoming) {
    const { from, to, sinceFork } = incoming;
    await eachRecord(git, ["diff", ...raw, ...(sinceFork ? [`${from}...${to}`] : [from, to]), "--"], { take });
  } else if (incoming.each.length > 0) {
    const { each, reverted } = incoming;
    const args = ["diff-tree", "--stdin", "-r", "-m", "--root", "--no-commit-id", ...raw, ...(reverted ? ["-R"] : [])];
    await eachRecord(git, args, { take, input: each.map((hash) => `${hash}\n`).join("") });
  }
  const others = ["diff", "--name-only", "--no-renames", "-z"];
  const hasHead = own.length > 0 && (await git.run(["rev-parse", "--verify", "--quiet", "HEAD"])).code === 0;
  if (hasHead && "commit" in incoming && incoming.carries) {
    const differ = new Set(await namesOf(git, [...others, "HEAD", incoming.commit, "--", OWN]));
    own = own.filter((name) => differ.has(name));
  } else if (hasHead && "to" in incoming) { // A change that the index already has does not count.
    const differ = new Set(await namesOf(git, [...others, "--cached", incoming.to, "--", OWN]));
    own = own.filter((name) => differ.has(name));
  }
  return { files, changed, own };
}

async function eachRecord(
  git: Git,
  args: readonly string[],
  { take, ...options }: Pick<GitOptions, "input"> & { readonly take: (record: string) => void },
): Promise<void> {
  const reader = new RecordReader((record) => record === "" ? undefined : take(record), { separator: 0 });
  const { code, stderr } = await git.run(args, { ...options, take: (chunk) => reader.push(chunk) });
  reader.end();
  if (code !== 0) throw new Error(`Cannot check the files of the call: git ${args[0]} failed (${plainReason(stderr)})`);
}

async function namesOf(git: Git, args: readonly string[]): Promise<readonly string[]> {
  const names: string[] = [];
  await eachRecord(git, args, { take: (name) => void names.push(name) });
  return names;
}

async function untrackedAt(git: Git, names: readonly string[]): Promise<readonly string[]> {
  if (names.length === 0) return [];
  const tracked = new Set(await namesOf(git, ["ls-files", "-z"]));
  const kinds = new Map<string, "folder" | "file" | null>();
  const kindOf = (path: string): "folder" | "file" | null => {
    const known = kinds.get(path);
    if (known !== undefined) return known;
    const info = lstatSync(join(git.repository.workspace, path), { throwIfNoEntry: false });
    const kind = info === undefined ? null : info.isDirectory() ? "folder" : "file";
    kinds.set(path, kind);
    return kind;
  };
  const found = new Set<string>(), folders = new Set<string>();
  for (const name of names) {
    const way = name.split("/");
    for (let at = 1; at <= way.length; at++) {
      const path = way.slice(0, at).join("/"), kind = kindOf(path);
      if (kind === "file" && !tracked.has(path)) found.add(path);
      if (kind === "folder" && at === way.length) folders.add(path);
      if (kind !== "folder") break;
    }
  }
  if (folders.size > 0) {
    const inside = await namesOf(git, ["ls-files", "--others", "-z", "--", ...[...folders].slice(0, MOST_FOLDERS)]);
    for (const path of inside) found.add(path);
  }
  return [...found];
}

const REPOSITORY_PARTS = ["head", "commondir", "objects", "refs"] as const;

const SUBMODULE_ENTRY = "160000 ";

const PLAIN =
  /^(?:core\.(?:repositoryformatversion|filemode|bare|logallrefupdates|ignorecase|precomposeunicode|symlinks)|extensions\.objectformat|remote\..*\.(?:url|fetch)|branch\..*\.(?:remote|merge|rebase)|user\.(?:name|email))$/;

const MOST_NAMES = 100_000;

const ANY = /(?:^|\/)(?:head|commondir|objects|refs)(?:\/|$)/i;

export async function refuseObeyed(
  git: Git,
  { commit, place, cannot }: Readonly<Record<"commit" | "place" | "cannot", string>>,
): Promise<void> {
  const files = await namesOf(git, ["ls-tree", "-r", "-z", "--name-only", "--full-tree", commit, "--"]);
  const folder = relative(git.repository.workspace, place);
  const obeyed = await git.obeyedOf([folder, ...files.map((name) => join(folder, name))]);
  if (obeyed.length === 0) return;
  throw advised(
    new Error(`${cannot}: git or Vis would run files there, or read them as settings (${someOf(obeyed)})`),
    "name another folder",
  );
}

/** Settings of a repository can run commands. Rejects with Error if the commit or `names` would make, change or replace
 * a repository below `place`. */
export async function refusePlanted(
  git: Git,
  { commit, names = [], modules = [], place, cannot }: {
    readonly commit: string;
    readonly names?: readonly string[];
    readonly modules?: readonly string[];
    readonly place: string;
    readonly cannot: string;
  },
): Promise<void> {
  const { workspace } = git.repository;
  const refused = (folder: string): Error =>
    advised(
      new Error(
        `${cannot}: git would take ${
          folder === "" ? "the top folder" : git.place(folder)
        } for a repository, whose settings can run commands`,
      ),
      "leave the call to the user",
    );
  for (let at = place; at !== workspace; at = dirname(at)) { // The folder may be new and have the name "objects".
    const folder = dirname(at), there = await partsOf(folder), made = basename(at).toLowerCase();
    if (isPart(made) && isRepository(new Set([...there, made]))) throw refused(relative(workspace, folder));
  }
  const { parts, submodules } = await partsIn(git, commit, names);
  for (const folder of new Set([...submodules, ...modules])) {
    const isFine = await runsNothing(git, join(place, folder)) || await isSubmodule(git, folder);
    if (!isFine) throw refused(folder);
  }
  for (const [folder, comes] of parts) {
    const there = await partsOf(join(place, folder));
    if (!isRepository(new Set([...there, ...comes]))) continue;
    const changed = names.some((name) => isWithin(`/${name}`, folder === "" ? "/" : `/${folder}`));
    if (changed || !await isKnown(git, commit, folder)) throw refused(folder);
  }
}

async function isKnown(git: Git, commit: string, folder: string): Promise<boolean> {
  if (!isRepository(await partsOf(join(git.repository.workspace, folder)))) return false;
  const trees = ["HEAD", commit].map((one) => folder === "" ? `${one}^{tree}` : `${one}:${folder}`);
  const { code, stdout } = await git.run(["rev-parse", ...trees]);
  const [now, then] = stdout.split("\n");
  return code === 0 && now === then;
}

function isRepository(parts: ReadonlySet<string>): boolean {
  return parts.has("head") && (parts.has("commondir") || (parts.has("objects") && parts.has("refs")));
}

async function isSubmodule(git: Git, folder: string): Promise<boolean> {
  const { stdout } = await git.run(["ls-tree", "-z", "--full-tree", "HEAD", "--", folder]);
  return stdout.startsWith(SUBMODULE_ENTRY);
}

async function runsNothing({ repository }: Git, folder: string): Promise<boolean> {
  const dot = join(folder, ".git"), info = lstatSync(dot, { throwIfNoEntry: false });
  if (info === undefined) return true;
  if (!info.isDirectory()) {
    const real = info.isFile() ? await gitFolderOf(folder) ?? "" : "";
    return [repository.gitDir, repository.commonDir].some((one) => isWithin(real, join(one, "modules")));
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

async function partsIn(
  git: Git,
  commit: string,
  names: readonly string[],
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
    if (entry.startsWith(SUBMODULE_ENTRY)) submodules.push(path);
    take(path);
  };
  const reader = new RecordReader(takeEntry, { separator: 0 });
  const args = ["ls-tree", "-r", "-z", "--full-tree", commit, "--"];
  await git.run(args, { take: (chunk) => reader.push(chunk) });
  reader.end();
  return { parts: found, submodules };
}

function isPart(name: string): boolean {
  return REPOSITORY_PARTS.some((part) => part === name);
}

async function partsOf(folder: string): Promise<ReadonlySet<string>> {
  const parts = ["HEAD", ...REPOSITORY_PARTS.slice(1)];
  const there = await Promise.all(parts.map((name) => Deno.lstat(join(folder, name)).then(() => true, () => false)));
  return new Set(REPOSITORY_PARTS.filter((_, at) => there[at]));
}
