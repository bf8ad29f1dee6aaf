import type { EnvironmentView } from "@vis/extension";
import { Git } from "../program/git.ts";
import { checkedRef } from "../program/refs.ts";
import { commitHash, gitRefusal, type GitState, named, readState } from "./state.ts";
import { refuseIncoming, refuseOwn, saveWork, uncommitted } from "./uncommitted.ts";

export interface ResetOptions {
  /** HEAD by default. */
  readonly to?: string;
  /** What takes the state of that commit: the branch (soft), also the index (mixed, the default), also the files (hard). */
  readonly mode?: "soft" | "mixed" | "hard";
  /** Discards uncommitted changes too, which `hard` refuses otherwise. */
  readonly force?: boolean;
}

export interface Reset extends GitState {
  /** Where the branch was: `git.reset({to: was})` goes back. */
  readonly was: string;
  /** Number of commits that are no longer on the branch. */
  readonly undone: number;
  /** Files whose uncommitted changes were discarded. */
  readonly lost: readonly string[];
  /** A commit that has them. */
  readonly saved?: string;
}

const SHOWN = 500;

/** `git.reset` */
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
  const target = await commitHash(git, { ref, cannot });
  const was = await commitHash(git, { ref: "HEAD", cannot });
  const changed = await uncommitted(git);
  if (mode === "hard") {
    refuseOwn(changed.map(({ path }) => path), cannot);
    await refuseIncoming(git, { incoming: [{ commit: target }], base: target, cannot });
    if (changed.length > 0 && !force) {
      throw new Error(
        `${cannot}: uncommitted changes of ${named(changed.map(({ path }) => path))} would be lost; git.commit or ` +
          "git.stash them, or {force: true}",
      );
    }
  }
  // A version that is only staged.
  const discarded = mode === "hard"
    ? changed
    : mode === "mixed"
    ? changed.filter((one) => one.staged && one.changed)
    : [];
  const saved = await saveWork(git, { files: discarded, secrets: env.secrets, cannot });
  const done = await git.run(["reset", "--quiet", `--${mode}`, "--no-recurse-submodules", target, "--"], {
    changes: mode === "hard" ? "workspace" : "repository",
  });
  if (done.code !== 0) throw gitRefusal(done, cannot);
  const { stdout } = await git.run(["rev-list", "--count", `${target}..${was}`, "--"]);
  return {
    ...await readState(git),
    was,
    undone: Number(stdout.trim()),
    lost: mode === "hard" ? discarded.map(({ path }) => path).slice(0, SHOWN) : [],
    ...(saved === undefined ? {} : { saved }),
  };
}
