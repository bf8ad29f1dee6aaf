import assert from "node:assert/strict";
import {
  changeBranch,
  changeWorktree,
  listBranches,
  listWorktrees,
  switchTo,
  tag,
} from "../../../../extensions/git/branches.ts";
import { add, commit } from "../../../../extensions/git/commit.ts";
import { diff } from "../../../../extensions/git/diff.ts";
import { blame, log, show } from "../../../../extensions/git/history.ts";
import { merge, rebase } from "../../../../extensions/git/merge_rebase.ts";
import { status, uncommittedWords } from "../../../../extensions/git/status.ts";
import { reset, stash } from "../../../../extensions/git/stash_reset.ts";
import extension from "../../../../extensions/git/mod.ts";
import type { EnvironmentView } from "../../../../src/extension/mod.ts";
import { missing, repository, userGit } from "../_repository.ts";

const ignore = missing !== "";

Deno.test("git.status() names staged, changed, new, renamed and missing files", { ignore }, async () => {
  await repository(async ({ env, write, git, workspace }) => {
    for (const name of ["b.txt", "c.txt", "d e.txt"]) await write(name, `${name}\n`.repeat(20));
    await git("add", ".");
    await git("commit", "-q", "-m", "more");
    await write("a.txt", "changed\n");
    await git("mv", "b.txt", "ü.txt");
    await git("rm", "-q", "c.txt");
    await Deno.remove(`${workspace}/d e.txt`);
    await write("new/one.txt", "x");
    await write("new/two.txt", "x");
    const { branch, commit: hash, files, count, left } = await status(env);
    assert.deepEqual([branch, hash?.length, left], ["main", 40, 0]);
    assert.deepEqual(files, [
      { path: "a.txt", changed: "modified" },
      { path: "c.txt", staged: "deleted" },
      { path: "d e.txt", changed: "deleted" },
      { path: "ü.txt", staged: "renamed", from: "b.txt" },
      { path: "new/", untracked: true },
    ]);
    assert.deepEqual(count, { staged: 2, changed: 2, untracked: 1, conflicts: 0 });
    const bounded = await status(env, { all: true, limit: 2 });
    assert.deepEqual([bounded.files.length, bounded.left, bounded.count.untracked], [2, 4, 2]);
    assert.deepEqual((await status(env, { paths: "new", all: true })).files.map(({ path }) => path), [
      "new/one.txt",
      "new/two.txt",
    ]);
  });
});

Deno.test("git.diff() returns hunks as data, and counts the omitted lines", { ignore }, async () => {
  await repository(async ({ env, write, git, workspace }) => {
    await write("run.sh", "#!/bin/sh\n");
    await write("old name.txt", "line\n".repeat(30));
    await git("add", ".");
    await git("commit", "-q", "-m", "more");
    await write("a.txt", "one\n--- a/fake\n+++ b/fake\n@@ -1 +1 @@\nthree");
    await Deno.chmod(`${workspace}/run.sh`, 0o755);
    await Deno.writeFile(`${workspace}/bin`, new Uint8Array([0, 1, 2]));
    await git("mv", "old name.txt", "new ä.txt");
    await git("add", ".");
    const { files, total, left } = await diff(env, { staged: true });
    assert.deepEqual(files.map(({ hunks: _, ...file }) => file), [
      { path: "a.txt", status: "modified", added: 4, deleted: 2 },
      { path: "bin", status: "added", added: 0, deleted: 0, binary: true },
      { path: "new ä.txt", from: "old name.txt", status: "renamed", added: 0, deleted: 0 },
      { path: "run.sh", status: "modified", added: 0, deleted: 0, mode: "100644 → 100755" },
    ]);
    assert.deepEqual([total, left], [{ files: 4, added: 4, deleted: 2 }, 0]);
    assert.deepEqual(files[0]?.hunks.map(({ heading: _, ...hunk }) => hunk), [{
      oldStart: 1,
      oldLines: 3,
      newStart: 1,
      newLines: 5,
      text: " one\n-two\n-three\n+--- a/fake\n++++ b/fake\n+@@ -1 +1 @@\n+three",
    }]);
    const bounded = await diff(env, { staged: true, maxChars: 10 });
    assert.deepEqual([bounded.total.added, bounded.files[0]?.left], [4, 5]);
    assert.equal((await diff(env, { from: "HEAD~1", to: "HEAD" })).files.length, 2);
    await assert.rejects(diff(env, { to: "HEAD" }), /`to` needs `from`/);
  });
});

