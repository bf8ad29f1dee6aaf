import assert from "node:assert/strict";
import { add, commit } from "../../../../extensions/git/commit.ts";
import { merge, pickCommits, rebase } from "../../../../extensions/git/merge_rebase.ts";
import { restore, stash } from "../../../../extensions/git/stash_reset.ts";
import { missing, repository, type TestRepository } from "../_repository.ts";

const ignore = missing !== "";

/** Makes a branch `side` with two commits, one of `b.txt` and one of `a.txt`, and `main` with another one of `a.txt`. */
async function diverged({ git, write }: TestRepository, { conflict = false } = {}): Promise<void> {
  await git("switch", "-q", "-c", "side");
  await write("b.txt", "side\n");
  await git("add", ".");
  await git("commit", "-q", "-m", "side b");
  await write("a.txt", "ONE\ntwo\nthree\n");
  await git("commit", "-q", "-a", "-m", "side a");
  await git("switch", "-q", "main");
  await write("a.txt", conflict ? "1\ntwo\nthree\n" : "one\ntwo\nTHREE\n");
  await git("commit", "-q", "-a", "-m", "main a");
}

const text = ({ workspace }: TestRepository, path: string): Promise<string> =>
  Deno.readTextFile(`${workspace}/${path}`);
const subjects = async ({ git }: TestRepository): Promise<readonly string[]> =>
  (await git("log", "--first-parent", "--format=%s")).trim().split("\n");

