/** No branch, worktree or merge adds files to the workspace that git takes for a repository, or runs. */
import assert from "node:assert/strict";
import { changeBranch, changeWorktree } from "../../../extensions/git/branches.ts";
import { add, commit } from "../../../extensions/git/commit.ts";
import { merge, pickCommits, rebase } from "../../../extensions/git/merge_rebase.ts";
import { reset, restore, stash } from "../../../extensions/git/stash_reset.ts";
import type { EnvironmentView } from "../../../src/extension/mod.ts";
import { ObeyedPaths } from "../../../src/processes/protected/obeyed_paths.ts";
import { runs } from "../../helpers/long_part.ts";
import { missing, repository, type TestRepository } from "./_repository.ts";

const ignore = missing !== "";
const REFUSED = /git would take (lib|the top folder) for a repository, whose settings can run commands/;
const HEAD = "ref: refs/heads/main\n";

/** Commits a whole repository whose parts were never in the workspace together, and returns to `main`. */
async function planted({ env, write, workspace }: TestRepository, folder = "lib/"): Promise<void> {
  await changeBranch(env, "evil", { switch: true });
  await write(`${folder}HEAD`, HEAD);
  await write(`${folder}objects/x`, "");
  await add(env, [`${folder}HEAD`, `${folder}objects/x`]);
  await Deno.remove(`${workspace}/${folder}HEAD`);
  await write(`${folder}refs/x`, "");
  await add(env, `${folder}refs/x`);
  await commit(env, "parts");
  for (const part of ["objects", "refs"]) await Deno.remove(`${workspace}/${folder}${part}`, { recursive: true });
  await changeBranch(env, "main", { switch: true });
}

async function removal(git: TestRepository["git"]): Promise<string> {
  return (await git("commit-tree", "-p", "evil", "-m", "without", "main^{tree}")).trim();
}

for (const folder of ["lib/", ""]) {
  Deno.test(
    `git.branch() and git.worktree() refuse a repository in ${folder || "the top folder"}`,
    { ignore },
    async () => {
      await repository(async (there) => {
        const { env, git, exists } = there;
        await planted(there, folder);
        await assert.rejects(changeBranch(env, "evil", { switch: true }), REFUSED);
        await assert.rejects(changeBranch(env, "other", { switch: true, from: "evil" }), REFUSED);
        await assert.rejects(changeWorktree(env, "wt", { from: "evil" }), REFUSED);
        await assert.rejects(merge(env, "evil"), REFUSED);
        await assert.rejects(rebase(env, "evil"), REFUSED);
        await assert.rejects(pickCommits(env, "cherry-pick", "evil"), REFUSED);
        await assert.rejects(restore(env, ".", { from: "evil" }), REFUSED);
        await assert.rejects(reset(env, "evil", { mode: "hard" }), REFUSED);
        await git("update-ref", "refs/heads/gone", await removal(git));
        await assert.rejects(pickCommits(env, "revert", "gone"), REFUSED);
        assert.ok(!exists(`workspace/${folder}HEAD`) && !exists("workspace/wt"));
        await changeBranch(env, "fine", { switch: true });
        await changeWorktree(env, "wt");
        assert.ok(exists("workspace/wt/a.txt"));
      });
    },
  );
}

Deno.test(
  "git.worktree() refuses a folder that would be the part of a repository whose rest is there",
  { ignore },
  async () => {
    await repository(async ({ env, write, exists }) => {
      await write("lib/HEAD", HEAD);
      await write("lib/refs/x", "");
      for (const path of ["lib/objects", "lib/objects/wt", "lib/commondir"]) {
        await assert.rejects(changeWorktree(env, path), REFUSED);
      }
      assert.ok(!exists("workspace/lib/objects"));
      await changeWorktree(env, "lib/wt");
    });
  },
);