Deno.test("git.log(), git.show() and git.blame() give commits as data", { ignore }, async () => {
  await repository(async ({ env, write, git }) => {
    await write("a.txt", "one\n2\nthree\n");
    await git("commit", "-q", "-a", "-m", "second\n\nwith a body\n\nof two parts");
    for (const number of [3, 4, 5]) await git("commit", "-q", "--allow-empty", "-m", `empty ${number}`);
    const { commits, left } = await log(env, { limit: 2 });
    assert.deepEqual([commits.map(({ subject }) => subject), left], [["empty 5", "empty 4"], 3]);
    assert.deepEqual(commits[0]?.refs, ["HEAD -> main"]);
    const [second] = (await log(env, { grep: "BODY" })).commits;
    assert.deepEqual([second?.body, second?.author.name, second?.author.date], [
      "with a body\n\nof two parts",
      "Grace",
      new Date("2026-01-02T03:04:05Z"),
    ]);
    await git("commit", "-q", "--allow-empty", "-m", `long\n\n${"b".repeat(12_345)}`);
    assert.match((await log(env, { limit: 1 })).commits[0]?.body ?? "", /^b{10000}\n\[\.\.\. 2345 more characters\]$/);
    await git("reset", "-q", "--hard", "HEAD~1");
    assert.equal((await log(env, { ref: "HEAD~2..HEAD" })).commits.length, 2);
    assert.equal((await log(env, { paths: "a.txt" })).commits.length, 2);
    assert.equal((await log(env, { until: "2020-01-01" })).commits.length, 0);
    const shown = await show(env, "HEAD~3");
    assert.ok(shown.kind === "commit");
    assert.deepEqual([shown.subject, shown.total], ["second", { files: 1, added: 1, deleted: 1 }]);
    const file = await show(env, "HEAD:a.txt", { maxChars: 5 });
    assert.ok(file.kind === "file");
    assert.deepEqual([file.text, file.bytes, file.left], ["one\n2", 12, 7]);
    await git("tag", "-a", "v1", "-m", "the first");
    const tag = await show(env, "v1");
    assert.ok(tag.kind === "tag" && tag.message === "the first" && tag.tagger.startsWith("Grace <"));
    await write("a.txt", "zero\none\n2\nthree\n");
    const { origins } = await blame(env, "a.txt");
    assert.deepEqual(origins.map(({ from, to, subject, commit }) => [from, to, commit === null ? null : subject]), [
      [1, 1, null],
      [2, 2, "first"],
      [3, 3, "second"],
      [4, 4, "first"],
    ]);
    assert.equal((await blame(env, "a.txt", { ref: "HEAD", from: 2, to: 2 })).origins[0]?.text, "2");
  });
});

Deno.test("git.* in a repository without a commit", { ignore }, async () => {
  await repository(async ({ env, write }) => {
    await write("x.txt", "x\n");
    const { branch, commit: hash } = await status(env);
    assert.deepEqual([branch, hash], ["main", null]);
    assert.deepEqual(await log(env), { commits: [], left: 0 });
    assert.deepEqual((await listBranches(env)).branches, []);
    await assert.rejects(show(env), /the repository has no commit yet/);
    await assert.rejects(diff(env, { from: "HEAD" }), /the repository has no commit yet/);
    await assert.rejects(changeBranch(env, "x"), /the repository has no commit yet|not a valid/i);
    await add(env, ".");
    assert.equal((await diff(env, { staged: true })).total.files, 1);
    const made = await commit(env, "begin\n\nwith words");
    assert.deepEqual([made.subject, made.body, made.files, made.added, made.parents], [
      "begin",
      "with words",
      1,
      1,
      [],
    ]);
    assert.deepEqual([made.author.name, made.author.email], ["Ada", "ada@example.org"]);
  }, { begun: false });
});

