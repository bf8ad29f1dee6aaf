import { join, relative } from "node:path";
import {
  changeBranch,
  changeWorktree,
  listBranches,
  listWorktrees,
  switchTo,
  tag,
} from "../../../extensions/git/branches.ts";
import { add, commit, init } from "../../../extensions/git/commit.ts";
import { diff } from "../../../extensions/git/diff.ts";
import { blame, log, show } from "../../../extensions/git/history.ts";
import { merge, pickCommits, rebase } from "../../../extensions/git/merge_rebase.ts";
import { status } from "../../../extensions/git/status.ts";
import { reset, restore, stash } from "../../../extensions/git/stash_reset.ts";
import type { EnvironmentView } from "../../../src/extension/mod.ts";
import type { TestRepository } from "./_repository.ts";

function pathsOf({ workspace }: EnvironmentView, there: TestRepository): (path: string) => string {
  return (path) => relative(workspace, join(there.workspace, path)) || ".";
}

export async function everything(env: EnvironmentView, there: TestRepository): Promise<readonly unknown[]> {
  const { write } = there, at = pathsOf(env, there);
  const calls: readonly (() => Promise<unknown>)[] = [
    () => status(env, { all: true }),
    () => log(env, { paths: at("a.txt") }),
    () => show(env, "HEAD"),
    () => show(env, "HEAD:a.txt"),
    () => blame(env, at("a.txt")),
    () => write("a.txt", "ONE\ntwo\nthree\n"),
    () => status(env),
    () => diff(env),
    () => diff(env, { from: "HEAD" }),
    () => add(env, [at("a.txt"), at(".gitattributes")]),
    () => add(env, at(".")),
    () => diff(env, { staged: true }),
    () => commit(env, "second", { hooks: false, sign: false, allowEmpty: true }),
    () => commit(env, "third", { hooks: false, sign: false, all: true }),
    () => commit(env, "third again", { hooks: false, sign: false, amend: true, allowEmpty: true }),
    () => show(env),
    () => changeBranch(env, "other", { from: "HEAD~1", switch: true }),
    () => changeBranch(env, "main", { switch: true }),
    () => changeBranch(env, "other", { delete: true, force: true }),
    () => listBranches(env),
    () => changeWorktree(env, ".worktrees/x", { branch: "x" }),
    () => changeWorktree(env, ".worktrees/x", { remove: true, force: true }),
    () => listWorktrees(env),
  ];
  const results: unknown[] = [];
  for (const call of calls) results.push(await call().catch((error: unknown) => error));
  return results;
}

export async function history(env: EnvironmentView, there: TestRepository): Promise<readonly unknown[]> {
  const { write } = there, at = pathsOf(env, there);
  const calls: readonly (() => Promise<unknown>)[] = [
    () => switchTo(env, "side"),
    () => switchTo(env, "other", { from: "main" }),
    () => switchTo(env, "main"),
    () => merge(env, "side"),
    () => reset(env, "HEAD~1", { mode: "hard", force: true }),
    () => pickCommits(env, "cherry-pick", "side"),
    () => pickCommits(env, "revert", "HEAD"),
    () => rebase(env, "side"),
    () => merge(env, "clash"),
    () => merge(env, { abort: true }),
    () => pickCommits(env, "cherry-pick", "clash"),
    () => write("a.txt", "all\n"),
    () => pickCommits(env, "cherry-pick", { abort: true }),
    () => rebase(env, "clash"),
    () => rebase(env, { abort: true }),
    () => rebase(env, "clash"),
    () => rebase(env, { skip: true }),
    () => write("a.txt", "changed\n"),
    () => stash(env, { message: "x", untracked: true }),
    () => stash(env, { pop: true }),
    () => stash(env, { paths: at("a.txt") }),
    () => stash(env, { apply: true }),
    () => stash(env, { drop: true }),
    () => restore(env, at("a.txt"), { staged: true }),
    () => restore(env, at("a.txt")),
    () => restore(env, at("a.txt"), { from: "side" }),
    () => reset(env, "HEAD", { mode: "soft" }),
    () => reset(env),
    () => tag(env, "v1", { message: "x" }),
    () => tag(env, "v1", { delete: true }),
    () => init(env),
  ];
  const results: unknown[] = [];
  for (const call of calls) results.push(await call().catch((error: unknown) => error));
  return results;
}
