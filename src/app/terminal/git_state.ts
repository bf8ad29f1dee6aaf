import { relative } from "node:path";
import { reasonOf, UsageError } from "../../domain/errors.ts";
import { repositoriesBelow } from "../../domain/kit/git_repository.ts";
import { reviewRequest, type ReviewTarget, reviewTarget } from "../../domain/query/stored_query.ts";
import type { programsOf } from "../settings/settings.ts";

interface Repository extends Pick<ReturnType<typeof programsOf>, "spawn"> {
  readonly root: string | null;
}

const GIT_MS = 5_000;

export async function gitState({ root, spawn }: Repository): Promise<string> {
  if (root === null) return "";
  const { code, stdout } = await git(
    { root, spawn },
    ["status", "--porcelain", "--branch", "--ignore-submodules", "--no-ahead-behind"],
  );
  const [head = "", ...changes] = stdout.trimEnd().split("\n");
  const [, branch] = /^## (?:No commits yet on )?(.+?)(?:\.\.\..*)?$/.exec(head) ?? [];
  if (code !== 0 || branch === undefined) return "";
  return `${branch.startsWith("HEAD (") ? "no branch" : branch}${changes.length > 0 ? "*" : ""}`;
}

/** `git rev-parse --verify --quiet` ends with this code if the name means no commit. */
const MISSING = 1;

const NO_REPOSITORY = 128;

/** A branch whose name looks like the id of a commit gets the prefix `heads/`, so that git finds the branch. If git
 * does not run, the name stays unchecked. */
export async function targetOf(
  name: string,
  { root, workspace, spawn, programWalls }: Repository & Pick<ReturnType<typeof programsOf>, "programWalls"> & {
    readonly workspace: string;
  },
): Promise<string> {
  const cannot = `Cannot review ${name || "the uncommitted changes"}`;
  await programWalls({ workspace, root: root ?? workspace, write: [] }).catch((error: unknown) => {
    throw new UsageError(`${cannot}, because Vis ${reasonOf(error)}`);
  });
  const ends = (...asked: readonly string[]): Promise<number | null> =>
    git({ root: root ?? workspace, spawn }, asked).then((done) => done.code, () => null);
  if (root === null) {
    if (await ends("rev-parse", "--git-dir") !== NO_REPOSITORY) return name;
    throw await noRepository(workspace, cannot);
  }
  for (const one of name.split(/\.{2,3}/).filter((part) => part !== "")) {
    const asked = ["rev-parse", "--verify", "--quiet", "--end-of-options", `${one}^{commit}`];
    if (await ends(...asked) !== MISSING) continue;
    throw new UsageError(
      `Cannot review ${one}: the repository has no such branch, tag or commit; name another, or put ` +
        'instructions in quotes, as in vis review "security only", or on the line below /review',
    );
  }
  const looksLikeCommit = reviewTarget(reviewRequest(name))?.kind === "commit";
  return looksLikeCommit && await ends("show-ref", "--verify", "--quiet", `refs/heads/${name}`) === 0
    ? `heads/${name}`
    : name;
}

export async function noRepository(workspace: string, cannot: string): Promise<UsageError> {
  const below = await repositoriesBelow(workspace);
  const advice = below.length === 0 ? "choose one in a repository" : `start Vis in ${below.join(" or ")} (--cwd)`;
  return new UsageError(`${cannot}: the workspace is in no git repository; ${advice}`);
}

const CHANGES_MS = 20_000, CHANGES_BYTES = 500_000;
const CUT =
  "(Too long: only the beginning and the end of the diff are here; read the diffs of the other files one by one)\n";
const HIDDEN = "(Vis hides this file, because it may hold keys)\n";

/** The diffs of generated files come last, because the first model call of a review shows only the beginning of a long text. */
const GENERATED = ["*.lock", "*-lock.json", "*-lock.yaml", "npm-shrinkwrap.json", "go.sum", "*.min.*", "dist/**"];
const generated = (magic: string): string => GENERATED.map((glob) => `':(${magic})**/${glob}'`).join(" ");

/** A private copy of the index lets the diff show untracked files. `cp -p` keeps the time of the index, by which git finds
 * files that changed in the same second.
 *
 * `$0` is the repository, and `$4` the path of the workspace in the repository. `sed` prefixes paths that git's options
 * for prefixes leave unchanged: the list of files and the names of a rename. */
