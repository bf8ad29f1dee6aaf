/** Functions that discard or stash uncommitted work keep it, or refuse. */
import assert from "node:assert/strict";
import { changeBranch, switchTo, tag } from "../../../../extensions/git/branches.ts";
import { add, commit, init } from "../../../../extensions/git/commit.ts";
import { stateOutcome, status } from "../../../../extensions/git/status.ts";
import { reset, restore, stash } from "../../../../extensions/git/stash_reset.ts";
import { missing, repository, type TestRepository } from "../_repository.ts";

const ignore = missing !== "";
const text = ({ workspace }: TestRepository, path: string): Promise<string> =>
  Deno.readTextFile(`${workspace}/${path}`);

Deno.test("git.switch() goes to branches, tags and commits, and overwrites nothing", { ignore }, async () => {
  await repository(async (there) => {
    const { env, git, write } = there;
    const made = await switchTo(env, "fix", { create: true });
    assert.deepEqual([made.branch, made.subject, made.uncommitted], ["fix", "first", 0]);
    await write("a.txt", "fixed\n");
    await commit(env, "fixed", { all: true });
    await git("tag", "v1");
    assert.equal((await switchTo(env, "main")).branch, "main");
    assert.equal((await switchTo(env, "v1")).branch, null);
    assert.equal((await switchTo(env, "HEAD~1")).subject, "first");
    assert.equal((await switchTo(env, "more", { from: "fix" })).subject, "fixed");
    await assert.rejects(switchTo(env, "fix", { create: true }), /it already exists/);
    await assert.rejects(
      switchTo(env, "fixx"),
      /Cannot go to fixx: the repository has no fixx \(the nearest (?:is|are) fix.*pass \{create: true\} to make a branch of this name/,
    );
    await assert.rejects(
      switchTo(env, "HEAD:a.txt"),
      /Cannot go to HEAD:a\.txt: HEAD:a\.txt is a file; name a commit, branch or tag$/,
    );
    await git("tag", "-a", "noted", "HEAD:a.txt", "-m", "x");
    await assert.rejects(switchTo(env, "noted"), /noted is a tag of a file or folder; name a commit, branch or tag$/);
    await assert.rejects(
      switchTo(env, "x", { from: "mian" }),
      /the repository has no mian \(the nearest (?:is|are) main/,
    );
    await write("a.txt", "changed\n");
    await assert.rejects(
      switchTo(env, "main"),
      /it would overwrite uncommitted changes of a\.txt; git\.commit or git\.stash/,
    );
    await assert.rejects(changeBranch(env, "main", { switch: true }), /uncommitted changes of a\.txt/);
    assert.equal(await text(there, "a.txt"), "changed\n");
    await git("update-ref", "refs/remotes/origin/theirs", "main");
    await git("commit", "-q", "-a", "-m", "x");
    assert.deepEqual([(await switchTo(env, "theirs")).branch, (await status(env)).upstream], ["theirs", undefined]);
    await git("branch", "-q", "tracked");
    await git("switch", "-q", "-c", "ignoring");
    await git("switch", "-q", "tracked");
    await write("local.txt", "theirs\n");
    await git("add", ".");
    await git("commit", "-q", "-m", "local");
    await git("switch", "-q", "ignoring");
    await write(".gitignore", "local.txt\n");
    await write("local.txt", "mine\n");
    await assert.rejects(switchTo(env, "tracked"), /would overwrite or remove local\.txt, which git does not track/);
    await assert.rejects(reset(env, "tracked", { mode: "hard", force: true }), /local\.txt, which git does not track/);
    assert.equal(await text(there, "local.txt"), "mine\n");
  });
});

Deno.test("git.restore() restores files and keeps the discarded work", { ignore }, async () => {
  await repository(async (there) => {
    const { env, git, write, exists } = there;
    await write("b.txt", "b\n");
    await git("add", ".");
    await git("commit", "-q", "-m", "second");
    await write("a.txt", "changed\n");
    await Deno.remove(`${there.workspace}/b.txt`);
    const { files, saved } = await restore(env, ".");
    assert.deepEqual(files, ["a.txt", "b.txt"]);
    assert.equal(await git("show", `${saved}:a.txt`), "changed\n");
    assert.equal(await git("status", "--porcelain"), "");
    await write("a.txt", "staged\n");
    await add(env, "a.txt");
    assert.deepEqual(await restore(env, "a.txt", { staged: true }), { files: ["a.txt"], left: 0 });
    assert.deepEqual((await status(env)).files, [{ path: "a.txt", changed: "modified" }]);
    assert.deepEqual(await restore(env, "b.txt", { from: "HEAD~1" }), { files: ["b.txt"], left: 0 });
    assert.equal(exists("workspace/b.txt"), false);
    await assert.rejects(
      restore(env, "c.txt"),
      /Cannot restore c\.txt: there is no file c\.txt \(the nearest (?:is|are)/,
    );
    await assert.rejects(
      restore(env, "a.txt", { from: "mian" }),
      /the repository has no mian \(the nearest (?:is|are) main/,
    );
    await restore(env, ".");
    await stash(env, { apply: saved! });
    assert.equal(await text(there, "a.txt"), "changed\n");
  });
});

Deno.test("git.reset() refuses to lose work, and names the discarded files", { ignore }, async () => {
  await repository(async (there) => {
    const { env, git, write } = there;
    const first = (await git("rev-parse", "HEAD")).trim();
    await write("a.txt", "second\n");
    const { commit: second } = await commit(env, "second", { all: true });
    const soft = await reset(env, "HEAD~1", { mode: "soft" });
    assert.deepEqual([soft.commit, soft.was, soft.undone, soft.uncommitted, soft.lost], [first, second, 1, 1, []]);
    assert.equal((await status(env)).count.staged, 1);
    assert.equal((await reset(env)).uncommitted, 1);
    assert.equal((await status(env)).count.staged, 0);
    const hard = { to: second, mode: "hard" } as const;
    await assert.rejects(
      reset(env, hard),
      /uncommitted changes of a\.txt would be lost; git\.commit or git\.stash them, or pass \{force: true\}/,
    );
    await write("a.txt", "third\n");
    await write("new.txt", "new\n");
    const done = await reset(env, { ...hard, force: true });
    assert.deepEqual([done.commit, done.undone, done.lost], [second, 0, ["a.txt"]]);
    assert.deepEqual([await text(there, "a.txt"), await text(there, "new.txt")], ["second\n", "new\n"]);
    assert.equal(await git("show", `${done.saved}:a.txt`), "third\n");
    assert.ok(stateOutcome(done).text.endsWith(`, discarded work saved as ${done.saved?.slice(0, 7)}`));
    await assert.rejects(reset(env, "mian"), /the repository has no mian \(the nearest (?:is|are) main/);
  });
});

Deno.test("git.stash() stores work and restores it", { ignore }, async () => {
  await repository(async (there) => {
    const { env, git, write, exists } = there;
    await assert.rejects(stash(env), /Cannot stash: no tracked file has changed$/);
    await write("new.txt", "new\n");
    await assert.rejects(stash(env), /no tracked file has changed; pass \{untracked: true\} to include new files/);
    await write("a.txt", "changed\n");
    const put = await stash(env, { message: "half done", untracked: true });
    assert.deepEqual(put.stashes.map(({ message }) => message), ["On main: half done"]);
    assert.deepEqual([put.uncommitted, exists("workspace/new.txt")], [0, false]);
    await write("b.txt", "b\n");
    await git("add", ".");
    await write("a.txt", "other\n");
    assert.equal((await stash(env, { paths: "a.txt" })).stashes.length, 2);
    assert.equal(await text(there, "b.txt"), "b\n");
    assert.equal((await stash(env, { list: true })).stashes.length, 2);
    const back = await stash(env, { pop: 1 });
    assert.deepEqual([back.stashes.length, await text(there, "new.txt")], [1, "new\n"]);
    assert.equal(back.dropped, put.stashes[0]?.commit);
    await assert.rejects(stash(env, { pop: true }), /it would overwrite uncommitted changes of a\.txt/);
    await commit(env, "changed", { all: true });
    const conflict = await stash(env, { pop: true });
    assert.deepEqual([conflict.conflicts?.length, conflict.stashes.length, conflict.dropped], [1, 1, undefined]);
    assert.match(
      conflict.next ?? "",
      new RegExp(`git\\.stash\\(\\{drop: "${conflict.stashes[0]?.commit}"\\}\\) removes it`),
    );
    await assert.rejects(
      stash(env),
      /Cannot stash: files have conflicts; edit the files of git\.status\(\), then git\.add/,
    );
    await write("a.txt", "solved\n");
    await add(env, "a.txt");
    const { dropped, stashes } = await stash(env, { drop: true });
    assert.deepEqual([dropped?.length, stashes.length], [40, 0]);
    await assert.rejects(stash(env, { drop: 3 }), /Cannot drop a stash: the repository has no stash/);
    await assert.rejects(stash(env, { pop: true, drop: true }), /exclude each other/);
  });
});

Deno.test("git keeps no new file that may contain keys, in any way", { ignore }, async () => {
  await repository(async ({ env, git, write }) => {
    const asking = { ...env, secrets: [".env*"] };
    await write(".env", "# another text, as commands see it\n");
    await git("add", ".env");
    await write(".env", "the-secret\n");
    const refused = "git would store \\.env, which may hold keys; ";
    for (
      const call of [
        () => commit(asking, "x", { all: true }),
        () => commit(asking, "x", { paths: ".env" }),
        () => stash(asking),
        () => stash(asking, { untracked: true }),
      ]
    ) await assert.rejects(call, new RegExp(`${refused}leave the file out, or ask the user$`));
    for (const call of [() => restore(asking, ".env"), () => reset(asking, { mode: "hard", force: true })]) {
      await assert.rejects(call, new RegExp(`${refused}ask the user to unstage the file$`));
    }
  });
});

Deno.test("git.add() refuses repositories in the workspace", { ignore }, async () => {
  await repository(async ({ env, git, write }) => {
    await write("lib/x.txt", "x\n");
    await git("init", "-q", "lib");
    await git("init", "-q", "tools/deep/own");
    await write("tools/fine.txt", "x\n");
    await write("kept/.git/x", "not a repository\n");
    await write("kept/a.txt", "x\n");
    await assert.rejects(
      add(env, "lib"),
      /Cannot add lib\/: another repository is there; name other paths, or add the folder to \.gitignore/,
    );
    await assert.rejects(add(env, "."), /Cannot add .*tools\/deep\/own\//);
    await assert.rejects(add(env, "lib/x.txt"), /Cannot add/);
    await assert.rejects(add(env, "kept/a.txt"), /Cannot add kept\/: another repository is there/);
    await add(env, "tools/fine.txt");
    assert.equal((await git("ls-files", "-s")).includes("160000"), false);
  });
});

Deno.test("git.tag() makes, lists and deletes tags", { ignore }, async () => {
  await repository(async ({ env, git }) => {
    const head = (await git("rev-parse", "HEAD")).trim();
    await tag(env, "v1");
    const { tags } = await tag(env, "v2", { message: "The second\n\nwith words" });
    const sorted = tags.map(({ name, commit: at, message }) => [name, at, message]).sort();
    assert.deepEqual(sorted, [["v1", head, "first"], ["v2", head, "The second"]]);
    assert.match(await git("cat-file", "tag", "v2"), /tagger Ada <ada@example\.org>/);
    await assert.rejects(tag(env, "v1", { at: "HEAD" }), /Cannot make tag v1: it already exists/);
    await assert.rejects(
      tag(env, "v", { delete: true }),
      /the repository has no tag v \(the nearest (?:is|are) v1, v2\)$/,
    );
    await assert.rejects(tag(env, "v1", { delete: true, at: "HEAD" }), /Cannot delete tag v1: `delete` excludes `at`/);
    assert.deepEqual((await tag(env, "v2", { delete: true })).tags.map(({ name }) => name), ["v1"]);
  });
});

Deno.test("git.init() takes no hook from a template", { ignore }, async () => {
  await repository(async ({ env, bare, git, root, workspace, exists }) => {
    const hook = `${root}/outside/hooks/post-checkout`;
    await Deno.mkdir(`${root}/outside/hooks`);
    await Deno.writeTextFile(hook, "#!/bin/sh\n", { mode: 0o755 });
    await Deno.writeTextFile(`${root}/home/.gitconfig`, `[init]\n\ttemplateDir = ${root}/outside\n`);
    for (const view of [env, bare]) {
      await Deno.remove(`${workspace}/.git`, { recursive: true });
      await init(view);
      assert.equal(exists("workspace/.git/hooks"), false);
    }
    await Deno.remove(`${workspace}/.git`, { recursive: true });
    await git("init", "-q");
    assert.ok(exists("workspace/.git/hooks/post-checkout"), "the user's git takes it");
  });
});

Deno.test("git.init() makes a repository if no parent folder has one", { ignore }, async () => {
  await repository(async ({ env, git, workspace, exists, write }) => {
    await assert.rejects(init(env), /Cannot make a repository: the workspace already has \.git; call git\.status/);
    await Deno.mkdir(`${workspace}/sub`);
    await assert.rejects(init({ ...env, workspace: `${workspace}/sub` }), /the workspace is in the repository /);
    await assert.rejects(
      status({ ...env, workspace: `${workspace}/sub` }),
      /Cannot use git: the workspace is in the repository of .*\/workspace; ask the user to start Vis there/,
    );
    await Deno.remove(`${workspace}/.git`, { recursive: true });
    await Deno.mkdir(`${workspace}/.git`); // A Vis that was killed while a command ran leaves such a folder.
    await Deno.chmod(`${workspace}/.git`, 0o1755);
    await assert.rejects(
      status(env),
      /Cannot use git: no repository is in the workspace or above it; git\.init\(\) makes one/,
    );
    const made = await init(env);
    assert.deepEqual([made.branch, made.commit, exists("workspace/.git/hooks")], ["main", null, false]);
    await write("x.txt", "x\n");
    await add(env, "x.txt");
    await commit(env, "begin");
    assert.equal((await git("log", "--format=%s")).trim(), "begin");
    assert.equal(await git("status", "--porcelain", "-uno"), "");
  });
});

Deno.test("git.commit() takes a staged rename whole, and no stash has half of one", { ignore }, async () => {
  await repository(async ({ env, git, write }) => {
    const notes: string[] = [];
    const noting = { ...env, note: (text: string) => void notes.push(text) };
    const changes = async () => (await git("show", "--name-status", "--format=", "HEAD")).trim().split("\n");
    for (const name of ["1.txt", "2.txt"]) await write(`src/${name}`, `${name}\n`.repeat(9));
    await write("other.txt", "other\n");
    await git("add", ".");
    await git("commit", "-q", "-m", "begin");

    await git("mv", "a.txt", "b.txt");
    await write("other.txt", "not yet\n");
    await git("add", "other.txt");
    await assert.rejects(
      stash(env, { paths: "b.txt" }),
      /^Error: Cannot stash: a\.txt was renamed to b\.txt, and git stashes no half of a rename; git\.commit/,
    );
    await assert.rejects(stash(env, { paths: "a.txt" }), /Cannot stash: a\.txt was renamed to b\.txt/);
    assert.equal((await commit(noting, "by the new name", { paths: "b.txt" })).files, 1);
    assert.deepEqual(await changes(), ["R100\ta.txt\tb.txt"]);
    assert.deepEqual(notes, ["the commit also has the other names of renames: a.txt"]);

    await git("mv", "b.txt", "B.txt");
    await commit(env, "by the old name", { paths: ["b.txt"] });
    assert.deepEqual(await changes(), ["R100\tb.txt\tB.txt"]);

    await git("mv", "src", "lib");
    await commit(env, "a folder", { paths: "lib" });
    assert.deepEqual(await changes(), ["R100\tsrc/1.txt\tlib/1.txt", "R100\tsrc/2.txt\tlib/2.txt"]);

    await git("mv", "lib/1.txt", ".env");
    await write(".env", `${"1.txt\n".repeat(9)}KEY=secret\n`);
    await assert.rejects(
      commit({ ...env, secrets: [".env*"] }, "keys", { paths: "lib/1.txt" }),
      /Cannot commit: git would store \.env, which may hold keys/,
    );
    await git("reset", "-q", "--hard");

    await git("rm", "-q", "lib/2.txt");
    await Deno.remove(`${env.workspace}/lib/1.txt`);
    notes.length = 0;
    await commit(noting, "removed", { paths: ["lib/1.txt", "lib/2.txt"] });
    assert.deepEqual([await changes(), notes], [["D\tlib/1.txt", "D\tlib/2.txt"], []]);
    assert.deepEqual((await status(env)).files, []);
  });
});
