import assert from "node:assert/strict";
import extension from "../../../../extensions/git/mod.ts";
import type { Commit } from "../../../../extensions/git/commit.ts";
import { testExtension } from "../../../../src/extension/testing.ts";
import { changeBranch, listWorktrees } from "../../../../extensions/git/branches.ts";
import { commit } from "../../../../extensions/git/commit.ts";
import { diff } from "../../../../extensions/git/diff.ts";
import { blame, log, show } from "../../../../extensions/git/history.ts";
import { status } from "../../../../extensions/git/status.ts";
import { missing, repository } from "../_repository.ts";

const ignore = missing !== "";

Deno.test("git.commit() gives git's reason for a refusal, not that nothing is staged", { ignore }, async () => {
  await repository(async ({ env, write, workspace }) => {
    await assert.rejects(commit(env, "same"), /Cannot commit: no file has changed; allowEmpty makes an empty commit$/);
    await write("a.txt", "changed\n");
    await write("new.txt", "new\n");
    await assert.rejects(
      commit(env, "not staged"),
      /no file is staged; call git\.add with the changed files \(a\.txt, new\.txt\)/,
    );
    await assert.rejects(
      commit(env, "wrong", { paths: "b.txt" }),
      /Cannot commit: there is no file b\.txt \(the nearest/,
    );
    await write("more/one.txt", "new\n");
    await assert.rejects(
      commit(env, "new", { paths: "more" }),
      /git does not track more yet; git\.add it first/,
    );
    await assert.rejects(commit(env, " ", { all: true }), /Cannot commit: .*empty commit message/);
    await write(".git/index.lock", "");
    await assert.rejects(commit(env, "locked", { all: true }), /Cannot commit: Unable to create .*index\.lock/);
    await Deno.remove(`${workspace}/.git/index.lock`);
    assert.equal((await commit(env, "works", { all: true })).files, 1);
  });
});

Deno.test(
  "git before 2.31 refuses settings that it cannot override, and says which section needs it",
  { ignore },
  async () => {
    await repository(async ({ env, git }) => {
      const { spawn } = env;
      assert.ok(spawn);
      // An older git ignores GIT_CONFIG_COUNT, and so lists no setting of the environment.
      const older: typeof spawn = async (argv, options) => {
        const result = await spawn(argv, options);
        if (argv.includes("--version")) return { ...result, stdout: "git version 2.29.2\n" };
        return { ...result, stdout: result.stdout.replaceAll("vis.mark\n1\0", "") };
      };
      await status({ ...env, spawn: older });
      await git("config", "alias.last", "log -1");
      await status(env);
      await assert.rejects(status({ ...env, spawn: older }), {
        message:
          "Cannot use git: the section [alias] in this repository's settings needs git 2.31, and git 2.29.2 is " +
          "installed; update git or remove the section",
      });
    });
  },
);

Deno.test("git reads a branch without a commit next to others", { ignore }, async () => {
  await repository(async ({ env, git }) => {
    await git("switch", "-q", "--orphan", "fresh");
    assert.deepEqual(await log(env), { commits: [], left: 0 });
    const { branch, commit: hash } = await status(env);
    assert.deepEqual([branch, hash], ["fresh", null]);
    for (const read of [() => show(env), () => diff(env, { from: "HEAD" }), () => changeBranch(env, "other")]) {
      await assert.rejects(read, /this branch has no commit yet$/);
    }
    await assert.rejects(blame(env, "a.txt"), /this branch has no commit yet$/);
  });
  await repository(async ({ env }) => {
    assert.deepEqual((await listWorktrees(env)).map(({ commit }) => commit), [null]);
    await assert.rejects(commit(env, "none", { amend: true }), /nothing (?:yet )?to amend/i);
    await assert.rejects(blame(env, "a.txt"), /the repository has no commit yet$/);
  }, { begun: false });
});

Deno.test("git.diff() counts the lines that both sides of a merge lose at the end of a file", { ignore }, async () => {
  await repository(async ({ env, git, write }) => {
    await git("switch", "-q", "-c", "side");
    await write("a.txt", "one\nTWO\nthree\n");
    await git("commit", "-q", "-a", "-m", "side");
    await git("switch", "-q", "main");
    await write("a.txt", "one\n2\nthree\n");
    await git("commit", "-q", "-a", "-m", "main");
    await assert.rejects(git("merge", "-q", "side"));
    await write("a.txt", "one\n");
    const { files: [file], total } = await diff(env);
    assert.equal(file?.hunks[0]?.text, "  one\n- 2\n -TWO\n--three");
    assert.deepEqual(total, { files: 1, added: 0, deleted: 3 });
  });
});

Deno.test("git.show() of a submodule, and of the first commit where it is set to be empty", { ignore }, async () => {
  await repository(async ({ env, git, root }) => {
    const made = ["-C", `${root}/outside/sub`, "commit", "-q", "--allow-empty", "-m", "s"];
    await git("init", "-q", `${root}/outside/sub`);
    await git(...made);
    await git("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", `${root}/outside/sub`, "lib");
    await git("commit", "-q", "-m", "sub");
    await assert.rejects(
      show(env, "HEAD:lib"),
      /the repository lacks the object [0-9a-f]{40}, which can be the commit of a submodule/,
    );
    await assert.rejects(show(env, "HEAD:libs"), /there is no file libs in HEAD \(the nearest (?:is|are) lib/);
    await git("config", "log.showRoot", "false");
    const first = await show(env, "HEAD~1");
    assert.ok(first.kind === "commit" && first.files.length === 1);
  });
});

Deno.test(
  "git.commit() with paths takes new files that are named, and the earlier name of a moved one",
  { ignore },
  async () => {
    await repository(async ({ env, write, workspace, git }) => {
      const notes: string[] = [];
      const told = { ...env, note: (text: string) => void notes.push(text) };
      await write("new.txt", "new\n");
      await write("other.txt", "other\n");
      await Deno.mkdir(`${workspace}/lib`);
      await Deno.rename(`${workspace}/a.txt`, `${workspace}/lib/b.txt`);
      assert.equal((await commit(told, "new and moved", { paths: ["new.txt", "./lib/b.txt"] })).files, 2);
      assert.deepEqual(notes, ["the commit also has the other names of renames: a.txt"]);
      assert.equal((await git("status", "--short")).trim(), "?? other.txt");
      await write(".env", "KEY=1\n");
      await assert.rejects(
        commit({ ...env, secrets: [".env"] }, "secret", { paths: ".env" }),
        /Cannot commit: git would store \.env, which may hold keys/,
      );
    });
  },
);

Deno.test("git.log() and git.diff() accept git's own notation", { ignore }, async () => {
  await repository(async ({ env, write }) => {
    await write("a.txt", "second\n");
    await commit(env, "second", { all: true });
    await write("a.txt", "third\n");
    const { call } = await testExtension(extension, { env });
    // deno-lint-ignore no-explicit-any
    const ask = async (name: string, ...args: unknown[]): Promise<any> => await call(name, ...args);
    assert.equal((await ask("git.log", 1)).commits.length, 1);
    assert.deepEqual((await ask("git.log", "HEAD~1..HEAD")).commits.map(({ subject }: Commit) => subject), ["second"]);
    assert.equal((await ask("git.log", "HEAD", { limit: 1 })).commits.length, 1);
    assert.equal((await ask("git.log")).commits.length, 2);
    const text = async (...args: unknown[]) => (await ask("git.diff", ...args)).files[0]?.hunks[0]?.text ?? "";
    assert.match(await text("HEAD~1"), /\+third/);
    for (const args of [["HEAD~1", "HEAD"], ["HEAD~1..HEAD"]]) assert.match(await text(...args), /\+second/);
    assert.equal(await text("--staged"), "");
    assert.match(await text("HEAD", { paths: "a.txt" }), /-second\n\+third/);
    await assert.rejects(ask("git.log", true), /usage: git\.log/);
  });
});
