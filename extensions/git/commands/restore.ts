import type { EnvironmentView } from "@vis/extension";
import { Git } from "../program/git.ts";
import { unmatchedPath } from "../program/git_error.ts";
import { nameOf } from "../output/quoted_name.ts";
import { pathArguments } from "../program/paths.ts";
import { checkedRef } from "../program/refs.ts";
import { missingFile } from "./missing_file.ts";
import { commitHash, gitRefusal } from "./state.ts";
import { refuseIncoming, refuseOwn, saveWork, uncommitted } from "./uncommitted.ts";

export interface RestoreOptions {
  /** The commit whose files these become; the index by default, or HEAD with `staged`. */
  readonly from?: string;
  /** Changes what the next commit would take, not the workspace. */
  readonly staged?: boolean;
}

export interface Restored {
  readonly files: readonly string[];
  /** Number of files that are not listed. */
  readonly left: number;
  /** A commit that has the changes that were discarded. */
  readonly saved?: string;
}

const SHOWN = 500;

/** `git.restore` */
export async function restore(
  env: EnvironmentView,
  paths: string | readonly string[],
  options: RestoreOptions = {},
): Promise<Restored> {
  const { from, staged = false } = options;
  const wanted = pathArguments(paths);
  if (from !== undefined) checkedRef(from);
  const git = await Git.of(env, ["restore", paths, options]);
  const cannot = `Cannot restore ${typeof paths === "string" ? paths : paths.join(", ")}`;
  const source = from === undefined ? undefined : await commitHash(git, { ref: from, cannot });
  const compared = [...(staged ? ["--cached"] : []), ...(source === undefined ? [] : [source])];
  const { stdout } = await git.run(["diff", "--name-only", "--no-renames", ...compared, ...wanted]);
  const files = [...new Set(stdout.split("\n").filter((line) => line !== ""))].map(nameOf);
  if (!staged) refuseOwn(files, cannot);
  if (source !== undefined && !staged) {
    await refuseIncoming(git, { incoming: [{ commit: source, paths: wanted.slice(1) }], base: source, cannot });
  } else if (!staged) await refuseIncoming(git, { incoming: [], base: await indexTree(git), cannot });
  const discarded = (await uncommitted(git, paths)).filter((one) =>
    staged ? one.staged && one.changed : source === undefined ? one.changed : true
  );
  const saved = await saveWork(git, { files: discarded, secrets: env.secrets, cannot });
  const flags = [...(staged ? ["--staged"] : []), ...(source === undefined ? [] : [`--source=${source}`])];
  const done = await git.run(["restore", "--quiet", "--no-recurse-submodules", ...flags, ...wanted], {
    changes: staged ? "repository" : "workspace",
  });
  if (done.code !== 0) {
    const path = unmatchedPath(done.stderr);
    throw path === undefined
      ? gitRefusal(done, cannot)
      : await missingFile(git, { cannot, path, ...(from === undefined ? {} : { commit: from }) });
  }
  return {
    files: files.slice(0, SHOWN),
    left: Math.max(0, files.length - SHOWN),
    ...(saved === undefined ? {} : { saved }),
  };
}

/** The files of the index as a tree; HEAD while there are conflicts, of which git makes no tree. */
async function indexTree(git: Git): Promise<string> {
  const { code, stdout } = await git.run(["write-tree"], { changes: "repository" });
  return code === 0 ? stdout.trim() : "HEAD";
}
