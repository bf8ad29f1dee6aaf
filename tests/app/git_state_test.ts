import assert from "node:assert/strict";
import { readChanges, targetOf } from "../../src/app/terminal/git_state.ts";
import { reviewRequest, reviewTarget } from "../../src/domain/query/stored_query.ts";
import { withFolder } from "../helpers/with_folder.ts";

type Spawn = Parameters<typeof targetOf>[1]["spawn"];

const spawn: Spawn = async (_, [program = "", ...args]) => {
  const { code, stdout, stderr } = await new Deno.Command(program, { args }).output();
  const [out, err] = [stdout, stderr].map((bytes) => new TextDecoder().decode(bytes));
  return { code, stdout: out, stderr: err } as Awaited<ReturnType<Spawn>>;
};

const gitIn = (root: string) => async (...args: string[]): Promise<void> => {
  const own = ["-c", "user.name=a", "-c", "user.email=a@b.c", "-c", "commit.gpgsign=false"];
  assert.ok((await new Deno.Command("git", { args: ["-C", root, ...own, ...args] }).output()).success);
};

Deno.test("targetOf() refuses names that the repository surely lacks, and a workspace outside a repository", async () => {
  await withFolder(async (root) => {
    const git = gitIn(root);
    const programWalls = () => Promise.resolve({} as never);
    const at = (name: string, parts: object = {}) =>
      targetOf(name, { root, workspace: root, spawn, programWalls, ...parts });
    for (const name of ["main", ""]) {
      await assert.rejects(
        at(name, { root: null }),
        /^UsageError: Cannot review .*: the workspace is in no git repository; choose one in a repository$/,
      );
    }
    for (const name of ["mono", "libs/tools", "deep/er/lost"]) await git("init", "-q", `${root}/${name}`);
    await Deno.symlink("mono", `${root}/link`);
    await assert.rejects(at("", { root: null }), /in no git repository; start Vis in mono or libs\/tools \(--cwd\)$/);
    const atHome = { programWalls: () => Promise.reject(new Error("Cannot run commands: /home is your home folder")) };
    await assert.rejects(
      at("", atHome),
      /^UsageError: Cannot review the uncommitted changes, because Vis cannot run commands: \/home is your home folder$/,
    );
    assert.equal(await at("nosuch"), "nosuch"); // The folder is no repository, although Vis took it for one.
    await git("init", "-q", "-b", "main");
    const missing = /^UsageError: Cannot review \S+: the repository has no such branch, tag or commit; name another/;
    await assert.rejects(at("main"), missing);
    assert.equal(await at(""), "");
    await git("commit", "-q", "--allow-empty", "-m", "first");
    await git("tag", "v1");
    await git("branch", "20261130");
    for (const name of ["main", "HEAD", "v1", "main..HEAD", "main...v1", "..HEAD"]) assert.equal(await at(name), name);
    for (const name of ["nosuch", "HEAD~1", "main..nosuch", "--all", "HEAD:a"]) await assert.rejects(at(name), missing);
    assert.deepEqual(reviewTarget(reviewRequest(await at("20261130"))), { kind: "branch", name: "heads/20261130" });
    const fails: Spawn = () => Promise.reject(new Error("the wall is incomplete"));
    assert.equal(await at("nosuch", { spawn: fails }), "nosuch");
    assert.equal(await at("nosuch", { root: null, spawn: fails }), "nosuch");
  });
});

Deno.test("readChanges() shows the changes of each target, with untracked files, and leaves the repository alone", async () => {
  await withFolder(async (root) => {
    const git = gitIn(root);
    const write = (name: string, text: string) => Deno.writeTextFile(`${root}/${name}`, text);
    const changes = async (target: string): Promise<string> => {
      const found = reviewTarget(reviewRequest(target, "security only"));
      assert.ok(found);
      return await readChanges(found, { root, workspace: root, spawn }) ?? "none";
    };
    assert.equal(await changes(""), "none"); // The folder is no repository.
    await git("init", "-q", "-b", "main");
    await write("a.txt", "one\n");
    assert.match(await changes(""), /^ a\.txt \| 1 \+\n[^]*\+\+\+ b\/a\.txt\n@@ -0,0 \+1 @@\n\+one\n$/);
    await git("add", ".");
    await git("commit", "-q", "-m", "first");
    assert.equal(await changes(""), "");
    await git("switch", "-q", "-c", "work");
    await write("b.txt", "of the branch\n");
    await git("add", ".");
    await git("commit", "-q", "-m", "the reason");
    await write("a.txt", "ONE\n");
    await write("new ä.txt", "untracked\n");
    await write("b.bin", "a\0b");
    const index = await Deno.readFile(`${root}/.git/index`);
    const open = await changes("");
    for (const part of ["-one\n+ONE\n", "+++ b/new ä.txt", "+untracked\n", "b.bin differ"]) {
      assert.ok(open.includes(part));
    }
    assert.ok(!open.includes("of the branch"));
    const branch = await changes("main");
    for (const part of ["+ONE\n", "+untracked\n", "+of the branch\n"]) assert.ok(branch.includes(part));
    const commit = await changes("HEAD");
    assert.match(commit, /\n\nthe reason\n[^]*\+of the branch\n$/);
    assert.ok(!commit.includes("ONE"));
    for (const range of ["main..work", "main...", "HEAD~1..HEAD"]) {
      assert.match(await changes(range), /^ b\.txt \|[^]*\+of the branch\n$/);
    }
    for (const unknown of ["nosuch", "HEAD~9", "--output=x", "main..nosuch"]) {
      assert.equal(await changes(unknown), "none");
    }
    assert.deepEqual(await Deno.readFile(`${root}/.git/index`), index);
    const cut: Spawn = async (...asked) => ({ ...await spawn(...asked), truncated: true });
    const long = await readChanges({ kind: "commit", name: "HEAD" }, { root, workspace: root, spawn: cut });
    assert.match(long ?? "", /^\(Too long: only the beginning and the end .* one by one\)\n[^]*\+of the branch\n$/);
  });
});