Deno.test("git.worktree() puts no committed file where git or Vis would obey it", { ignore }, async () => {
  await repository(async ({ env: own, git, write, workspace, exists }) => {
    const obeyed = new ObeyedPaths({ home: workspace, visHome: null, env: {} });
    const env = { ...own, obeyedPaths: (paths: readonly string[]) => obeyed.of(workspace, paths) };
    await git("config", "core.hooksPath", ".githooks");
    await git("config", "filter.own.clean", "tools/filter");
    for (const name of ["pre-commit", "filter"]) await write(name, "");
    await add(env, ["pre-commit", "filter"]);
    await commit(env, "files");
    for (const path of [".githooks", ".githooks/x", "tools"]) {
      const refused =
        /^Error: Cannot make worktree \S+: git or Vis would run files there, or read them as settings \(.*\); name another folder$/;
      await assert.rejects(changeWorktree(env, path), refused);
    }
    assert.ok(!exists("workspace/.githooks") && !exists("workspace/tools"));
    await changeWorktree(env, "wt");
  });
});

Deno.test("git.branch() refuses the part of a repository whose rest is there", { ignore }, async () => {
  await repository(async ({ env, write, workspace, exists }) => {
    await changeBranch(env, "head", { switch: true });
    await write("lib/HEAD", HEAD);
    await add(env, "lib/HEAD");
    await commit(env, "head");
    await changeBranch(env, "main", { switch: true });
    await changeBranch(env, "head", { switch: true });
    await changeBranch(env, "main", { switch: true });
    for (const name of ["objects", "refs"]) await write(`lib/${name}/x`, "");
    await assert.rejects(changeBranch(env, "head", { switch: true }), REFUSED);
    assert.ok(!exists("workspace/lib/HEAD"));
    await Deno.remove(`${workspace}/lib`, { recursive: true });
    await write("lib/commondir", "x");
    await assert.rejects(changeBranch(env, "head", { switch: true }), REFUSED);
  });
});

Deno.test("git.branch() and git.worktree() do not change a repository in the workspace", { ignore }, async () => {
  await repository(async ({ env, git, write, exists }) => {
    const parts = ["HEAD", "objects/x", "refs/x", "config"].map((name) => `fixtures/lib/${name}`);
    for (const path of parts) await write(path, HEAD);
    await git("add", ".");
    await git("commit", "-q", "-m", "fixtures");
    await git("branch", "next");
    await write("a.txt", "four\n");
    await commit(env, "more", { all: true });
    assert.equal((await changeBranch(env, "next", { switch: true })).current, "next");
    await changeWorktree(env, "wt", { from: "main" });
    assert.ok(exists("workspace/wt/fixtures/lib/config"));
    await write("fixtures/lib/config", "other");
    await git("commit", "-q", "-a", "-m", "other settings");
    await git("switch", "-q", "main");
    const refused = /git would take fixtures\/lib for a repository/;
    await assert.rejects(changeBranch(env, "next", { switch: true }), refused);
    await assert.rejects(changeWorktree(env, "wt2", { from: "next" }), refused);
  });
});

Deno.test("a submodule of a branch does not come over a repository that would run something", { ignore }, async () => {
  await repository(async ({ env, git, write, workspace }) => {
    const commitOf = (await git("rev-parse", "HEAD")).trim();
    await git("switch", "-q", "-c", "sub");
    await git("update-index", "--add", "--cacheinfo", `160000,${commitOf},lib`);
    await git("commit", "-q", "-m", "with a submodule");
    await git("branch", "sub2");
    await git("switch", "-q", "main");
    const plants: Readonly<Record<string, () => Promise<unknown>>> = {
      "settings": () => git("-C", "lib", "config", "core.fsmonitor", "./evil"),
      "settings that are included": () => git("-C", "lib", "config", "include.path", "../evil"),
      "a hook": () => write("lib/.git/hooks/post-index-change", "#!/bin/sh\n"),
      "a repository in it": () => git("init", "-q", "lib/a/b"),
      "a folder elsewhere": async () => {
        await Deno.rename(`${workspace}/lib/.git`, `${workspace}/elsewhere`);
        await write("lib/.git", "gitdir: ../elsewhere\n");
      },
      "a link": async () => {
        await Deno.rename(`${workspace}/lib/.git`, `${workspace}/elsewhere`);
        await Deno.symlink("../elsewhere", `${workspace}/lib/.git`);
      },
    };
    for (const [name, plant] of Object.entries(plants)) {
      await git("init", "-q", "lib");
      await plant();
      await assert.rejects(changeBranch(env, "sub", { switch: true }), REFUSED, name);
      await assert.rejects(merge(env, "sub"), REFUSED, name);
      await Deno.remove(`${workspace}/lib`, { recursive: true });
      await Deno.remove(`${workspace}/elsewhere`, { recursive: true }).catch(() => {});
    }
    await git("init", "-q", "lib");
    assert.equal((await changeBranch(env, "sub", { switch: true })).current, "sub", "nothing would run");
    await git("-C", "lib", "config", "core.fsmonitor", "true");
    assert.equal((await changeBranch(env, "sub2", { switch: true })).current, "sub2", "it is one here too");
  });
});

