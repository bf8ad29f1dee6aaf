import assert from "node:assert/strict";
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
import { merge, pickCommits, rebase } from "../../../extensions/git/sequence.ts";
import { status } from "../../../extensions/git/status.ts";
import { reset, restore, stash } from "../../../extensions/git/uncommitted.ts";
import type { EnvironmentView } from "../../../src/extension/mod.ts";
import { ATTACKS, clear, prepare, ran } from "./_attacks.ts";
import { missing, repository, type TestRepository } from "./_repository.ts";

const ignore = missing !== "";

/** Everything a model can do with git, and what came of it. */
async function everything(env: EnvironmentView, { write }: TestRepository): Promise<readonly unknown[]> {
  const calls: readonly (() => Promise<unknown>)[] = [
    () => status(env, { all: true }),
    () => log(env, { paths: "a.txt" }),
    () => show(env, "HEAD"),
    () => show(env, "HEAD:a.txt"),
    () => blame(env, "a.txt"),
    () => write("a.txt", "ONE\ntwo\nthree\n"),
    () => status(env),
    () => diff(env),
    () => diff(env, { from: "HEAD" }),
    () => add(env, ["a.txt", ".gitattributes"]),
    () => add(env, "."),
    () => diff(env, { staged: true }),
    () => commit(env, "second", { allowEmpty: true }),
    () => commit(env, "third", { all: true }),
    () => commit(env, "third again", { amend: true, allowEmpty: true }),
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

/** Everything that changes history, with the branches of `prepare`. */
async function history(env: EnvironmentView, { write }: TestRepository): Promise<readonly unknown[]> {
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
    () => stash(env, { paths: "a.txt" }),
    () => stash(env, { apply: true }),
    () => stash(env, { drop: true }),
    () => restore(env, "a.txt", { staged: true }),
    () => restore(env, "a.txt"),
    () => restore(env, "a.txt", { from: "side" }),
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

for (const attack of ATTACKS) {
  Deno.test(`without precautions, git obeys: ${attack.name}`, { ignore }, async () => {
    await repository(async (there) => {
      await attack.set(there);
      assert.equal(ran(there), false);
      await attack.obey(there);
      assert.equal(ran(there), true);
    });
  });

  Deno.test(`git.* does not obey, even without the wall: ${attack.name}`, { ignore }, async () => {
    await repository(async (there) => {
      await attack.set(there);
      const results = await everything(there.bare, there);
      assert.equal(ran(there), false);
      assert.ok(results.some((result) => !(result instanceof Error)), String(results[0]));
    });
  });
}

for (const attack of ATTACKS) {
  Deno.test(
    `git.* does not obey as it changes history, even without the wall: ${attack.name}`,
    { ignore },
    async () => {
      await repository(async (there) => {
        await prepare(there);
        await attack.set(there);
        const results = await history(there.bare, there);
        assert.equal(ran(there), false);
        // Files with a filter cannot be stashed, and one that is missing cannot be merged.
        const least = /filter|fetched|protocol|submodule/.test(attack.name) ? 4 : 26;
        const done = results.filter((result) => !(result instanceof Error));
        assert.ok(done.length >= least, results.map(String).join("\n"));
      });
    },
  );
}

/** Together: what git by itself does not obey one by one is held again by the kernel. */
Deno.test("git.* behind the wall obeys no program of a repository that names all of them", { ignore }, async () => {
  await repository(async (there) => {
    await prepare(there);
    for (const { set, name } of ATTACKS) if (!/to be fetched|every protocol|submodule/.test(name)) await set(there);
    await clear(there);
    const results = await everything(there.env, there);
    await history(there.env, there);
    assert.equal(ran(there), false);
    const refused = results.filter((result) => result instanceof Error).map(String);
    assert.ok(refused.every((text) => /filter/.test(text) || /nothing/.test(text)), refused.join("\n"));
    assert.ok(refused.length < results.length / 2, refused.join("\n"));
  });
});