Deno.test("git.* at a commit and on no branch", { ignore }, async () => {
  await repository(async ({ env, git }) => {
    await git("checkout", "-q", "--detach");
    assert.equal((await status(env)).branch, null);
    assert.equal((await listBranches(env)).current, null);
    await commit(env, "there", { allowEmpty: true });
    assert.equal((await changeBranch(env, "kept", { switch: true })).current, "kept");
    assert.equal((await log(env, { ref: "main..kept" })).commits.length, 1);
  });
});

Deno.test("git.status() and git.commit() in a merge with conflicts", { ignore }, async () => {
  await repository(async ({ env, git, write }) => {
    await git("switch", "-q", "-c", "side");
    await write("a.txt", "side\n");
    await git("commit", "-q", "-a", "-m", "side");
    await git("switch", "-q", "main");
    await write("a.txt", "main\n");
    await git("commit", "-q", "-a", "-m", "main");
    await git("merge", "side").catch(() => {});
    const { during, files, count } = await status(env);
    assert.deepEqual([during, files, count.conflicts], ["merge", [{ path: "a.txt", conflict: "both modified" }], 1]);
    const { files: [conflict] } = await diff(env);
    assert.deepEqual([conflict?.path, conflict?.status], ["a.txt", "conflict"]);
    assert.match(conflict?.hunks[0]?.text ?? "", /\+\+<<<<<<< HEAD/);
    await assert.rejects(
      commit(env, "merged"),
      /Cannot commit: conflicts remain in a\.txt; edit the files and git\.add them/,
    );
    await write("a.txt", "both\n");
    await add(env, "a.txt");
    assert.equal((await commit(env, "merged")).parents.length, 2);
    assert.equal((await status(env)).during, undefined);
  });
});

Deno.test("git.* with names that are not UTF-8, or hold anything else", { ignore }, async () => {
  await repository(async ({ env, workspace, git }) => {
    await Deno.writeTextFile(`${workspace}/tab\tquote"back\\`, "x\n");
    const made = await new Deno.Command("/usr/bin/perl", {
      args: ["-e", 'open(F, ">", "caf\\xe9.txt"); print F "x\\n"'],
      cwd: workspace,
    }).output();
    assert.equal(made.code, 0);
    const names = (await status(env)).files.map(({ path }) => path);
    assert.deepEqual(names, ['"caf\\351.txt"', 'tab\tquote"back\\']);
    await add(env, names);
    assert.equal((await git("status", "--porcelain")).split("\n").filter((line) => line.startsWith("A")).length, 2);
    assert.deepEqual((await diff(env, { staged: true })).files.map(({ path }) => path), names);
    await commit(env, "names");
    const shown = await show(env);
    assert.ok(shown.kind === "commit" && shown.total.files === 2);
  });
});

Deno.test("git.add() accepts the names of git.status(), staged removals too", { ignore }, async () => {
  await repository(async ({ env, git, write }) => {
    await git("rm", "-q", "a.txt");
    assert.deepEqual(await add(env, ["a.txt"]), { files: [], left: 0 });
    await write("new.txt", "x\n");
    const names = (await status(env)).files.map(({ path }) => path);
    assert.deepEqual(names.sort(), ["a.txt", "new.txt"]);
    assert.deepEqual((await add(env, names)).files, [{ path: "new.txt", change: "added" }]);
    await write("a.txt", "back\n");
    assert.equal((await add(env, "a.txt")).files.length, 1);
  });
});