Deno.test("git.merge() merges, fast-forwards, and squashes", { ignore }, async () => {
  await repository(async (there) => {
    const { env, git } = there;
    await diverged(there);
    const before = (await git("rev-parse", "HEAD")).trim();
    const merged = await merge(env, "side");
    assert.deepEqual([merged.branch, merged.subject, merged.was, merged.uncommitted, merged.during], [
      "main",
      "Merge branch 'side' into main",
      before,
      0,
      undefined,
    ]);
    assert.equal(await text(there, "a.txt"), "ONE\ntwo\nTHREE\n");
    assert.equal((await git("log", "-1", "--format=%an %cn")).trim(), "Ada Ada");
    await git("reset", "-q", "--hard", before);
    const squashed = await merge(env, "side", { squash: true });
    assert.deepEqual([squashed.commit, squashed.uncommitted, squashed.next], [before, 2, "git.commit(message)"]);
    await commit(env, "all of side");
    await git("branch", "-q", "later", before);
    await git("switch", "-q", "later");
    assert.equal((await merge(env, "main", { ffOnly: true })).subject, "all of side");
    await git("reset", "-q", "--hard", before);
    assert.equal((await merge(env, "main", { noFf: true, message: "joined" })).subject, "joined");
    await assert.rejects(
      merge(env, "mian"),
      /Cannot merge mian: the repository has no mian \(the nearest (?:is|are) main, side, later/,
    );
    await assert.rejects(merge(env, "side", { ffOnly: true, squash: true }), /exclude each other/);
  });
});

Deno.test("git.merge() returns conflicts as data, and how to continue", { ignore }, async () => {
  await repository(async (there) => {
    const { env, git, write } = there;
    await diverged(there, { conflict: true });
    const stopped = await merge(env, "side");
    assert.deepEqual([stopped.during, stopped.conflicts], ["merge", [{ path: "a.txt", conflict: "both modified" }]]);
    assert.match(await text(there, "a.txt"), /^<<<<<<< HEAD\n1\n=======\nONE\n>>>>>>> side\n/);
    assert.match(
      stopped.next ?? "",
      /^edit the files, git\.add them, then git\.commit\(message\), or git\.merge\(\{abort/,
    );
    await assert.rejects(
      merge(env, "side"),
      /Cannot merge side: a merge is unfinished; edit the files,.* git\.commit\(message\), or git\.merge\(\{abort: true\}\)/,
    );
    await assert.rejects(rebase(env, "side"), /a merge is unfinished/);
    await assert.rejects(stash(env), /a merge is unfinished/);
    await assert.rejects(
      merge(env, { continue: true }),
      /Cannot continue the merge: conflicts remain in a\.txt; edit/,
    );
    await write("a.txt", "half done\n");
    const given = await merge(env, { abort: true });
    assert.deepEqual([given.during, given.subject, await text(there, "a.txt")], [
      undefined,
      "main a",
      "1\ntwo\nthree\n",
    ]);
    assert.equal(await git("show", `${given.saved}:a.txt`), "half done\n");
    await assert.rejects(merge(env, { abort: true }), /Cannot abort the merge: no merge is unfinished/);

    await merge(env, "side");
    for (const mark of [() => add(env, "a.txt"), () => commit(env, "half", { all: true })]) {
      await assert.rejects(mark(), /Cannot (?:add|commit) a\.txt: line 1 is a conflict marker; edit the conflict/);
    }
    await restore(env, "a.txt", { from: "MERGE_HEAD" });
    assert.equal(await text(there, "a.txt"), "ONE\ntwo\nthree\n");
    await add(env, "a.txt");
    const done = await merge(env, { continue: true });
    assert.deepEqual([done.during, done.subject, done.conflicts], [
      undefined,
      "Merge branch 'side' into main",
      undefined,
    ]);
  });
});

Deno.test("git.rebase() moves commits, stops at conflicts, and continues or aborts", { ignore }, async () => {
  await repository(async (there) => {
    const { env, git, write } = there;
    await diverged(there, { conflict: true });
    await git("switch", "-q", "side");
    const before = (await git("rev-parse", "HEAD")).trim();
    const stopped = await rebase(env, "main");
    assert.deepEqual([stopped.during, stopped.conflicts?.length, stopped.was], ["rebase", 1, before]);
    assert.match(
      stopped.next ?? "",
      /then git\.rebase\(\{continue: true\}\), or git\.rebase\(\{abort: true\}\), \{skip: true\}/,
    );
    assert.equal((await rebase(env, { abort: true })).commit, before);
    await rebase(env, { onto: "main" });
    await write("a.txt", "both\n");
    await add(env, "a.txt");
    const done = await rebase(env, { continue: true });
    assert.deepEqual([done.during, done.branch, done.was], [undefined, "side", before]);
    assert.deepEqual(await subjects(there), ["side a", "side b", "main a", "first"]);
    assert.equal((await git("log", "-1", "--format=%an %cn")).trim(), "Grace Ada");
    await git("reset", "-q", "--hard", before);
    await rebase(env, "main");
    assert.equal((await rebase(env, { skip: true })).was, before);
    assert.deepEqual(await subjects(there), ["side b", "main a", "first"]);
    await git("reset", "-q", "--hard", before);
    await rebase(env, "main", { from: "HEAD~1" }).catch(() => {});
    await rebase(env, { abort: true });
    await write("a.txt", "uncommitted\n");
    await assert.rejects(
      rebase(env, "main"),
      /the workspace has uncommitted changes; git\.commit or git\.stash them first/,
    );
    assert.equal(await text(there, "a.txt"), "uncommitted\n");
  });
});

Deno.test("a continued git.cherryPick() reports the branch's commit before its first step", { ignore }, async () => {
  await repository(async (there) => {
    const { env, git, write } = there;
    await diverged(there, { conflict: true });
    const before = (await git("rev-parse", "HEAD")).trim();
    await pickCommits(env, "cherry-pick", "main..side");
    await write("a.txt", "both\n");
    await add(env, "a.txt");
    const done = await pickCommits(env, "cherry-pick", { continue: true });
    assert.deepEqual([done.subject, done.was], ["side a", before]);
  });
});

Deno.test("git.cherryPick() and git.revert() take commits, lists and ranges", { ignore }, async () => {
  await repository(async (there) => {
    const { env, git, write, exists } = there;
    await diverged(there);
    await pickCommits(env, "cherry-pick", "main..side");
    assert.deepEqual(await subjects(there), ["side a", "side b", "main a", "first"]);
    assert.equal((await git("log", "-1", "--format=%an %cn")).trim(), "Grace Ada");
    await pickCommits(env, "revert", ["HEAD", "HEAD~1"]);
    assert.equal(exists("workspace/b.txt"), false);
    assert.deepEqual((await subjects(there)).slice(0, 2), ['Revert "side b"', 'Revert "side a"']);
    const kept = await pickCommits(env, "cherry-pick", "side~1", { noCommit: true });
    assert.deepEqual([kept.uncommitted, kept.next], [1, "git.commit(message)"]);
    await git("reset", "-q", "--hard");
    await write("a.txt", "else\n");
    await commit(env, "else", { all: true });
    const stopped = await pickCommits(env, "cherry-pick", "side");
    assert.deepEqual([stopped.during, stopped.conflicts?.length], ["cherry-pick", 1]);
    await assert.rejects(
      pickCommits(env, "revert", { abort: true }),
      /a cherry-pick is unfinished instead; .*git\.cherryPick\(\{continue: true\}\)/,
    );
    assert.equal((await pickCommits(env, "cherry-pick", { skip: true })).during, undefined);
    await pickCommits(env, "cherry-pick", "side");
    await write("a.txt", "mine\n");
    await add(env, "a.txt");
    assert.equal((await pickCommits(env, "cherry-pick", { continue: true })).subject, "side a");
    await git("switch", "-q", "--detach", "side");
    const empty = await pickCommits(env, "cherry-pick", "side");
    assert.deepEqual([empty.during, empty.conflicts], ["cherry-pick", undefined]);
    assert.match(empty.why ?? "", /empty/);
    assert.equal((await pickCommits(env, "cherry-pick", { abort: true })).during, undefined);
    await assert.rejects(pickCommits(env, "cherry-pick", "side..side"), /no commit is in the range/);
  });
});

Deno.test("git.cherryPick() and git.revert() without a change name working ways on", { ignore }, async () => {
  const ways = (name: string): RegExp =>
    new RegExp(
      `^git\\.${name}\\({skip: true}\\) to omit the commit, ` +
        `git\\.commit\\(message, {allowEmpty: true}\\) to keep it, or git\\.${name}\\({abort: true}\\)$`,
    );
  await repository(async (there) => {
    const { env, git, write } = there;
    // Git takes this value only for git.commit, and otherwise prints a warning.
    await git("config", "commit.cleanup", "default");
    await diverged(there, { conflict: true });
    await git("switch", "-q", "side");
    await git("tag", "v1");
    const empty = "no change is left, so the new commit would be empty";
    for (const again of ["skip", "keep"]) {
      const stopped = await pickCommits(env, "cherry-pick", ["v1", "main"]);
      assert.deepEqual([stopped.during, stopped.why], ["cherry-pick", empty]);
      assert.match(stopped.next ?? "", ways("cherryPick"));
      assert.deepEqual(await pickCommits(env, "cherry-pick", { continue: true }), stopped);
      await assert.rejects(
        commit(env, "x"),
        /Cannot commit: no change is left, .*; git\.cherryPick\(\{skip: true\}\)/,
      );
      if (again === "keep") {
        await commit(env, "an empty commit", { allowEmpty: true });
        await assert.rejects(
          merge(env, "main"),
          /a cherry-pick is unfinished; git\.cherryPick\(\{continue: true\}\), or git\.cherryPick\(\{abort: true\}\)$/,
        );
        assert.equal((await pickCommits(env, "cherry-pick", { continue: true })).conflicts?.length, 1);
      } else {
        assert.equal((await pickCommits(env, "cherry-pick", { skip: true })).conflicts?.length, 1);
      }
      const ended = await pickCommits(env, "cherry-pick", { abort: true });
      assert.deepEqual([ended.during, ended.subject], [undefined, "side a"]);
    }

    await pickCommits(env, "revert", "v1");
    await assert.rejects(pickCommits(env, "revert", "v1"), { message: `Cannot revert v1: ${empty}` });
    const between = await pickCommits(env, "revert", ["v1", "HEAD"]);
    assert.deepEqual([between.during, between.why], ["revert", empty]);
    assert.equal(between.next, "git.revert({skip: true}) to omit the commit, or git.revert({abort: true})");
    await assert.rejects(
      pickCommits(env, "revert", { continue: true }),
      /git did not apply its next commit; git\.revert\(\{skip/,
    );
    assert.equal((await pickCommits(env, "revert", { skip: true })).during, undefined);
    assert.equal(await text(there, "a.txt"), "ONE\ntwo\nthree\n");
    await write("a.txt", "else\n");
    await commit(env, "else", { all: true });
    await pickCommits(env, "revert", "v1");
    await restore(env, "a.txt", { from: "HEAD" });
    await add(env, "a.txt");
    const resolved = await pickCommits(env, "revert", { continue: true });
    assert.match(resolved.next ?? "", ways("revert"));
    assert.equal((await pickCommits(env, "revert", { skip: true })).subject, "else");
  });
});

Deno.test("git.cherryPick() of several commits omits no commit that git did not apply", { ignore }, async () => {
  await repository(async (there) => {
    const { env, write } = there;
    await diverged(there);
    await write("a.txt", "uncommitted\n");
    const stopped = await pickCommits(env, "cherry-pick", "main..side");
    assert.deepEqual([stopped.during, stopped.subject], ["cherry-pick", "side b"]);
    assert.equal(stopped.why, "it would overwrite uncommitted changes of a.txt");
    await assert.rejects(pickCommits(env, "cherry-pick", { continue: true }), /git did not apply its next commit/);
    assert.equal((await pickCommits(env, "cherry-pick", { abort: true })).subject, "main a");
    assert.equal(await text(there, "a.txt"), "uncommitted\n");
  });
});

Deno.test("git.cherryPick() and git.revert() explain how to take a merge", { ignore }, async () => {
  await repository(async (there) => {
    const { env, exists } = there;
    await diverged(there);
    await merge(env, "side");
    const refused = /the commit is a merge; pass \{mainline: 1\} for its changes against its first parent$/;
    await assert.rejects(pickCommits(env, "cherry-pick", "HEAD"), refused);
    await assert.rejects(pickCommits(env, "revert", "HEAD"), refused);
    await assert.rejects(pickCommits(env, "revert", "HEAD~2..HEAD"), /: [0-9a-f]{7} is a merge; pass \{mainline: 1\}/);
    await assert.rejects(
      pickCommits(env, "revert", "HEAD", { mainline: 3 }),
      /Cannot revert HEAD: mainline is 3, and the commit has 2 parents/,
    );
    assert.equal((await pickCommits(env, "revert", "HEAD", { mainline: 1 })).during, undefined);
    assert.equal(exists("workspace/b.txt"), false);
  });
});

Deno.test(
  "the ends of a range have similar names, and each conflict has a name of its other side",
  { ignore },
  async () => {
    await repository(async (there) => {
      const { env, git } = there;
      await diverged(there, { conflict: true });
      await assert.rejects(
        pickCommits(env, "cherry-pick", "main..sida"),
        /Cannot cherry-pick main\.\.sida: the repository has no sida \(the nearest (?:is|are) side/,
      );
      const other = async (name: string, began: Promise<unknown>): Promise<string> => {
        await began;
        if (name !== "MERGE_HEAD") {
          await assert.rejects(
            restore(env, "a.txt", { from: "MERGE_HEAD" }),
            new RegExp(`the repository has no MERGE_HEAD; ${name} is the other side of a conflict`),
          );
        }
        await restore(env, "a.txt", { from: name });
        const restored = await text(there, "a.txt");
        await git("reset", "-q", "--hard", "main");
        await git("rebase", "--quit").catch(() => {});
        return restored;
      };
      const ofSide = "ONE\ntwo\nthree\n";
      assert.equal(await other("MERGE_HEAD", merge(env, "side")), ofSide);
      assert.equal(await other("CHERRY_PICK_HEAD", pickCommits(env, "cherry-pick", "side")), ofSide);
      assert.equal(await other("REVERT_HEAD~1", pickCommits(env, "revert", "side")), "one\ntwo\nthree\n");
      assert.equal(await other("REBASE_HEAD", rebase(env, "side")), "1\ntwo\nthree\n");
    });
  },
);

Deno.test("no merge, rebase, pick or stash overwrites a file that git ignores", { ignore }, async () => {
  await repository(async (there) => {
    const { env, git, write } = there;
    await git("switch", "-q", "-c", "side");
    await write("local/keys.txt", "of the branch\n");
    await write("settings", "of the branch\n");
    await git("add", ".");
    await git("commit", "-q", "-m", "files that others ignore");
    await write("other.txt", "x\n");
    await git("add", ".");
    await git("stash", "-q");
    await git("switch", "-q", "main");
    await write(".gitignore", "local\nsettings\n");
    await git("add", ".");
    await git("commit", "-q", "-m", "ignore them");
    await write("local/keys.txt", "mine\n");
    await write("settings/deep/file", "mine too\n");
    const refused =
      /it would overwrite or remove local\/keys\.txt, settings\/deep\/file, which git does not track; move/;
    await assert.rejects(merge(env, "side"), refused);
    await assert.rejects(rebase(env, "side"), refused);
    await assert.rejects(pickCommits(env, "cherry-pick", "side"), refused);
    assert.equal(await text(there, "local/keys.txt"), "mine\n");
    await git("merge", "-q", "side").catch(() => {});
    assert.equal(await text(there, "local/keys.txt"), "of the branch\n", "git alone overwrites it");
  });
});

const TODO = "git-rebase-todo";
const PLANTED: Readonly<Record<string, (folder: string, next: string) => Promise<void>>> = {
  "an exec line": (folder) => Deno.writeTextFile(`${folder}/${TODO}`, "exec touch ran\n"),
  "an x line": (folder) => Deno.writeTextFile(`${folder}/${TODO}`, "\tx touch ran\n"),
  "a strategy": async (folder, next) => {
    await Deno.writeTextFile(`${folder}/${TODO}`, `pick ${next} again\n`);
    await Deno.writeTextFile(`${folder}/strategy`, "evil");
  },
};

for (const [name, plant] of Object.entries(PLANTED)) {
  Deno.test(`git.rebase() does not continue with ${name} that another program wrote`, { ignore }, async () => {
    await repository(async (there) => {
      const { env, git, workspace, write, exists } = there;
      await diverged(there, { conflict: true });
      await git("switch", "-q", "side");
      await git("config", "alias.merge-evil", "!touch ran; false");
      await rebase(env, "main");
      await write("a.txt", "both\n");
      await add(env, "a.txt");
      const next = (await git("rev-parse", "side")).trim();
      await plant(`${workspace}/.git/rebase-merge`, next);
      for (const step of ["continue", "skip"] as const) {
        await assert.rejects(rebase(env, { [step]: true }), /leave it to the user/);
      }
      assert.equal(exists("workspace/ran"), false);
      await git("-c", "core.editor=true", "rebase", "--continue").catch(() => {});
      assert.equal(exists("workspace/ran"), true, "git alone runs it");
    });
  });
}
