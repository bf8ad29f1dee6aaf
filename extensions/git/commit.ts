import { lstatSync } from "node:fs";
import { dirname, join, normalize } from "node:path";
import { advised, type EnvironmentView, type FileChanges, someOf } from "@vis/extension";
import {
  askToChange,
  COMMIT_HOOKS,
  Git,
  gitRefusal,
  type GitResult,
  gitSays,
  hooksOf,
  plainReason,
  reasonedOutput,
  REFUSING_HOOKS,
  spawnOf,
  unmatchedPath,
} from "./git.ts";
import { committer, isOn } from "./identity.ts";
import { checkedRef, isPrinted, missingFile, nameOf, pathArguments, printedName } from "./refs_and_paths.ts";
import { closestRepository } from "./repository.ts";
import { SAFE_ENVIRONMENT, safeArguments } from "./safe_config.ts";
import { type FileStatus, type GitState, halfRenames, readState, readStatus, wayOn } from "./status.ts";

export async function init(
  env: EnvironmentView,
  { branch = "main" }: { readonly branch?: string } = {},
): Promise<GitState> {
  checkedRef(branch);
  const spawn = spawnOf(env);
  const there = closestRepository(env.workspace);
  if (there !== null) {
    const where = there === env.workspace
      ? "the workspace already has .git"
      : `the workspace is in the repository ${there}`;
    const isUsed = there === env.workspace || there === env.root;
    throw advised(
      new Error(`Cannot make a repository: ${where}`),
      isUsed ? "call git.status()" : "ask the user to start Vis there",
    );
  }
  await askToChange(env, () => ({ name: "init", what: `create a repository in ${env.workspace}` }));
  const args = [
    "git",
    ...safeArguments(),
    "init",
    "--quiet",
    "--template=",
    `--initial-branch=${branch}`,
    env.workspace,
  ];
  const { code, stderr, notes } = await spawn(args, {
    answered: true,
    env: SAFE_ENVIRONMENT,
    network: false,
    pauses: true,
    write: [env.workspace, join(env.workspace, ".git")],
  });
  for (const note of notes) env.note?.(note);
  if (code !== 0) throw new Error(`Cannot make a repository: ${plainReason(stderr)}`);
  return await readState(await Git.of(env), "git.add what the first commit has, then git.commit(message)");
}

export interface Added {
  readonly files: readonly { readonly path: string; readonly change: "added" | "modified" | "deleted" }[];
  readonly left: number;
}

const SHOWN = 500;
const MOST = 100_000;
const MOST_MOVED = 1_000;

export async function add(env: EnvironmentView, paths: string | readonly string[]): Promise<Added> {
  const list = typeof paths === "string" ? [paths] : paths;
  const git = await Git.of(env, ["add", paths]);
  const printed = list.filter(isPrinted);
  const { files, left } = await readStatus(git, {
    all: true,
    limit: MOST,
    cannot: "Cannot add",
    ...(printed.length > 0 ? {} : { paths: list }),
  });
  if (left > 0) {
    throw advised(
      new Error(
        `Cannot add the files: ${files.length + left} files have changed, and the limit of one call is ${MOST}`,
      ),
      "name fewer files or smaller folders",
    );
  }
  const changed = files.filter((file) => file.untracked || file.changed || file.conflict)
    .filter(({ path }) => printed.length === 0 || list.some((one) => one === path || path.startsWith(`${one}/`)));
  const names = changed.map(({ path }) => path);
  refuseRepositories(git, { files: changed, list, cannot: "Cannot add" });
  await refuseNewSecrets(git, names, "Cannot add");
  await refuseFiltered(git, names, "Cannot add");
  await refuseMarkers(git, changed, "Cannot add");
  // Git cannot add a path whose removal is staged, unless a file exists there again.
  const gone = new Set(files.filter((file) => file.staged === "deleted").map(({ path }) => path));
  for (const path of names) gone.delete(path);
  const input = list.filter((path) => !gone.has(path)).map((path) => `${printedName(path)}\n`).join("");
  if (input === "" && list.length > 0) return { files: [], left: 0 };
  const { code, stderr } = await git.run(["add", "--pathspec-from-file=-"], { changes: "repository", input });
  if (code !== 0) throw await addError(git, stderr);
  return { files: changed.slice(0, SHOWN).map(addedFile), left: Math.max(0, changed.length - SHOWN) };
}