Deno.test("git.diff() and git.show() give quoted names with a blank as they are", { ignore }, async () => {
  await repository(async ({ env, write }) => {
    const names = ['q" x.txt', "tab\t and.txt", "é ü.txt"];
    for (const name of names) await write(name, "x\n");
    await add(env, names);
    assert.deepEqual((await diff(env, { staged: true })).files.map(({ path }) => path).sort(), names);
    await commit(env, "odd");
    for (const name of names) await write(name, "y\n");
    assert.deepEqual((await diff(env)).files.map(({ path }) => path).sort(), names);
    const shown = await show(env);
    assert.deepEqual(shown.kind === "commit" && shown.files.map(({ path }) => path).sort(), names);
  });
});

Deno.test("git.show(), diff() and blame() decode files by a guess, which a note names", { ignore }, async () => {
  await repository(async ({ env, workspace, git }) => {
    const notes: string[] = [], noting = { ...env, note: (text: string) => void notes.push(text) };
    const latin = (text: string) => Uint8Array.from(text, (char) => char.charCodeAt(0));
    await Deno.writeFile(`${workspace}/l.txt`, latin("Größe\nund Übermaß\n"));
    await git("add", ".");
    await git("commit", "-q", "-m", "latin");
    await Deno.writeFile(`${workspace}/l.txt`, latin("Grüße\nund Übermaß\n"));
    const { files } = await diff(noting);
    assert.equal(files[0]?.hunks[0]?.text, "-Größe\n+Grüße\n und Übermaß");
    const whole = await show(noting, "HEAD:l.txt"), part = await show(noting, "HEAD:l.txt", { maxChars: 8 });
    assert.deepEqual(whole.kind === "file" && [whole.text, whole.left], ["Größe\nund Übermaß\n", 0]);
    assert.deepEqual(part.kind === "file" && [part.text, part.left], ["Größe\n", 12]);
    const shown = await show(noting);
    assert.equal(shown.kind === "commit" && shown.files[0]?.hunks[0]?.text, "+Größe\n+und Übermaß");
    assert.deepEqual((await blame(noting, "l.txt")).origins.map(({ text }) => text), ["Grüße", "und Übermaß"]);
    const said = (path: string) => `Vis guessed the encoding of ${path} (windows-1252)`;
    const object = said("HEAD:l.txt"), file = said("l.txt");
    assert.deepEqual(notes, [file, object, object, file, file]);
  });
});

Deno.test("git.* with a submodule", { ignore }, async () => {
  await repository(async ({ env, git, write }) => {
    await git("init", "-q", "sub");
    await git("-C", "sub", "commit", "-q", "--allow-empty", "-m", "inner");
    await git("add", "sub");
    await git("commit", "-q", "-m", "with a submodule");
    await write("sub/new.txt", "x\n");
    assert.deepEqual((await status(env)).files, []);
    await git("-C", "sub", "commit", "-q", "--allow-empty", "-m", "inner again");
    assert.deepEqual((await status(env)).files, [{ path: "sub", changed: "modified", submodule: true }]);
    assert.equal((await diff(env)).files[0]?.path, "sub");
    await commit(env, "newer", { all: true });
    const folder = await show(env, "HEAD:");
    assert.ok(folder.kind === "folder" && folder.entries.some(({ type }) => type === "submodule"));
  });
});

