import { advised } from "@vis/extension";
import { join } from "node:path";
import type { EnvironmentView } from "@vis/extension";
import { refuseFiltered, refuseNewSecrets } from "./commit.ts";
import { Git, gitRefusal, plainReason, unmatchedPath } from "./git.ts";
import { committer, committerVariables } from "./identity.ts";
import { type IncomingNames, refuseIncoming, refuseOwn } from "./incoming_files.ts";
import { checkedRef, commitHash, missingFile, nameOf, pathArguments } from "./refs_and_paths.ts";
import { type FileStatus, type GitState, halfRenames, readState, readStatus, refuseDuring } from "./status.ts";

export interface ResetOptions {
  readonly to?: string;
  readonly mode?: "soft" | "mixed" | "hard";
  readonly force?: boolean;
}

interface Reset extends GitState {
  readonly was: string;
  readonly undone: number;
  readonly lost: readonly string[];
  readonly saved?: string;
}

export async function reset(
  env: EnvironmentView,
  to: string | ResetOptions = {},
  more: ResetOptions = {},
): Promise<Reset> {
  const { to: ref = "HEAD", mode = "mixed", force = false } = typeof to === "string"
    ? { ...more, to }
    : { ...to, ...more };
  checkedRef(ref);
  const git = await Git.of(env, ["reset", to, more]);
  const cannot = `Cannot reset to ${ref}`;
  const target = await commitHash(git, ref, cannot);
  const was = await commitHash(git, "HEAD", cannot);
  const changed = await uncommitted(git);
  if (mode === "hard") {
    refuseOwn(git, changed.map(({ path }) => path), cannot);
    await refuseIncoming(git, { incoming: [{ commit: target }], base: target, cannot });
    if (changed.length > 0 && !force) {
      throw advised(
        new Error(`${cannot}: uncommitted changes of ${git.places(changed.map(({ path }) => path))} would be lost`),
        "git.commit or git.stash them, or pass {force: true}",
      );
    }
  }
  const discarded = mode === "hard"
    ? changed
    : mode === "mixed"
    ? changed.filter((one) => one.staged && one.changed)
    : [];
  const saved = await saveWork(git, discarded, cannot);
  const done = await git.run(["reset", "--quiet", `--${mode}`, "--no-recurse-submodules", target, "--"], {
    changes: mode === "hard" ? "workspace" : "repository",
  });
  if (done.code !== 0) throw gitRefusal(git, done, cannot);
  const { stdout } = await git.run(["rev-list", "--count", `${target}..${was}`, "--"]);
  return {
    ...await readState(git),
    was,
    undone: Number(stdout.trim()),
    lost: mode === "hard" ? discarded.map(({ path }) => path).slice(0, SHOWN) : [],
    ...(saved === undefined ? {} : { saved }),
  };
}

export interface RestoreOptions {
  readonly from?: string;
  readonly staged?: boolean;
}

interface Restored {
  readonly files: readonly string[];
  readonly left: number;
  readonly saved?: string;
}

export async function restore(
  env: EnvironmentView,
  paths: string | readonly string[],
  options: RestoreOptions = {},
): Promise<Restored> {
  const { from, staged = false } = options;
  const wanted = pathArguments(paths);
  if (from !== undefined) checkedRef(from);
  const git = await Git.of(env, ["restore", paths, options]);
  const cannot = `Cannot restore ${git.places([paths].flat())}`;
  const source = from === undefined ? undefined : await commitHash(git, from, cannot);
  const compared = [...(staged ? ["--cached"] : []), ...(source === undefined ? [] : [source])];
  const { stdout } = await git.run(["diff", "--name-only", "--no-renames", ...compared, ...wanted]);
  const files = [...new Set(stdout.split("\n").filter((line) => line !== ""))].map(nameOf);
  if (!staged) refuseOwn(git, files, cannot);
  if (source !== undefined && !staged) {
    await refuseIncoming(git, { incoming: [{ commit: source, paths: wanted.slice(1) }], base: source, cannot });
  } else if (!staged) await refuseIncoming(git, { incoming: [], base: await indexTree(git), cannot });
  const discarded = (await uncommitted(git, paths)).filter((one) =>
    staged ? one.staged && one.changed : source === undefined ? one.changed : true
  );
  const saved = await saveWork(git, discarded, cannot);
  const flags = [...(staged ? ["--staged"] : []), ...(source === undefined ? [] : [`--source=${source}`])];
  const done = await git.run(["restore", "--quiet", "--no-recurse-submodules", ...flags, ...wanted], {
    changes: staged ? "repository" : "workspace",
  });
  if (done.code !== 0) {
    const path = unmatchedPath(done.stderr);
    throw path === undefined ? gitRefusal(git, done, cannot) : await missingFile(git, path, cannot, from);
  }
  return {
    files: files.slice(0, SHOWN),
    left: Math.max(0, files.length - SHOWN),
    ...(saved === undefined ? {} : { saved }),
  };
}

