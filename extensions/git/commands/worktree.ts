import { join, resolve } from "node:path";
import type { EnvironmentView } from "@vis/extension";
import { Git } from "../program/git.ts";
import { gitSays, plainReason } from "../program/git_error.ts";
import { pathArguments } from "../program/paths.ts";
import { nameOf } from "../output/quoted_name.ts";
import { checkedRef, refError } from "../program/refs.ts";
import { inside } from "../program/repository.ts";
import { refusePlanted } from "./refuse_planted.ts";
import { isBranch } from "./switch.ts";

export interface WorktreeOptions {
  /** A branch to create for it; without one, HEAD is detached. */
  readonly branch?: string;
  /** The branch or commit where it starts; HEAD by default. */
  readonly from?: string;
  readonly remove?: boolean;
  /** With `remove`: removes it even if it has uncommitted changes. */
  readonly force?: boolean;
}

export interface Worktree {
  readonly path: string;
  readonly hash: string | null;
  readonly branch: string | null;
  /** Why git considers it gone. */
  readonly gone?: string;
  readonly locked?: true;
}

/** `git.worktree()` */
export async function listWorktrees(env: EnvironmentView): Promise<readonly Worktree[]> {
  return await worktreesOf(await Git.of(env));
}

/** `git.worktree(path, …)`: creates a worktree in the workspace, or removes it; returns the same as `git.worktree()`. */
export async function changeWorktree(
  env: EnvironmentView,
  path: string,
  options: WorktreeOptions = {},
): Promise<readonly Worktree[]> {
  const { branch, from, remove = false, force = false } = options;
  const refs = [branch, from].filter((ref) => ref !== undefined).map((ref) => checkedRef(ref));
  const [dashes = "--", place = ""] = pathArguments(path);
  if (remove && refs.length > 0) {
    throw new TypeError("Cannot remove a worktree with a branch or a commit: name its path");
  }
  const target = resolve(env.workspace, place);
  if (!inside(env.workspace, target) || target === env.workspace || inside(resolve(env.workspace, ".git"), target)) {
    throw new Error(`Cannot make a worktree in ${path}: it must be a folder in the workspace, such as .worktrees/x`);
  }
  const git = await Git.of(env, ["worktree", path, options]);
  if (!remove) await refusePlanted(git, { commit: from ?? "HEAD", place: target, cannot: `make worktree ${path}` });
  const isNew = branch !== undefined && !await isBranch(git, branch);
  const head = branch === undefined ? ["--detach"] : ["--no-track", "-b", branch];
  const args = remove
    ? ["worktree", "remove", ...(force ? ["--force"] : []), dashes, target]
    : ["worktree", "add", "--quiet", ...head, dashes, target, ...(from === undefined ? [] : [from])];
  const { code, stderr } = await git.run(args, {
    changes: "workspace",
    ...(remove ? { opens: [join(target, ".git")] } : {}),
  });
  if (code !== 0) {
    if (isNew && await isBranch(git, branch)) { // git makes it first
      await git.run(["branch", "--quiet", "-D", "--", branch], { changes: "repository" });
    }
    if (gitSays("notClean", stderr)) {
      throw new Error(
        `Cannot remove worktree ${path}: it has uncommitted changes or untracked files; {force: true} removes them too`,
      );
    }
    throw await refError(git, {
      cannot: `Cannot ${remove ? "remove" : "make"} worktree ${path}`,
      stderr,
      refs: from === undefined ? [] : [from],
    });
  }
  return await worktreesOf(git);
}

async function worktreesOf(git: Git): Promise<readonly Worktree[]> {
  const { code, stdout, stderr } = await git.run(["worktree", "list", "--porcelain"]);
  if (code !== 0) throw new Error(`Cannot list worktrees: ${plainReason(stderr)}`);
  return stdout.trim().split("\n\n").filter((text) => text !== "").map((text) => {
    const facts = new Map(
      text.split("\n").map((line) => {
        const [key = "", ...value] = line.split(" ");
        return [key, value.join(" ")];
      }),
    );
    const gone = facts.get("prunable"), hash = facts.get("HEAD") ?? "";
    return {
      path: nameOf(facts.get("worktree") ?? ""),
      hash: /^0*$/.test(hash) ? null : hash, // zeros before the first commit
      branch: facts.get("branch")?.replace(/^refs\/heads\//, "") ?? null,
      ...(gone === undefined ? {} : { gone }),
      ...(facts.has("locked") ? { locked: true } : {}),
    };
  });
}