/** Throws Error for another repository, because git would store its commit instead of its files. */
function refuseRepositories(
  git: Git,
  { files, list, cannot }: {
    readonly files: readonly FileStatus[];
    readonly list: readonly string[];
    readonly cannot: string;
  },
): void {
  const { workspace } = git.repository;
  const paths = files.filter(({ submodule }) => !submodule).map(({ path }) => path);
  const found = new Set(paths.filter((path) => path.endsWith("/")));
  const folders = new Set<string>();
  for (const path of [...paths, ...list]) {
    for (let at = dirname(normalize(path)); at !== "." && at !== ".." && at !== "/"; at = dirname(at)) folders.add(at);
  }
  for (const folder of folders) {
    if (lstatSync(join(workspace, folder, ".git"), { throwIfNoEntry: false }) !== undefined) found.add(`${folder}/`);
  }
  if (found.size === 0) return;
  throw advised(
    new Error(`${cannot} ${git.places([...found])}: another repository is there`),
    "name other paths, or add the folder to .gitignore",
  );
}

/** Throws Error for a file in conflict that still has a conflict marker, because git would take the file as resolved. */
async function refuseMarkers(git: Git, files: readonly FileStatus[], cannot: string): Promise<void> {
  const paths = files.filter(({ conflict }) => conflict).map(({ path }) => path);
  if (paths.length === 0) return;
  const { stdout } = await git.run(["diff", "--check", "--no-ext-diff", "HEAD", ...pathArguments(paths)]);
  const [, path, line] = /^(.*):(\d+): leftover conflict marker$/m.exec(stdout) ?? [];
  if (path === undefined) return;
  throw advised(
    new Error(`${cannot} ${git.place(nameOf(path))}: line ${line} is a conflict marker`),
    "edit the conflict, then call git.add again",
  );
}

function addedFile({ path, untracked, changed }: FileStatus): Added["files"][number] {
  return { path, change: untracked ? "added" : changed === "deleted" ? "deleted" : "modified" };
}

async function addError(git: Git, stderr: string): Promise<Error> {
  const path = unmatchedPath(stderr);
  if (path === undefined) return new Error(`Cannot add: ${plainReason(stderr)}`);
  return await missingFile(git, path, "Cannot add");
}

export interface CommitOptions {
  readonly all?: boolean;
  /** The commit has the current state of these files and of the other names of their renames, and no other staged
   * changes. */
  readonly paths?: string | readonly string[];
  readonly amend?: boolean;
  readonly allowEmpty?: boolean;
  /** With false, the hooks of the repository do not run. */
  readonly hooks?: boolean;
  /** With false, git does not sign the commit, even if commit.gpgSign is set. */
  readonly sign?: boolean;
}

type Made = Commit & Readonly<Record<"files" | "added" | "deleted", number>> & {
  readonly signed?: boolean;
  readonly skippedHooks?: readonly string[];
  /** The hooks changed these files. */
  readonly changes?: FileChanges;
};

