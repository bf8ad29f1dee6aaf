import type { EnvironmentView } from "@vis/extension";
import { type Commit, COMMIT_FORMAT, commitOf } from "../output/commit_fields.ts";
import { refuseFiltered } from "./filtered.ts";
import { Git } from "../program/git.ts";
import { plainReason, unmatchedPath } from "../program/git_error.ts";
import { missingFile } from "./missing_file.ts";
import { pathArguments } from "../program/paths.ts";
import { refuseNewSecrets } from "./new_secrets.ts";
import { committer, named } from "./state.ts";
import { type FileStatus, readStatus } from "./status.ts";

export interface CommitOptions {
  /** Includes every changed file that git tracks. */
  readonly all?: boolean;
  /** Commits the current state of these files, whatever else is staged. */
  readonly paths?: string | readonly string[];
  /** Replaces the last commit. */
  readonly amend?: boolean;
  readonly allowEmpty?: boolean;
}

type Made = Commit & Readonly<Record<"files" | "added" | "deleted", number>>;

/** `git.commit` */
export async function commit(env: EnvironmentView, message: string, options: CommitOptions = {}): Promise<Made> {
  const { all = false, paths, amend = false, allowEmpty = false } = options;
  if (all && paths !== undefined) throw new TypeError("Cannot commit all and some paths: leave one of them out");
  const only = pathArguments(paths);
  const git = await Git.of(env, ["commit", message, options]);
  const author = await committer(git);
  if (all || paths !== undefined) {
    const { files } = await readStatus(git, {
      limit: 100_000,
      cannot: "Cannot commit",
      ...(paths === undefined ? {} : { paths }),
    });
    const kept = files.filter(({ changed }) => changed && changed !== "deleted").map(({ path }) => path);
    await refuseNewSecrets(git, { paths: kept, secrets: env.secrets, cannot: "Cannot commit" });
    await refuseFiltered(git, kept);
  }
  const flags = [
    ...(all ? ["--all"] : []),
    ...(amend ? ["--amend"] : []),
    ...(allowEmpty ? ["--allow-empty"] : []),
  ];
  const { code, stdout, stderr } = await git.run(
    ["commit", "--quiet", "--no-verify", "--no-gpg-sign", "--cleanup=whitespace", "--file=-", ...flags, ...only],
    {
      changes: "repository",
      input: message,
      env: author,
    },
  );
  if (code !== 0) throw await commitError(git, { stdout, stderr });
  return await lastCommit(git);
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

/** Git writes to its standard output only that nothing is staged. */
async function commitError(
  git: Git,
  { stdout, stderr }: { readonly stdout: string; readonly stderr: string },
): Promise<Error> {
  const { files, count } = await readStatus(git);
  if (count.conflicts > 0) {
    const names = files.filter(({ conflict }) => conflict).map(({ path }) => path);
    return new Error(`Cannot commit: there are conflicts in ${named(names)}; edit and git.add them`);
  }
  const path = unmatchedPath(stderr);
  const isNew = (file: FileStatus): boolean =>
    file.untracked === true && `${path}/`.startsWith(file.path.replace(/\/?$/, "/"));
  if (path !== undefined && files.some(isNew)) {
    return new Error(`Cannot commit: git does not track ${path} yet; git.add it first`);
  }
  if (path !== undefined) return await missingFile(git, { cannot: "Cannot commit", path });
  if (stderr.trim() !== "" || count.staged > 0) {
    return new Error(`Cannot commit: ${plainReason(stderr.trim() || stdout)}`);
  }
  const names = files.map(({ path }) => path);
  if (names.length === 0) return new Error("Cannot commit: nothing has changed");
  return new Error(`Cannot commit: nothing is staged; git.add what changed: ${named(names)}`);
}