Deno.test("a switch restores a submodule whose folder an earlier one has left", { ignore }, async () => {
  await repository(async ({ env, git, exists, root }) => {
    await git("init", "-q", `${root}/outside/lib`);
    await git("-C", `${root}/outside/lib`, "commit", "-q", "--allow-empty", "-m", "inner");
    await git("switch", "-q", "-c", "with");
    await git("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", `${root}/outside/lib`, "lib");
    await git("-C", "lib", "config", "core.pager", "less");
    await git("commit", "-q", "-m", "with a submodule");
    await changeBranch(env, "main", { switch: true });
    assert.ok(exists("workspace/lib/.git"));
    assert.equal((await changeBranch(env, "with", { switch: true })).current, "with");
  });
});

Deno.test(
  "git.restore() and git.stash() refuse the parts of a repository that were staged one by one",
  { ignore },
  async () => {
    await repository(async ({ env, write, workspace, exists }) => {
      await write("lib/HEAD", HEAD);
      await write("lib/objects/x", "");
      await add(env, "lib");
      await Deno.remove(`${workspace}/lib/HEAD`);
      await write("lib/refs/x", "");
      await add(env, "lib/refs/x");
      await assert.rejects(restore(env, "."), REFUSED);
      await assert.rejects(restore(env, "lib/HEAD"), REFUSED);
      await assert.rejects(stash(env, { pop: true }), /Cannot pop a stash: the repository has no stash/);
      assert.ok(!exists("workspace/lib/HEAD"));
    });
  },
);

const BRINGS = {
  merge: (env) => merge(env, "side"),
  stash: (env) => stash(env, { apply: true }),
  "cherry-pick": (env) => pickCommits(env, "cherry-pick", "side"),
  rebase: async (env) => {
    await changeBranch(env, "side", { switch: true });
    return await rebase(env, "main");
  },
} satisfies Record<string, (env: EnvironmentView) => Promise<unknown>>;

for (const [name, bring] of Object.entries(BRINGS).slice(0, runs(2, 4))) {
  for (const isObeyed of [true, false]) {
    Deno.test(
      `a ${name} ${isObeyed ? "brings nothing" : "follows a rename"} into a folder of hooks that ${
        isObeyed ? "settings name" : "no setting names"
      }`,
      { ignore },
      async () => {
        await repository(async ({ env: own, git, write, workspace, root }) => {
          const obeyed = new ObeyedPaths({ home: `${root}/home`, visHome: null, env: {} });
          const env = { ...own, obeyedPaths: (paths: readonly string[]) => obeyed.of(workspace, paths) };
          const hook = (end: string): string => `#!/bin/sh\n# checks all files\n# that are to be committed\n${end}`;
          for (const hookName of ["pre-commit", "commit-msg"]) await write(`old/${hookName}`, hook("exit 0\n"));
          await git("add", ".");
          await git("commit", "-q", "-m", "hooks");
          await git("mv", "old", ".githooks");
          await git("commit", "-q", "-m", "moved");
          if (isObeyed) await git("config", "core.hooksPath", ".githooks");
          await changeBranch(env, "side", { from: "main~1", switch: true });
          await write("old/pre-commit", hook("evil\n"));
          if (name !== "stash") {
            await write("old/post-commit", hook("evil too\n"));
            await add(env, "old");
            await commit(env, "side");
          } else await stash(env);
          await changeBranch(env, "main", { switch: true });
          if (isObeyed && name === "stash") {
            await assert.rejects(bring(env), /could change files that git or Vis runs, or reads as settings/);
          } else await bring(env);
          assert.equal((await Deno.readTextFile(`${workspace}/.githooks/pre-commit`)).includes("evil"), !isObeyed);
          const names = Array.from(Deno.readDirSync(`${workspace}/.githooks`), (entry) => entry.name);
          assert.equal(names.length, isObeyed || name === "stash" ? 2 : 3, names.join());
        });
      },
    );
  }
}