export async function commit(env: EnvironmentView, message: string, options: CommitOptions = {}): Promise<Made> {
  const { all = false, paths, amend = false, allowEmpty = false } = options;
  if (all && paths !== undefined) {
    throw advised(new TypeError("Cannot commit: all and paths exclude each other"), "pass only one of them");
  }
  let only = pathArguments(paths);
  const git = await Git.of(env, ["commit", message, options]);
  const author = await committer(git);
  let others: readonly string[] = [], fresh: readonly string[] = [];
  if (all || paths !== undefined) {
    const { files } = await readStatus(git, {
      all: paths !== undefined,
      limit: MOST,
      cannot: "Cannot commit",
      ...(paths === undefined ? {} : { paths }),
    });
    const halves = paths === undefined ? [] : await halfRenames(git, files, "Cannot commit");
    const given = new Set([paths ?? []].flat().map((path) => normalize(path)));
    const untracked = files.filter((file) => file.untracked && given.has(file.path));
    refuseRepositories(git, { files: untracked, list: untracked.map(({ path }) => path), cannot: "Cannot commit" });
    fresh = untracked.map(({ path }) => path);
    others = [...halves.map(({ other }) => other), ...await movedFrom(git, fresh, given)];
    only = [...only, ...pathArguments(others).slice(1)];
    const known = [...files, ...halves.map(({ file }) => file)]
      .filter(({ changed }) => changed && changed !== "deleted").map(({ path }) => path);
    const kept = [...known, ...fresh];
    await refuseNewSecrets(git, kept, "Cannot commit");
    await refuseFiltered(git, kept, "Cannot commit");
    await refuseMarkers(git, files, "Cannot commit");
  }
  const flags = [
    ...(all ? ["--all"] : []),
    ...(amend ? ["--amend"] : []),
    ...(allowEmpty ? ["--allow-empty"] : []),
  ];
  const rare = ["post-index-change", "reference-transaction", ...amend ? ["post-rewrite"] : [], "pre-auto-gc"];
  const found = await hooksOf(git, [...COMMIT_HOOKS, ...rare]), isSet = await isOn(git, "commit.gpgSign");
  const hooks = options.hooks !== false && found.names.some((name) => REFUSING_HOOKS.includes(name)) ? found : null;
  const signs = isSet && options.sign !== false;
  const programs = hooks !== null || signs ? await import("./commit_programs.ts") : null;
  if (programs) {
    // Vis asks no question about a commit that git would refuse.
    const asks = (await env.programWalls?.())?.unwalled?.mode === "ask";
    const dry = ["commit", "--dry-run", "--untracked-files=no", ...flags, ...only];
    const tried = fresh.length > 0 || amend || allowEmpty || asks
      ? null
      : await git.run(dry, { changes: "repository" });
    if (tried !== null && tried.code !== 0) throw await commitError(git, { ...tried, paths });
    await programs.askForPrograms(git, { hooks, signs });
  }
  if (fresh.length > 0) {
    const input = fresh.map((path) => `${printedName(path)}\n`).join("");
    const { code, stderr } = await git.run(["add", "--pathspec-from-file=-"], { changes: "repository", input });
    if (code !== 0) throw new Error(`Cannot commit: ${plainReason(stderr)}`);
  }
  const args = ["commit", "--quiet", "--cleanup=whitespace", "--file=-", ...flags];
  const made: GitResult & { readonly changes?: FileChanges | null; readonly skipped?: readonly string[] } = programs
    ? await programs.commitWithPrograms(git, { hooks, signs }, { args, paths: only.slice(1), message, author })
    : await git.run([...args, "--no-verify", "--no-gpg-sign", ...only], {
      changes: "repository",
      input: message,
      env: author,
    });
  if (made.code !== 0) throw await commitError(git, { ...made, paths });
  if (others.length > 0) env.note?.(`the commit also has the other names of renames: ${git.places(others)}`);
  const skippedHooks = (hooks === null ? found.names : made.skipped ?? []).filter((one) => !rare.includes(one));
  if (skippedHooks.length > 0) {
    const none = hooks === null ? "git.commit ran no hook: " : "";
    env.note?.(`${none}${someOf(skippedHooks)} of the repository did not run; tell the user`);
  }
  if (isSet && !signs) {
    env.note?.("git.commit did not sign the commit, although the settings of git have commit.gpgSign; tell the user");
  }
  return {
    ...await lastCommit(git),
    ...(isSet ? { signed: signs } : {}),
    ...(skippedHooks.length > 0 ? { skippedHooks } : {}),
    ...(made.changes ? { changes: made.changes } : {}),
  };
}

