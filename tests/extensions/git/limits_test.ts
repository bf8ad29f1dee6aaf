import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { join } from "node:path";
import { changeBranch, changeWorktree, switchTo } from "../../../extensions/git/branches.ts";
import { add, commit, init } from "../../../extensions/git/commit.ts";
import { diff } from "../../../extensions/git/diff.ts";
import { blame, log, show } from "../../../extensions/git/history.ts";
import { pickCommits } from "../../../extensions/git/merge_rebase.ts";
import { reset, restore } from "../../../extensions/git/stash_reset.ts";
import type { EnvironmentView } from "../../../src/extension/mod.ts";
import { missing, repository } from "./_repository.ts";

const ignore = missing !== "";

Deno.test("git.add() and git.commit() explain errors, and list the existing names", { ignore }, async () => {
  await repository(async ({ env, write }) => {
    await assert.rejects(commit(env, "nothing"), /Cannot commit: no file has changed/);
    await write("src/parser.ts", "x\n");
    await assert.rejects(commit(env, "nothing"), /no file is staged; call git.add with the changed files \(src\/\)/);
    await assert.rejects(
      add(env, "src/parse.ts"),
      /Cannot add: there is no file src\/parse.ts \(the nearest (?:is|are) src\/parser.ts/,
    );
    await write(".gitignore", "ignored\n");
    await write("ignored", "x\n");
    await assert.rejects(add(env, "ignored"), /ignored/);
    await assert.rejects(
      log(env, { ref: "mian" }),
      /Cannot read the log: the repository has no mian \(the nearest (?:is|are) main/,
    );
    await assert.rejects(diff(env, { from: "nope" }), /the repository has no nope \(the nearest (?:is|are) main/);
    await assert.rejects(show(env, "HEAD:src/nope"), /there is no file src\/nope in HEAD \(the nearest (?:is|are) /);
    await assert.rejects(blame(env, "a.tx"), /there is no file a.tx in HEAD \(the nearest (?:is|are) a.txt/);
    await assert.rejects(
      blame(env, "b.txt", { ref: "HEAD" }),
      /there is no file b.txt in HEAD \(the nearest (?:is|are) a.txt/,
    );
    await assert.rejects(
      changeBranch(env, "x", { from: "mian" }),
      /the repository has no mian \(the nearest (?:is|are) main/,
    );
    await assert.rejects(
      changeBranch(env, "y", { delete: true }),
      /the repository has no branch y \(the nearest (?:is|are) main/,
    );
    await assert.rejects(changeBranch(env, "main"), /it already exists/);
    await write("a.txt", "other\n");
    assert.equal((await commit(env, "some", { paths: "a.txt" })).files, 1);
    await assert.rejects(
      commit(env, "none", { paths: "a.txt" }),
      /Cannot commit: no file at these paths has changed; the changed files are \.gitignore, src\//,
    );
    await assert.rejects(
      commit(env, "new", { paths: "src/" }),
      /Cannot commit: git does not track src\/ yet; git\.add it first/,
    );
    await assert.rejects(diff(env, { from: "main", to: "HEAD~9" }), /Cannot compare: the repository has no HEAD~9/);
    await assert.rejects(
      changeBranch(env, "x", { from: "HEAD:a.txt" }),
      /Cannot make branch x: object \w+ is a blob, not a commit/,
    );
    await assert.rejects(reset(env, "HEAD:a.txt"), /HEAD:a\.txt is a file; name a commit, branch or tag/);
    await assert.rejects(
      restore(env, "src/parser.ts"),
      /Cannot restore src\/parser\.ts: git does not track src\/parser/,
    );
    await assert.rejects(
      changeWorktree(env, ".worktrees/x", { from: "mian" }),
      /^Error: Cannot make worktree \.worktrees\/x: the repository has no mian \(the nearest (?:is|are) main\)$/,
    );
    const amended = await commit(env, "all of it", { amend: true });
    assert.deepEqual([amended.subject, (await log(env)).commits.length], ["all of it", 2]);
  });
});

Deno.test("git.* gives reasons and advice of its own, not of the program git", { ignore }, async () => {
  await repository(async ({ env, git, write, exists }) => {
    await assert.rejects(add(env, "../x"), /^Error: Cannot add: .*outside repository/);
    await assert.rejects(
      changeBranch(env, "main", { delete: true }),
      /Cannot delete branch main: it is checked out here or in/,
    );
    await git("switch", "-q", "-c", "side");
    await write("a.txt", "side\n");
    await git("commit", "-q", "-a", "-m", "side");
    await git("switch", "-q", "main");
    await write("a.txt", "side\n");
    await git("commit", "-q", "-a", "-m", "main");
    const empty = await pickCommits(env, "cherry-pick", "side");
    assert.equal(empty.why, "no change is left, so the new commit would be empty");
    await assert.rejects(
      switchTo(env, "side"),
      /Cannot go to side: a cherry-pick is unfinished; git\.cherryPick\(\{skip: true\}\).*, or git\.cherryPick\(\{abort: true\}\)$/,
    );
    await pickCommits(env, "cherry-pick", { abort: true });
    await changeWorktree(env, "wt", { branch: "in-wt" });
    await write("wt/new.txt", "new\n");
    await assert.rejects(
      changeWorktree(env, "wt", { remove: true }),
      /untracked files; pass \{force: true\} to discard them/,
    );
    await assert.rejects(changeWorktree(env, "wt", { branch: "left" }), /Cannot make worktree wt/);
    assert.equal(exists("workspace/.git/refs/heads/left"), false);
  });
});

Deno.test(
  "git.worktree() uses an existing branch, and refuses a branch that another worktree uses",
  { ignore },
  async () => {
    await repository(async ({ env, git, write, workspace }) => {
      await git("switch", "-q", "-c", "side");
      await write("side.txt", "side\n");
      await git("add", "side.txt");
      await git("commit", "-qm", "on the side");
      const side = (await git("rev-parse", "side")).trim();
      await git("switch", "-q", "main");
      await git("tag", "side", "main");
      const made = await changeWorktree(env, "wt", { branch: "side" });
      assert.deepEqual(made.at(-1), { path: join(workspace, "wt"), commit: side, branch: "side" });
      await assert.rejects(
        changeWorktree(env, "other", { branch: "side" }),
        /Cannot make worktree other: \/\S+\/wt uses branch side; name another branch/,
      );
      await assert.rejects(
        changeWorktree(env, "other", { branch: "side", from: "main" }),
        /Cannot make worktree other: branch side already exists; omit `from`/,
      );
      assert.equal((await git("rev-parse", "refs/heads/side")).trim(), side);
    });
  },
);

Deno.test(
  "git.* asks once for each call where the wall is not whole, and shows it as it was called",
  { ignore },
  async () => {
    await repository(async ({ env, write }) => {
      const asked: string[] = [];
      const unwalled = { mode: "ask", reason: "no namespaces", some: true } as const;
      const walls = {
        whole: false,
        reason: "no namespaces",
        network: false,
        loopback: false,
        unix: false,
        hides: true,
        leftOut: [],
        unwalled,
      };
      const asking: EnvironmentView = {
        ...env,
        programWalls: () => Promise.resolve(walls),
        approve: ({ what, exact, scope }) => {
          asked.push([what, ...exact ? [exact] : [], scope].join(" | "));
          return Promise.resolve({ allowed: true, reason: "" });
        },
      };
      await write("a.txt", "two\n");
      await add(asking, "a.txt");
      await write("a.txt", "three\n");
      await commit(asking, "second", { allowEmpty: true });
      await reset(asking, { to: "HEAD", mode: "hard", force: true });
      assert.deepEqual(asked, [
        'change this repository | git.add("a.txt") | changes by git.add',
        'change this repository | git.commit("second", {"allowEmpty":true}) | changes by git.commit',
        'change this repository | git.reset({"to":"HEAD","mode":"hard","force":true}) | changes by git.reset',
      ]);
      await Deno.remove(`${env.workspace}/.git`, { recursive: true });
      await init(asking);
      assert.deepEqual(asked.slice(3), [`create a repository in ${env.workspace} | changes by git.init`]);
      await add(asking, "a.txt");
      await commit(asking, "again");
      const { approve: _, ...alone } = asking;
      await assert.rejects(
        commit(alone, "third", { allowEmpty: true }),
        /Cannot call git\.commit: no user can answer here \(Vis asks before each change, because no namespaces\); vis doctor shows how to complete the command wall/,
      );
    });
  },
);

Deno.test("git.add() refuses a file that a filter should have changed", { ignore }, async () => {
  await repository(async ({ env, write }) => {
    await write(".gitattributes", "*.bin filter=lfs\n");
    await write("big.bin", "x\n");
    await assert.rejects(add(env, "."), /Cannot add big.bin \(lfs\): git's attributes name this filter/);
    assert.equal((await add(env, ".gitattributes")).files.length, 1);
  });
});

Deno.test("git.log() and git.diff() bound their results in a large repository", { ignore }, async () => {
  await repository(async ({ env, write }) => {
    for (let at = 0; at < 400; at++) await write(`many/${at}.txt`, "x\n");
    await write("wide.txt", "y".repeat(2_000_000));
    await add(env, ".");
    const { files, left, total } = await diff(env, { staged: true });
    assert.deepEqual([files.length, left, total.files], [300, 101, 401]);
    const wide = (await diff(env, { staged: true, paths: "wide.txt" })).files[0];
    assert.ok((wide?.hunks[0]?.text.length ?? 0) < 2_000);
    await commit(env, "many");
  });
});

Deno.test("git.* ends with its call and leaves no lock", { ignore }, async () => {
  await repository(async ({ env, exists }) => {
    const signal = AbortSignal.abort(new Error("The block is over"));
    await assert.rejects(commit({ ...env, signal }, "x", { allowEmpty: true }), /The block is over/);
    assert.equal(exists("workspace/.git/index.lock"), false);
    assert.equal((await log(env)).commits.length, 1);
  });
});

function gitSleeps(folder: string): boolean {
  return Array.from(Deno.readDirSync("/proc")).some(({ name }) => {
    try {
      return Deno.readLinkSync(`/proc/${name}/cwd`) === folder &&
        /^\d+ \(git\) S /.test(Deno.readTextFileSync(`/proc/${name}/stat`));
    } catch {
      return false; // The process has ended.
    }
  });
}

Deno.test("git.* asks git to end with its call, so that it takes its locks away", { ignore }, async () => {
  await repository(async ({ env, exists, git, workspace }) => {
    await git("config", "core.filesRefLockTimeout", "60000");
    // Git waits for this lock while it holds others.
    await Deno.writeTextFile(`${workspace}/.git/refs/heads/main.lock`, "");
    const given = new AbortController();
    const running = commit({ ...env, signal: given.signal }, "x", { allowEmpty: true });
    // A sleeping git with this lock is waiting. A moment earlier, it may have made a lock without recording it as its
    // own.
    while (!exists("workspace/.git/HEAD.lock") || !gitSleeps(workspace)) {
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
    given.abort(new Error("The block is over"));
    await assert.rejects(running, /The block is over/);
    assert.deepEqual([exists("workspace/.git/index.lock"), exists("workspace/.git/HEAD.lock")], [false, false]);
  });
});

/** Returns two texts whose blobs have hashes with the same first 4 characters. */
function alike(): readonly [string, string, string] {
  const texts = new Map<string, string>();
  for (let at = 0;; at++) {
    const text = String(at);
    const hash = createHash("sha1").update(`blob ${text.length}\0${text}`).digest("hex").slice(0, 4);
    const other = texts.get(hash);
    if (other !== undefined) return [hash, other, text];
    texts.set(hash, text);
  }
}

Deno.test("git.* says that a short hash is ambiguous", { ignore }, async () => {
  await repository(async ({ env, write, git }) => {
    const [short, first, second] = alike();
    await write("first", first);
    await write("second", second);
    await git("add", "first", "second");
    const ambiguous = new RegExp(`: several hashes begin with ${short}; give more characters of the hash$`);
    await assert.rejects(log(env, { ref: `${short}~1` }), ambiguous);
    await assert.rejects(reset(env, short), ambiguous);
    await assert.rejects(diff(env, { from: "HEAD", to: short }), ambiguous);
    await assert.rejects(changeBranch(env, "x", { from: short }), ambiguous);
    await assert.rejects(log(env, { ref: "decade" }), /the repository has no decade/);
  });
});