Deno.test("readChanges() names each file from the workspace, in a folder of the repository too", async () => {
  await withFolder(async (root) => {
    const git = gitIn(root), workspace = `${root}/packages/a b`;
    const write = (name: string, text: string) => Deno.writeTextFile(`${root}/${name}`, text);
    const changes = async (target: string): Promise<string> => {
      const found = reviewTarget(reviewRequest(target));
      assert.ok(found);
      // Patterns of secret files mean paths from the workspace.
      const from: Spawn = (folder, argv, options, caller) => {
        assert.deepEqual([folder, options.root], [workspace, root]);
        return spawn(folder, argv, options, caller);
      };
      return await readChanges(found, { root, workspace, spawn: from }) ?? "none";
    };
    await git("init", "-q", "-b", "main");
    for (const folder of ["packages/a b/lib", "packages/c"]) await Deno.mkdir(`${root}/${folder}`, { recursive: true });
    await write("packages/a b/lib/in.js", "one\n");
    await write("packages/a b/old.js", "1\n2\n3\n4\n");
    await write("packages/c/beside.js", "one\n");
    await write("packages/c/old.js", "a\nb\nc\nd\n");
    await git("add", ".");
    await git("commit", "-q", "-m", "first");
    for (const file of ["packages/a b/lib/in.js", "packages/c/beside.js", "top.txt"]) await write(file, "two\n");
    await git("mv", "packages/c/old.js", "packages/c/new.js");
    await git("mv", "packages/a b/old.js", "packages/a b/new.js");
    const expected = [
      ...[" lib/in.js          | 2 +-", " old.js => new.js | 0", " ../c/beside.js", " ../../top.txt | 1 +"],
      ...["diff --git a/lib/in.js b/lib/in.js", "+++ b/lib/in.js", "rename from old.js", "rename to new.js"],
      ...["diff --git a/../c/beside.js b/../c/beside.js", "--- a/../c/beside.js"],
      ...["rename from ../c/old.js", "rename to ../c/new.js", "+++ b/../../top.txt"],
    ];
    const open = await changes("");
    const lines = (text: string) => text.split("\n").map((line) => line.replace(/ +\|.*/, ""));
    const missing = (text: string) => lines(expected.join("\n")).filter((line) => !lines(text).includes(line));
    assert.deepEqual(missing(open), [], open);
    assert.ok(!/packages/.test(open), open);
    await git("add", ".");
    await git("commit", "-q", "-m", "second");
    assert.equal(await changes(""), "");
    for (const target of ["HEAD", "HEAD~1..HEAD", "HEAD~1...HEAD", "HEAD~1..", "main"]) {
      const text = await changes(target);
      if (target === "main") assert.equal(text, "");
      else assert.deepEqual(missing(text), [], target);
    }
    assert.match(await changes("HEAD~1"), /\n\nfirst\n[^]* lib\/in\.js \|[^]* \.\.\/c\/beside\.js \|/);
  });
});

Deno.test("readChanges() begins with the list of all files, and ends with the diffs of lock files and built files", async () => {
  await withFolder(async (root) => {
    const git = gitIn(root), workspace = `${root}/lib`;
    const written = ["dist/a.js", "lib/dist/b.js", "lib/yarn.lock", "lib/z.js", "package-lock.json", "z.txt"];
    for (const folder of ["dist", "lib/dist"]) await Deno.mkdir(`${root}/${folder}`, { recursive: true });
    for (const name of written) await Deno.writeTextFile(`${root}/${name}`, "a\n | b\n");
    await git("init", "-q");
    for (const target of ["", "HEAD"]) {
      const found = reviewTarget(reviewRequest(target));
      assert.ok(found);
      const text = await readChanges(found, { root, workspace, spawn }) ?? "none";
      const names = [...text.matchAll(/^ (\S+) +\| |^diff --git a\/(\S+)|^( \d files? changed)/gm)];
      assert.deepEqual(names.map(([, listed, shown, counted]) => listed ?? shown ?? counted), [
        ...[
          "dist/b.js",
          "yarn.lock",
          "z.js",
          " 3 files changed",
          "../dist/a.js",
          "../package-lock.json",
          "../z.txt",
          " 3 files changed",
        ],
        ...["z.js", "../z.txt", "dist/b.js", "yarn.lock", "../dist/a.js", "../package-lock.json"],
      ]);
      assert.equal(text.match(/^\+ \| b$/gm)?.length, 6);
      await git("add", ".");
      if (target === "") await git("commit", "-q", "-m", "first");
    }
  });
});

Deno.test("reviewTarget() finds the target of each review, and no target in another request", () => {
  for (const name of ["", "main", "HEAD~2", "a1b2c3d", "main..HEAD", "origin/main...", "v1.0."]) {
    for (const instructions of ["", "security only"]) {
      assert.equal(reviewTarget(reviewRequest(name, instructions))?.name, name);
    }
  }
  assert.equal(reviewTarget(reviewRequest("HEADER"))?.kind, "branch");
  for (
    const text of ["", "Review this", "Review the commit a b.", "Review the changes .", "Please Review the commit x."]
  ) {
    assert.equal(reviewTarget(text), null);
  }
});