async function movedFrom(
  git: Git,
  fresh: readonly string[],
  given: ReadonlySet<string>,
): Promise<readonly string[]> {
  if (fresh.length === 0) return [];
  const { files } = await readStatus(git, { limit: MOST, cannot: "Cannot commit" });
  const gone = files.filter(({ path, changed }) => changed === "deleted" && !given.has(path)).map(({ path }) => path);
  if (gone.length === 0) return [];
  const listed = await git.run(["ls-files", "--stage", "-z", ...pathArguments(gone.slice(0, MOST_MOVED))]);
  const names = new Map(
    listed.stdout.split("\0").flatMap((line) => {
      const [, hash = "", path = ""] = /^\d+ ([0-9a-f]+) 0\t(.*)$/s.exec(line) ?? [];
      return path === "" ? [] : [[hash, path] as const];
    }),
  );
  const input = fresh.map((path) => `${printedName(path)}\n`).join("");
  const hashed = await git.run(["hash-object", "--no-filters", "--stdin-paths"], { input });
  return hashed.stdout.split("\n").flatMap((hash) => names.get(hash) ?? []);
}

async function lastCommit(git: Git): Promise<Made> {
  const shape = ["--no-show-signature", "--no-notes", "--no-color", "-m", "--first-parent", "--shortstat"];
  const diff = ["--no-ext-diff", "--no-textconv", "--ignore-submodules=dirty", `--format=${COMMIT_FORMAT}%x00`];
  const { stdout } = await git.run(["log", "--max-count=1", ...shape, ...diff, "HEAD", "--"]);
  const [fields = "", stat = ""] = stdout.split("\0");
  const number = (what: RegExp): number => Number(what.exec(stat)?.[1] ?? 0);
  return {
    ...commitOf(fields),
    files: number(/(\d+) files? changed/),
    added: number(/(\d+) insertions?/),
    deleted: number(/(\d+) deletions?/),
  };
}

async function commitError(
  git: Git,
  { stdout, stderr, paths }: {
    readonly stdout: string;
    readonly stderr: string;
    readonly paths: CommitOptions["paths"] | undefined;
  },
): Promise<Error> {
  const status = await readStatus(git), { files, count } = status;
  if (count.conflicts > 0) {
    const names = files.filter(({ conflict }) => conflict).map(({ path }) => path);
    return advised(
      new Error(`Cannot commit: conflicts remain in ${git.places(names)}`),
      "edit the files and git.add them",
    );
  }
  const path = unmatchedPath(stderr);
  const isNew = (file: FileStatus): boolean =>
    file.untracked === true && `${path}/`.startsWith(file.path.replace(/\/?$/, "/"));
  if (path !== undefined && files.some(isNew)) {
    return advised(new Error(`Cannot commit: git does not track ${git.place(path)} yet`), "git.add it first");
  }
  if (path !== undefined) return await missingFile(git, path, "Cannot commit");
  const said = reasonedOutput({ stdout, stderr });
  if (status.during !== undefined && gitSays("empty", said) && files.every(({ untracked }) => untracked)) {
    return advised(gitRefusal(git, { stdout, stderr }, "Cannot commit"), await wayOn(git, status));
  }
  if (said === stderr || paths === undefined && count.staged > 0) {
    return new Error(`Cannot commit: ${plainReason(said)}`);
  }
  const names = files.map(({ path }) => path);
  if (names.length === 0) {
    return advised(new Error("Cannot commit: no file has changed"), "allowEmpty makes an empty commit");
  }
  if (paths !== undefined) {
    return new Error(`Cannot commit: no file at these paths has changed; the changed files are ${git.places(names)}`);
  }
  return advised(
    new Error("Cannot commit: no file is staged"),
    `call git.add with the changed files (${git.places(names)})`,
  );
}