Deno.test("git.worktree() makes and removes worktrees, also the workspace itself", { ignore }, async () => {
  await repository(async ({ env, git, root, workspace, write }) => {
    const made = await changeWorktree(env, ".worktrees/try", { branch: "try" });
    assert.deepEqual(made.map(({ branch }) => branch), ["main", "try"]);
    assert.equal(await git("-C", ".worktrees/try", "status", "--porcelain"), "");
    assert.equal((await changeWorktree(env, ".worktrees/try", { remove: true })).length, 1);
    await assert.rejects(
      changeWorktree(env, ".worktrees/x", { from: "mian" }),
      /the repository has no mian \(the nearest (?:is|are) main, try/,
    );

    // The workspace is a worktree of a repository outside.
    await Deno.rename(workspace, `${root}/outside/main`);
    const user = (...args: string[]): Promise<string> => userGit(args, { root, cwd: `${root}/outside/main` });
    await user("worktree", "add", "-q", "-b", "linked", workspace);
    await write("a.txt", "in a worktree\n");
    assert.equal((await status(env)).branch, "linked");
    await add(env, "a.txt");
    const { commit: hash } = await commit(env, "from a worktree");
    assert.equal((await user("rev-parse", "linked")).trim(), hash);
    assert.equal((await log(env)).commits.length, 2);
    assert.equal((await listWorktrees(env)).length, 2);
    assert.equal((await changeBranch(env, "from/it", { switch: true })).current, "from/it");
    assert.equal((await switchTo(env, "linked")).branch, "linked");
    await write("a.txt", "more\n");
    assert.equal((await stash(env)).stashes.length, 1);
    assert.equal((await stash(env, { pop: true })).stashes.length, 0);
    await commit(env, "more", { all: true });
    assert.equal((await merge(env, "main", { noFf: true })).during, undefined);
    assert.equal((await rebase(env, "main")).subject, "more");
    assert.equal((await reset(env, "HEAD~1", { mode: "hard" })).undone, 1);
    assert.equal((await tag(env, "v1", { message: "x" })).tags.length, 1);
    const back = `${root}/outside/main/.git/worktrees/workspace/gitdir`;
    await Deno.writeTextFile(back, "/elsewhere/.git\n");
    await assert.rejects(status(env), /which does not name this folder as its worktree/);
    for (const own of ["own", ".git"]) { // An archive may contain such a folder.
      await Deno.remove(`${workspace}/.git`, { recursive: true });
      await Deno.mkdir(`${workspace}/${own}`);
      await Deno.writeTextFile(`${workspace}/${own}/HEAD`, "ref: refs/heads/main\n");
      await Deno.writeTextFile(`${workspace}/${own}/commondir`, `${root}/outside/main/.git\n`);
      if (own === "own") await Deno.writeTextFile(`${workspace}/.git`, "gitdir: own\n");
      await assert.rejects(
        log(env),
        /\.git points to \S+\/outside\/main\/\.git, which does not name this folder as its worktree/,
      );
    }
  });
});

Deno.test(
  "what a request is told of uncommitted changes: counts, none, an unfinished merge, and nothing without an answer",
  { ignore },
  () =>
    repository(async ({ env, git, write }) => {
      const words = async (signal = new AbortController().signal) => await uncommittedWords(env, signal);
      assert.equal(await words(), " without changes");
      await write("a.txt", "changed\n");
      assert.equal(await words(), " with 1 changed file");
      await write("new/b.txt", "new\n");
      await write("c.txt", "new\n");
      assert.equal(await words(), " with 1 changed and 2 new files");
      await git("add", ".");
      assert.equal(await words(), " with 3 changed files");
      assert.equal(await words(AbortSignal.abort()), "");
      await git("commit", "-q", "-m", "second");
      await git("switch", "-q", "-c", "other", "HEAD~1");
      await write("a.txt", "other\n");
      await git("commit", "-q", "-a", "-m", "third");
      await git("merge", "-q", "main").catch(() => {});
      assert.match(await words(), /^ with \d+ changed files, during a merge$/);
    }),
);

Deno.test("a request does not wait for git where the index is large", { ignore }, () =>
  repository(async ({ env }) => {
    let commands = 0;
    const { spawn, workspace } = env;
    const counted: EnvironmentView = Object.create(env, {
      spawn: { value: (...call: Parameters<NonNullable<typeof spawn>>) => (commands++, spawn?.(...call)) },
    });
    const says = async () => typeof extension.prompt === "function" ? await extension.prompt(counted) : "";
    assert.match(await says(), /on branch main/);
    assert.ok(commands > 0);
    commands = 0;
    await Deno.truncate(`${workspace}/.git/index`, 3 << 20);
    assert.match(await says(), /on branch main, as data/);
    assert.equal(commands, 0);
  }));