/** During conflicts, git makes no tree, so the result is HEAD. */
async function indexTree(git: Git): Promise<string> {
  const { code, stdout } = await git.run(["write-tree"], { changes: "repository" });
  return code === 0 ? stdout.trim() : "HEAD";
}

type Which = boolean | number | string;

export interface StashOptions {
  readonly message?: string;
  readonly paths?: string | readonly string[];
  readonly untracked?: boolean;
  readonly list?: boolean;
  readonly pop?: Which;
  readonly apply?: Which;
  readonly drop?: Which;
}

interface Stashes extends GitState {
  readonly stashes: readonly { readonly commit: string; readonly message: string; readonly date: Date }[];
  /** The list no longer has the stash with this hash, but `apply` still accepts the hash. */
  readonly dropped?: string;
}

const EVERYTHING = ["--", ".", ":(exclude).vis"];

const HOW = ["list", "pop", "apply", "drop"] as const;

export async function stash(env: EnvironmentView, options: StashOptions = {}): Promise<Stashes> {
  const asked = HOW.filter((one) => options[one] !== undefined && options[one] !== false);
  if (asked.length > 1) {
    throw advised(
      new TypeError("Cannot use stashes: list, pop, apply and drop exclude each other"),
      "pass only one of them",
    );
  }
  const [how] = asked;
  if (how && (options.message !== undefined || options.paths !== undefined || options.untracked)) {
    throw advised(new TypeError("Cannot use stashes: message, paths and untracked belong to a new stash"), "omit them");
  }
  const git = await Git.of(env, ["stash", options]);
  if (how === undefined) await pushStash(git, options);
  const taken = how === undefined || how === "list" ? undefined : await takeStash(git, how, options[how] ?? true);
  const state = await readState(git);
  const stashes = await stashesOf(git);
  const isListed = stashes.some(({ commit }) => commit === taken);
  const isStopped = taken !== undefined && state.conflicts !== undefined && state.during === undefined;
  const removal = isListed ? `; git kept the stash, git.stash({drop: "${taken}"}) removes it` : "";
  const isDropped = taken !== undefined && how !== "apply" && !isListed;
  return {
    ...state,
    ...(isStopped && how !== "drop" ? { next: `edit the files, git.add them${removal}` } : {}),
    stashes,
    ...(isDropped ? { dropped: taken } : {}),
  };
}

async function pushStash(
  git: Git,
  { message, paths, untracked = false }: StashOptions,
): Promise<void> {
  const cannot = "Cannot stash";
  const status = await readStatus(git, {
    all: true,
    limit: MOST_FILES,
    cannot,
    ...(paths === undefined ? {} : { paths }),
  });
  await refuseDuring(git, status, cannot);
  const files = status.files.filter((file) => untracked || !file.untracked);
  if (files.length === 0) {
    const error = new Error(`${cannot}: no ${untracked ? "" : "tracked "}file has changed`);
    throw status.count.untracked > 0 ? advised(error, "pass {untracked: true} to include new files") : error;
  }
  const names = files.map(({ path }) => path);
  if (paths !== undefined) {
    refuseOwn(git, names, cannot);
    const [half] = await halfRenames(git, files, cannot);
    if (half) {
      const { from, file: { path } } = half;
      throw advised(
        new Error(
          `${cannot}: ${git.place(from)} was renamed to ${git.place(path)}, and git stashes no half of a rename`,
        ),
        "git.commit both, or omit paths",
      );
    }
  }
  await refuseNewSecrets(git, names, cannot);
  await refuseFiltered(git, names, cannot);
  await refuseIncoming(git, { incoming: [{ commit: "HEAD", carries: true }], cannot });
  const args = [
    "--no-literal-pathspecs", // The pattern for the whole workspace needs this option.
    "stash",
    "push",
    "--quiet",
    ...(untracked ? ["--include-untracked"] : []),
    ...(message === undefined ? [] : [`--message=${message}`]),
    ...(paths === undefined ? EVERYTHING : pathArguments(paths).map((one, at) => at === 0 ? one : `:(literal)${one}`)),
  ];
  const done = await git.run(args, { changes: "workspace", env: await committer(git).catch(() => ({})) });
  if (done.code !== 0) throw gitRefusal(git, done, cannot);
}