/** Returns files that may have keys and that the last commit lacks. A command may have added such a file to the index,
 * so the index does not count. */
export async function newSecrets(git: Git, paths: readonly string[]): Promise<ReadonlySet<string>> {
  const found = paths.filter((path) => git.isSecret(path));
  if (found.length === 0) return new Set();
  const { code, stdout } = await git.run(["ls-tree", "-r", "-z", "--name-only", "HEAD", "--", ...found]);
  const committed = new Set(code === 0 ? stdout.split("\0") : []);
  return new Set(found.filter((path) => !committed.has(path)));
}

/** Rejects with Error for a new file that may have keys, because git would later show a stored file without approval.
 */
export async function refuseNewSecrets(
  git: Git,
  paths: readonly string[],
  cannot: string,
  advice = "leave the file out, or ask the user",
): Promise<void> {
  const [secret] = await newSecrets(git, paths);
  if (secret !== undefined) {
    throw advised(
      new Error(`${cannot}: git would store ${git.place(secret)}, which may hold keys`),
      advice,
    );
  }
}

/** The repository chooses the programs of filters, so Vis runs none, and git would store the file unfiltered. */
export async function refuseFiltered(git: Git, paths: readonly string[], cannot: string): Promise<void> {
  if (paths.length === 0) return;
  const { code, stdout, stderr } = await git.run(["check-attr", "filter", "--stdin"], {
    input: paths.map((path) => `${printedName(path)}\n`).join(""),
  });
  if (code !== 0) throw new Error(`${cannot}: git check-attr failed (${plainReason(stderr)})`);
  const filtered = stdout.split("\n").flatMap((line) => {
    const [, path = "", filter = ""] = /^(.*): filter: (.*)$/.exec(line) ?? [];
    return filter === "" || filter === "unspecified" || filter === "unset"
      ? []
      : [`${git.place(nameOf(path))} (${filter})`];
  });
  if (filtered.length === 0) return;
  throw advised(
    new Error(`${cannot} ${someOf(filtered)}: git's attributes name this filter, and Vis does not run filters`),
    "leave such files to the user",
  );
}

interface Person {
  readonly name: string;
  readonly email: string;
  readonly date: Date;
}

export interface Commit {
  readonly commit: string;
  readonly short: string;
  readonly parents: readonly string[];
  readonly author: Person;
  readonly committer?: Person;
  readonly refs?: readonly string[];
  readonly subject: string;
  readonly body?: string;
}

const MAX_BODY = 10_000;

export const COMMIT_FORMAT = ["%H", "%h", "%P", "%an", "%ae", "%at", "%cn", "%ce", "%ct", "%D", "%B"].join("%n");

export function commitOf(text: string): Commit {
  const [commit = "", short = "", parents = "", an, ae, at, cn, ce, ct, refs = "", ...message] = text.split("\n");
  const author = personOf(an, ae, at);
  const committer = personOf(cn, ce, ct);
  const same = author.name === committer.name && author.email === committer.email;
  const [subject = "", ...rest] = message.join("\n").trim().split("\n");
  const body = rest.join("\n").trim();
  return {
    commit,
    short,
    parents: parents.split(" ").filter((parent) => parent !== ""),
    author,
    ...(same ? {} : { committer }),
    ...(refs === "" ? {} : { refs: refs.split(", ") }),
    subject,
    ...(body === "" ? {} : { body: clip(body) }),
  };
}

function clip(body: string): string {
  const more = body.length - MAX_BODY;
  return more > 0 ? `${body.slice(0, MAX_BODY)}\n[... ${more} more characters]` : body;
}

function personOf(name = "", email = "", at = ""): Person {
  return { name, email, date: new Date(Number(at) * 1000) };
}
