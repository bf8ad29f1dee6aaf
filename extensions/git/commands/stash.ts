import type { EnvironmentView } from "@vis/extension";
import { Git } from "../program/git.ts";
import { pathArguments } from "../program/paths.ts";
import { checkedRef } from "../program/refs.ts";
import { refuseFiltered } from "./filtered.ts";
import { refuseNewSecrets } from "./new_secrets.ts";
import { commitHash, committer, gitRefusal, type GitState, readState, refuseDuring } from "./state.ts";
import { readStatus } from "./status.ts";
import { type IncomingNames, refuseIncoming, refuseOwn } from "./uncommitted.ts";

/** True for the latest, the number in the list, or a hash. */
type Which = boolean | number | string;

export interface StashOptions {
  readonly message?: string;
  readonly paths?: string | readonly string[];
  /** Takes untracked files too. */
  readonly untracked?: boolean;
  readonly list?: boolean;
  /** Brings changes back, and takes the stash from the list unless there are conflicts. */
  readonly pop?: Which;
  /** Brings changes back and keeps the stash. */
  readonly apply?: Which;
  readonly drop?: Which;
}

export interface Stashes extends GitState {
  readonly stashes: readonly { readonly hash: string; readonly message: string; readonly date: Date }[];
  /** Hash of a stash that is no longer in the list: `{apply: hash}` still brings its changes back. */
  readonly dropped?: string;
}

/** The folder of Vis stays: git cannot remove it, and would call the stash a failure. */
const EVERYTHING = ["--", ".", ":(exclude).vis"];
const HOW = ["list", "pop", "apply", "drop"] as const;
const MOST = 200, MOST_FILES = 100_000;

/** `git.stash` */
export async function stash(env: EnvironmentView, options: StashOptions = {}): Promise<Stashes> {
  const asked = HOW.filter((one) => options[one] !== undefined && options[one] !== false);
  if (asked.length > 1) throw new TypeError("Cannot use stashes: list, pop, apply and drop exclude each other");
  const [how] = asked;
  if (how && (options.message !== undefined || options.paths !== undefined || options.untracked)) {
    throw new TypeError("Cannot use stashes: message, paths and untracked are for a new stash");
  }
  const git = await Git.of(env, ["stash", options]);
  if (how === undefined) await push(env, git, options);
  const taken = how === undefined || how === "list" ? undefined : await take(git, { how, which: options[how] ?? true });
  const state = await readState(git);
  const stashes = await stashesOf(git);
  const kept = taken !== undefined && how !== "drop" && state.conflicts !== undefined && state.during === undefined;
  const isDropped = taken !== undefined && how !== "apply" && !stashes.some(({ hash }) => hash === taken);
  return {
    ...state,
    ...(kept ? { next: "edit the files, git.add them; the stash was kept, git.stash({drop: true}) removes it" } : {}),
    stashes,
    ...(isDropped ? { dropped: taken } : {}),
  };
}

async function push(
  env: EnvironmentView,
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
  refuseDuring(status, cannot);
  const files = status.files.filter((file) => untracked || !file.untracked);
  if (files.length === 0) {
    const hint = status.count.untracked > 0 ? "; {untracked: true} takes new files too" : "";
    throw new Error(`${cannot}: nothing has changed${hint}`);
  }
  const names = files.map(({ path }) => path);
  if (paths !== undefined) refuseOwn(names, cannot);
  await refuseNewSecrets(git, { paths: names, secrets: env.secrets, cannot });
  await refuseFiltered(git, names, cannot);
  await refuseIncoming(git, { incoming: [{ commit: "HEAD", carries: true }], cannot });
  const args = [
    "--no-literal-pathspecs", // it names the whole workspace by a pattern
    "stash",
    "push",
    "--quiet",
    ...(untracked ? ["--include-untracked"] : []),
    ...(message === undefined ? [] : [`--message=${message}`]),
    ...(paths === undefined ? EVERYTHING : pathArguments(paths).map((one, at) => at === 0 ? one : `:(literal)${one}`)),
  ];
  const done = await git.run(args, { changes: "workspace", env: await committer(git).catch(() => ({})) });
  if (done.code !== 0) throw gitRefusal(done, cannot);
}

/** Returns the hash of the stash. */
async function take(
  git: Git,
  { how, which }: { readonly how: "pop" | "apply" | "drop"; readonly which: Which },
): Promise<string> {
  const cannot = `Cannot ${how} a stash`;
  const stashes = await stashesOf(git);
  const place = which === true ? 0 : which;
  const listed = typeof place === "number" ? place : Number(/^stash@\{(\d+)\}$/.exec(String(place))?.[1] ?? NaN);
  const at = Number.isNaN(listed)
    ? stashes.findIndex(({ hash }) => typeof place === "string" && place.length >= 7 && hash.startsWith(place))
    : listed;
  const hash = stashes[at]?.hash ??
    (how === "apply" && Number.isNaN(listed)
      ? await commitHash(git, { ref: checkedRef(String(place)), cannot })
      : null);
  if (hash === null) {
    throw new Error(
      stashes.length === 0
        ? `${cannot}: there is none`
        : `${cannot}: there is no stash ${String(place)}; git.stash({list: true}) lists all`,
    );
  }
  if (how !== "drop") await refuseStash(git, { hash, cannot });
  const name = stashes[at] === undefined ? hash : `stash@{${at}}`;
  const done = await git.run(["stash", how, "--quiet", name], {
    changes: how === "drop" ? "repository" : "workspace",
    env: await committer(git).catch(() => ({})),
  });
  if (done.code === 0) return hash;
  const { count } = await readStatus(git);
  if (count.conflicts === 0) throw gitRefusal(done, cannot);
  return hash;
}

/** A stash has two or three parents: where it began, the index, and untracked files. */
async function refuseStash(
  git: Git,
  { hash, cannot }: { readonly hash: string; readonly cannot: string },
): Promise<void> {
  const { stdout } = await git.run(["rev-list", "--parents", "--max-count=1", hash, "--"]);
  const [, begin, index, untracked] = stdout.trim().split(" ");
  if (begin === undefined || index === undefined) throw new Error(`${cannot}: ${hash} is not a stash`);
  const incoming: IncomingNames[] = [{ from: begin, to: hash }];
  if (untracked !== undefined) incoming.push({ each: [untracked] });
  await refuseIncoming(git, { incoming, cannot });
}

async function stashesOf(git: Git): Promise<Stashes["stashes"]> {
  const { stdout } = await git.run([
    "stash",
    "list",
    `--max-count=${MOST}`,
    "--no-show-signature",
    "--format=%H%x00%ct%x00%gs",
  ]);
  return stdout.split("\n").filter((line) => line !== "").map((line) => {
    const [hash = "", date = "", message = ""] = line.split("\0");
    return { hash, message, date: new Date(Number(date) * 1000) };
  });
}