async function takeStash(
  git: Git,
  how: "pop" | "apply" | "drop",
  which: Which,
): Promise<string> {
  const cannot = `Cannot ${how} a stash`;
  const stashes = await stashesOf(git);
  const place = which === true ? 0 : which;
  const listed = typeof place === "number" ? place : Number(/^stash@\{(\d+)\}$/.exec(String(place))?.[1] ?? NaN);
  const at = Number.isNaN(listed)
    ? stashes.findIndex(({ commit }) => typeof place === "string" && place.length >= 7 && commit.startsWith(place))
    : listed;
  const hash = stashes[at]?.commit ??
    (how === "apply" && Number.isNaN(listed) ? await commitHash(git, checkedRef(String(place)), cannot) : null);
  if (hash === null) {
    if (stashes.length === 0) throw new Error(`${cannot}: the repository has no stash`);
    throw advised(
      new Error(`${cannot}: the repository has no stash ${place}`),
      "pass a number of git.stash({list: true}), or at least 7 characters of a hash",
    );
  }
  if (how !== "drop") await refuseStash(git, hash, cannot);
  const name = stashes[at] === undefined ? hash : `stash@{${at}}`;
  const done = await git.run(["stash", how, "--quiet", name], {
    changes: how === "drop" ? "repository" : "workspace",
    env: await committer(git).catch(() => ({})),
  });
  if (done.code === 0) return hash;
  const { count } = await readStatus(git);
  if (count.conflicts === 0) throw gitRefusal(git, done, cannot);
  return hash;
}

/** The parents of a stash are its base, the index, and untracked files if it has some. */
async function refuseStash(git: Git, hash: string, cannot: string): Promise<void> {
  const { stdout } = await git.run(["rev-list", "--parents", "--max-count=1", hash, "--"]);
  const [, begin, index, untracked] = stdout.trim().split(" ");
  if (begin === undefined || index === undefined) throw new Error(`${cannot}: ${hash} is not a stash`);
  const incoming: IncomingNames[] = [{ from: begin, to: hash }];
  if (untracked !== undefined) incoming.push({ each: [untracked] });
  // Some versions of git follow renames in a stash, whatever the settings are.
  if ((await refuseIncoming(git, { incoming, cannot })).length === 0) return;
  throw advised(
    new Error(`${cannot}: it could change files that git or Vis runs, or reads as settings`),
    "leave it to the user",
  );
}

async function stashesOf(git: Git): Promise<Stashes["stashes"]> {
  const { stdout } = await git.run([
    "stash",
    "list",
    `--max-count=${MOST_STASHES}`,
    "--no-show-signature",
    "--format=%H%x00%ct%x00%gs",
  ]);
  return stdout.split("\n").filter((line) => line !== "").map((line) => {
    const [commit = "", date = "", message = ""] = line.split("\0");
    return { commit, message, date: new Date(Number(date) * 1000) };
  });
}

const SHOWN = 500;
const MOST_STASHES = 200, MOST_FILES = 100_000;

const NOBODY = { name: "Vis", email: "vis@localhost" };

export async function uncommitted(git: Git, paths?: string | readonly string[]): Promise<readonly FileStatus[]> {
  const { files } = await readStatus(git, { limit: MOST_FILES, ...(paths === undefined ? {} : { paths }) });
  return files.filter(({ untracked }) => !untracked);
}

/** Returns the hash of a commit in the form of a stash, which no branch has, or undefined without changes. */
export async function saveWork(
  git: Git,
  files: readonly FileStatus[],
  cannot: string,
): Promise<string | undefined> {
  if (files.length === 0) return undefined;
  await refuseNewSecrets(git, files.map(({ path }) => path), cannot, "ask the user to unstage the file");
  const env = await committer(git).catch(() => committerVariables(NOBODY));
  const make = async (args: readonly string[], more: Readonly<Record<string, string>> = {}): Promise<string> => {
    const { code, stdout, stderr } = await git.run(args, { changes: "repository", env: { ...env, ...more } });
    if (code !== 0) throw new Error(`${cannot}: git did not keep the uncommitted changes (${plainReason(stderr)})`);
    return stdout.trim();
  };
  const message = "Uncommitted changes, kept before they were discarded";
  if (!files.some(({ conflict }) => conflict)) return await make(["stash", "create", message]) || undefined;
  // If the index has conflicts, git makes no stash, so Vis makes the commits.
  const index = join(git.repository.gitDir, `index.kept-${crypto.randomUUID()}`);
  const kept = { GIT_INDEX_FILE: index };
  try {
    await make(["read-tree", "HEAD"], kept);
    const base = await make(["commit-tree", "-p", "HEAD", "-m", message, "HEAD^{tree}"]);
    await make(["add", "--update", "--", "."], kept);
    const tree = await make(["write-tree"], kept);
    return await make(["commit-tree", "-p", "HEAD", "-p", base, "-m", message, tree]);
  } finally {
    await Deno.remove(index).catch(() => {});
  }
}