const CHANGES = `
g() { git -c core.fsmonitor=false -c core.hooksPath=/dev/null -c core.quotePath=false --no-optional-locks "$@"; }
commit() { g rev-parse --verify --quiet --end-of-options "$1^{commit}"; }
empty() { g hash-object -t tree /dev/null; }
cd "$0" && own=$(mktemp -d) || exit
kind=$1 first=$2 last=$3 at=$4
part() (
  form=$1 edit=$2 up= below= && shift 2 && cd "./$at" || exit
  while :; do
    g diff "$form" --no-ext-diff --no-textconv --no-color --find-renames --ignore-submodules=dirty --submodule=short \\
      --relative --src-prefix="a/$up" --dst-prefix="b/$up" $from $to -- "$@" \\
      \${below:+":(exclude,literal)$below"} >"$own/part" || exit
    LC_ALL=C sed -E "$edit\\1$up#" "$own/part" || exit
    [ "$at" ] || exit 0
    at=\${at%/} && below=\${at##*/} up=../$up at=\${at%"\${at##*/}"} && cd .. || exit
  done
)
changes() {
  names='s#^((rename|copy) (from|to) )#'
  part --stat=120,100,200 '/ [|] /s#^( )#' . && part --patch "$names" . ${generated("exclude,glob")} &&
    part --patch "$names" ${generated("glob")}
}
case $kind in
commit) to=$(commit "$first") && g log -1 --no-patch --format='%H%n%n%B' "$to" -- || exit
  from=$(commit "$to^") || from=$(empty) || exit
  changes; exit ;;
range) from=$(commit "$first") && to=$(commit "$last") || exit
  changes; exit ;;
since) from=$(commit "$first") && to=$(commit "$last") && from=$(g merge-base "$from" "$to") || exit
  changes; exit ;;
branch) from=$(commit "$first") && from=$(g merge-base "$from" HEAD) || exit ;;
*) from=$(commit HEAD) || from=$(empty) || exit ;;
esac
index=$(g rev-parse --git-path index) && objects=$(g rev-parse --git-path objects) && mkdir "$own/objects" || exit
[ ! -e "$index" ] || cp -p "$index" "$own/index" || exit
export GIT_INDEX_FILE="$own/index" GIT_OBJECT_DIRECTORY="$own/objects" GIT_ALTERNATE_OBJECT_DIRECTORIES="$PWD/$objects"
case $objects in /*) GIT_ALTERNATE_OBJECT_DIRECTORIES=$objects ;; esac
g add --intent-to-add --ignore-errors . 2>/dev/null
to= && changes`;

/** Resolves with null outside a repository, if git fails, and after the time limit. Rejects without a complete wall. */
export async function readChanges(
  { kind, name }: ReviewTarget,
  { root, workspace, spawn, signal }: Repository & {
    readonly workspace: string;
    readonly signal?: AbortSignal | undefined;
  },
): Promise<string | null> {
  if (root === null) return null;
  const [first = "", last = ""] = kind === "range" ? name.split(/\.{2,3}/).map((one) => one || "HEAD") : [name];
  const how = kind === "range" && name.includes("...") ? "since" : kind;
  const folder = relative(root, workspace).replace(/.$/, "$&/");
  const { code, stdout, timedOut, truncated } = await spawn(
    workspace,
    ["sh", "-c", CHANGES, root, how, first, last, folder],
    {
      ...{ cwd: null, answered: true, whole: true, network: false, write: [], root, ...(signal ? { signal } : {}) },
      ...{ timeoutMs: CHANGES_MS, maxBytes: CHANGES_BYTES, hideSecrets: { except: [], instead: HIDDEN } },
    },
    null,
  );
  if (code !== 0 || timedOut) return null;
  const text = stdout.replaceAll("\0", "\ufffd");
  return truncated ? `${CUT}${text}` : text;
}

/** The repository may be hostile, so git runs behind a complete wall. */
async function git(
  { root, spawn }: Repository & { readonly root: string },
  args: readonly string[],
): ReturnType<Repository["spawn"]> {
  const safe = ["-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null", "--no-optional-locks"];
  return await spawn(root, ["sh", "-c", 'exec git "$@"', "sh", "-C", root, ...safe, ...args], {
    ...{ cwd: null, answered: true, whole: true, network: false, write: [], root },
    timeoutMs: GIT_MS,
  }, null);
}
