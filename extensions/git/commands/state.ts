import { Git, type GitResult } from "../program/git.ts";
import { gitSays, overwrittenPaths, plainReason } from "../program/git_error.ts";
import { type Identity, identityOf } from "../program/identity.ts";
import { refError } from "../program/refs.ts";
import { readStatus, type Status } from "./status.ts";

/** Where the repository is after a change. */
export interface GitState {
  /** Null if HEAD is detached. */
  readonly branch: string | null;
  readonly commit: string | null;
  readonly subject: string;
  /** Number of files with uncommitted changes, without untracked ones. */
  readonly uncommitted: number;
  /** An unfinished merge, rebase, cherry-pick or revert. */
  readonly during?: string;
  readonly conflicts?: readonly { readonly path: string; readonly conflict: string }[];
  /** How to go on. */
  readonly next?: string;
}

const SHOWN = 5, MOST = 100_000;
/** What ends each unfinished operation: the function, and whether it can skip a commit. */
const ENDS: Readonly<Record<string, readonly [name: string, skips: boolean]>> = {
  merge: ["merge", false],
  rebase: ["rebase", true],
  "cherry-pick": ["cherryPick", true],
  revert: ["revert", true],
};

export async function readState(git: Git, next?: string): Promise<GitState> {
  const { branch, commit, during, files } = await readStatus(git, { limit: MOST });
  const conflicts = files.flatMap(({ path, conflict }) => conflict ? [{ path, conflict }] : []);
  const subject = commit === null ? "" : (await git.run(["log", "-1", "--no-show-signature", "--format=%s"])).stdout;
  const then = during === undefined ? next : goOn(during, { conflicts: conflicts.length > 0 });
  return {
    branch,
    commit,
    subject: subject.trim(),
    uncommitted: files.filter(({ untracked }) => !untracked).length,
    ...(during === undefined ? {} : { during }),
    ...(conflicts.length === 0 ? {} : { conflicts }),
    ...(then === undefined ? {} : { next: then }),
  };
}

/** For people who watch. */
export function stateOutcome({ branch, commit, subject, during, conflicts }: GitState): { text: string; ok: boolean } {
  if (conflicts) return { text: `conflicts: ${named(conflicts.map(({ path }) => path))}`, ok: false };
  const at = `${branch ?? "detached"} at ${commit === null ? "no commit" : `${commit.slice(0, 7)} ${subject}`}`;
  return { text: during === undefined ? at : `${at}, during a ${during}`, ok: true };
}

function goOn(during: string, { conflicts }: { readonly conflicts: boolean }): string {
  const [name, skips] = ENDS[during] ?? [];
  if (name === undefined) return `The ${during} is the user's`;
  const continued = during === "merge" ? "git.commit(message)" : `git.${name}({continue: true})`;
  const first = conflicts ? `edit the files, git.add them, then ${continued}` : continued;
  return `${first}; or git.${name}({abort: true})${skips ? ", {skip: true}" : ""}`;
}

/** Throws Error while a merge, rebase, cherry-pick or revert is unfinished. */
export function refuseDuring({ during, files }: Pick<Status, "during" | "files">, cannot: string): void {
  if (during === undefined) return;
  const conflicts = files.some(({ conflict }) => conflict !== undefined);
  throw new Error(`${cannot}: a ${during} is unfinished: ${goOn(during, { conflicts })}`);
}

/** Variables that name who commits. Throws Error if nobody is set. */
export async function committer(git: Git): Promise<Readonly<Record<string, string>>> {
  const { config, settings, repository: { gitDir } } = git;
  return committerVariables(await identityOf({ config, settings, gitDir }));
}

export function committerVariables({ name, email }: Identity): Readonly<Record<string, string>> {
  return {
    GIT_AUTHOR_NAME: name,
    GIT_AUTHOR_EMAIL: email,
    GIT_COMMITTER_NAME: name,
    GIT_COMMITTER_EMAIL: email,
  };
}

/** The hash of a commit. Throws Error that names the closest refs. */
export async function commitHash(
  git: Git,
  { ref, cannot }: { readonly ref: string; readonly cannot: string },
): Promise<string> {
  const { code, stdout } = await git.run(["rev-parse", "--verify", "--quiet", "--end-of-options", `${ref}^{commit}`]);
  const hash = stdout.trim().split("\n").at(-1) ?? "";
  if (code !== 0 || !/^[0-9a-f]{40,64}$/.test(hash)) throw await refError(git, { cannot, stderr: null, refs: [ref] });
  return hash;
}

/** The error for a call that git refused, because of uncommitted work if it says so. */
export function gitRefusal({ stdout, stderr }: Pick<GitResult, "stdout" | "stderr">, cannot: string): Error {
  const said = stderr.trim() || stdout;
  const paths = overwrittenPaths(said);
  if (paths.length > 0) {
    const untracked = gitSays("untracked", said);
    return new Error(
      untracked
        ? `${cannot}: it would overwrite files that git does not track: ${named(paths)}; move or git.add them`
        : `${cannot}: it would overwrite uncommitted changes of ${named(paths)}; git.commit or git.stash them first`,
    );
  }
  if (gitSays("uncommitted", said)) {
    return new Error(`${cannot}: there are uncommitted changes; git.commit or git.stash them first`);
  }
  return new Error(`${cannot}: ${plainReason(said)}`);
}

export function named(names: readonly string[]): string {
  const more = names.length > SHOWN ? ` and ${names.length - SHOWN} more` : "";
  return `${names.slice(0, SHOWN).join(", ")}${more}`;
}
