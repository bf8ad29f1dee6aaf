import assert from "node:assert/strict";
import { join } from "node:path";
import fs from "../../../extensions/fs/mod.ts";
import git from "../../../extensions/git/mod.ts";
import shell from "../../../extensions/shell/mod.ts";
import { type EnvironmentView, type Extension, validate } from "../../../src/extension/mod.ts";
import { LinuxWall } from "../../../src/processes/linux/linux_wall.ts";
import { missing, repository, type TestRepository, userGit } from "./_repository.ts";

interface Folder extends TestRepository {
  readonly api: string;
  readonly view: EnvironmentView;
  readonly asked: string[];
  readonly diffs: string[];
  // deno-lint-ignore no-explicit-any
  call(name: string, ...args: unknown[]): Promise<any>;
}

function subfolder(
  name: string,
  test: (folder: Folder) => Promise<void>,
  { answer = false, ignore = false } = {},
): void {
  const run = () =>
    repository(async (there) => {
      const api = join(there.workspace, "packages/api"), asked: string[] = [], diffs: string[] = [];
      await there.write("packages/api/src/app.ts", "one\n");
      await there.write("packages/web/b.ts", "needle\n");
      await there.write(".gitignore", "*.log\n.env\n");
      await there.write(".env", "KEY=sk-root\n");
      await there.git("add", ".");
      await there.git("commit", "-q", "-m", "second");
      const wall = new LinuxWall({
        home: join(there.root, "home"),
        visHome: join(there.root, "home/.vis"),
        read: [],
        network: false,
        secrets: [".env*"],
        env: { PATH: "/usr/local/bin:/usr/bin:/bin" },
        temporary: join(there.root, "temporary"),
      });
      const view: EnvironmentView = {
        ...there.env,
        workspace: api,
        root: there.workspace,
        secrets: [".env*"],
        note: () => {},
        programWalls: () => wall.walls(),
        spawn: (argv, options = {}) => wall.spawn(api, argv, { ...options, root: there.workspace }),
        home: join(there.root, "home/.vis"),
        approve: ({ what }) => {
          asked.push(what);
          return Promise.resolve({ allowed: answer, reason: "the user refused" });
        },
        openRoot: (what, { exact, change = exact } = {}) => {
          if (what === null) return Promise.resolve({ allowed: false, reason: "nobody was asked" });
          asked.push(change === undefined ? what : `${what}: ${change}`);
          return Promise.resolve({ allowed: answer, reason: "the user refused" });
        },
        changedFile: (diff) => void diffs.push(diff),
        watchFiles: (options = {}) => fs.watchFiles?.(view, options) ?? null,
      };
      const call: Folder["call"] = async (path, ...args) => {
        const [space = "", symbol = ""] = path.split(".");
        const extension = ({ git, fs, shell } as unknown as Record<string, Extension>)[space];
        const found = validate(extension ?? git).symbols.find(({ name: one }) => one === symbol);
        if (found?.kind !== "function") throw new Error(`There is no ${path}`);
        const config = space === "git" ? view.config : { allow: [], deny: [] };
        const { args: given = args } = Object(await found.before?.({ env: { ...view, config }, fn: found.fn, args }));
        return await found.fn({ ...view, config }, ...given);
      };
      await test({ ...there, api, view, asked, diffs, call });
    });
  Deno.test({ name, ignore: ignore || missing !== "", fn: run });
}

subfolder("git works in a subfolder, with paths relative to it", async ({ call, write, git }) => {
  await write("packages/api/src/app.ts", "two\n");
  await write("packages/web/b.ts", "changed\n");
  await write("packages/api/new/x.ts", "new\n");
  const { branch, files } = await call("git.status");
  assert.equal(branch, "main");
  assert.deepEqual(files.map(({ path }: { path: string }) => path).sort(), ["../web/b.ts", "new/", "src/app.ts"]);
  assert.deepEqual((await call("git.diff", { paths: "src" })).files.map(({ path }: { path: string }) => path), [
    "src/app.ts",
  ]);
  assert.equal((await call("git.blame", "src/app.ts")).origins.length, 1);
  await assert.rejects(
    call("git.commit", "nothing"),
    /git\.add with the changed files \(src\/app\.ts, .*\.\.\/web\/b\.ts/,
  );
  assert.deepEqual((await call("git.add", ["src"])).files, [{ path: "src/app.ts", change: "modified" }]);
  await call("git.commit", "fix: two");
  assert.equal(await git("show", "--name-only", "--format=%s"), "fix: two\n\npackages/api/src/app.ts\n");
  assert.equal((await call("git.log", { paths: "src/app.ts" })).commits.length, 2);
});

subfolder("git.show and errors of git have paths from the workspace", async ({ call }) => {
  for (const name of ["HEAD:src/app.ts", "HEAD:./src/app.ts", "HEAD:packages/api/src/app.ts", ":src/app.ts"]) {
    assert.equal((await call("git.show", name)).text, "one\n", name);
  }
  assert.equal((await call("git.show", "HEAD:../web/b.ts")).text, "needle\n");
  assert.deepEqual((await call("git.show", "HEAD:")).entries, [{ path: "src", type: "folder" }]);
  assert.equal((await call("git.show", "HEAD")).kind, "commit");
  for (
    const [name, args, message] of [
      [
        "show",
        ["HEAD:src/ap.ts"],
        /^Error: Cannot show HEAD:src\/ap\.ts: there is no file src\/ap\.ts in HEAD \(the nearest .*src\/app\.ts/,
      ],
      ["add", ["src/ap.ts"], /^Error: Cannot add: there is no file src\/ap\.ts \(the nearest .*src\/app\.ts/],
      ["blame", ["src/ap.ts"], /^Error: Cannot blame src\/ap\.ts: there is no file src\/ap\.ts in HEAD/],
      ["restore", ["src/ap.ts"], /^Error: Cannot restore src\/ap\.ts: there is no file src\/ap\.ts/],
      ["commit", ["x", { paths: ["../web/c.ts"] }], /^Error: Cannot commit: there is no file \.\.\/web\/c\.ts/],
    ] as const
  ) {
    await assert.rejects(call(`git.${name}`, ...args), (error) => {
      assert.match(String(error), message);
      assert.doesNotMatch(String(error), /packages/);
      return true;
    });
  }
}, { answer: true });

subfolder("refusals, questions and notes of git have paths from the workspace", async (there) => {
  const { call, write, git, asked, workspace } = there;
  const refuses = async (name: string, args: readonly unknown[], message: RegExp): Promise<void> => {
    await assert.rejects(call(`git.${name}`, ...args), (error) => {
      assert.match(String(error), message);
      assert.doesNotMatch(String(error), /packages/);
      return true;
    });
  };
  await git("switch", "-q", "-c", "other");
  await write("packages/web/b.ts", "theirs\n");
  await git("commit", "-q", "-a", "-m", "theirs");
  await git("switch", "-q", "main");
  await write("packages/web/b.ts", "ours\n");
  await refuses("switch", ["other"], /it would overwrite uncommitted changes of \.\.\/web\/b\.ts/);
  await refuses("reset", ["HEAD", { mode: "hard" }], /uncommitted changes of \.\.\/web\/b\.ts would be lost/);
  await git("commit", "-q", "-a", "-m", "ours");
  assert.deepEqual((await call("git.merge", "other")).conflicts, [
    { path: "../web/b.ts", conflict: "both modified" },
  ]);
  await refuses("commit", ["x"], /conflicts remain in \.\.\/web\/b\.ts/);
  await refuses("merge", [{ continue: true }], /conflicts remain in \.\.\/web\/b\.ts/);
  await call("git.merge", { abort: true });
  await write("packages/web/.env.local", "KEY=1\n");
  await refuses("add", ["../web"], /git would store \.\.\/web\/\.env\.local, which may hold keys/);
  await Deno.remove(join(workspace, "packages/web/.env.local"));
  await git("mv", "packages/web/b.ts", "packages/web/c.ts");
  await refuses("stash", [{ paths: "../web/c.ts" }], /\.\.\/web\/b\.ts was renamed to \.\.\/web\/c\.ts/);
  await git("reset", "-q", "--hard");
  await git("init", "-q", "packages/web/own");
  await refuses("add", ["../web"], /^Error: Cannot add \.\.\/web\/own\/: another repository is there/);
  await Deno.remove(join(workspace, "packages/web/own"), { recursive: true });
  await git("rm", "-q", "packages/web/b.ts");
  await git("commit", "-q", "-m", "none");
  await write("packages/web/b.ts", "mine\n");
  await refuses("switch", ["other"], /it would overwrite or remove \.\.\/web\/b\.ts, which git does not track/);
  asked.length = 0;
  await call("git.stash", { paths: "../web", untracked: true });
  assert.match(asked.join(), /git\.stash\(\{"paths":"\.\.\/web","untracked":true\}\)$/);
}, { answer: true });

subfolder("git restores files of a subfolder without a question, and others after one", async (there) => {
  const { call, write, workspace, asked } = there;
  await write("packages/api/src/app.ts", "two\n");
  await write("packages/web/b.ts", "changed\n");
  assert.deepEqual((await call("git.restore", "src/app.ts")).files, ["src/app.ts"]);
  assert.deepEqual(asked, []);
  await assert.rejects(
    call("git.restore", "../web/b.ts"),
    /outside the workspace, and the user refused; the user can start Vis with --root/,
  );
  await assert.rejects(call("git.switch", "other", { create: true }), /outside the workspace/);
  assert.match(asked[0] ?? "", /^let git change files in all of .*\/workspace, the repository around the workspace/);
  assert.equal(await Deno.readTextFile(join(workspace, "packages/web/b.ts")), "changed\n");
});

subfolder("git changes the whole repository if the user allows it", async ({ call, asked, git }) => {
  assert.equal((await call("git.switch", "other", { create: true })).branch, "other");
  assert.equal(await git("branch", "--show-current"), "other\n");
  assert.equal(asked.length, 1);
}, { answer: true });

subfolder("fs reads the repository around a subfolder, and only that", async ({ call, root, asked }) => {
  await Deno.writeTextFile(join(root, "beside.txt"), "beside");
  assert.equal(await call("fs.readFile", "../../a.txt"), "one\ntwo\nthree\n");
  assert.equal((await call("fs.readFile", join(root, "workspace/a.txt"))).length, 14);
  assert.deepEqual(await call("fs.glob", "../web/*.ts"), ["../web/b.ts"]);
  assert.deepEqual(await call("fs.glob", "**/*.ts"), ["src/app.ts"]);
  const [hit] = await call("fs.grep", "needle", "../..");
  assert.deepEqual([hit.path, hit.line], ["../web/b.ts", 1]);
  assert.deepEqual(await call("fs.grep", "../needle"), []);
  assert.equal((await call("fs.stat", "../../a.txt")).path, "../../a.txt");
  await assert.rejects(call("fs.readFile", "../../../beside.txt"), /outside the workspace/);
  await assert.rejects(
    call("fs.readFile", "../../none.txt"),
    /^Error: Cannot read \.\.\/\.\.\/none\.txt: there is no such file or folder; the nearest existing folder is \.\.\/\.\./,
  );
  await assert.rejects(call("fs.readFile", "../../.env"), /may hold keys/);
  assert.match(asked[0] ?? "", /^read \.\.\/\.\.\/\.env, which may hold keys/);
});

subfolder("fs searches around a subfolder without what ignore files from the top down leave out", async (there) => {
  const { call, write } = there;
  await write("packages/.gitignore", "out/\n!kept.log\n");
  await write("packages/api/.gitignore", "/own.ts\n");
  for (const path of ["x.log", "kept.log", "out/a.ts", "own.ts", "sub/own.ts"]) {
    await write(`packages/api/${path}`, "needle\n");
    await write(`packages/web/${path}`, "needle\n");
  }
  const found = async (glob: string) => (await call("fs.glob", glob)).filter((path: string) => !path.endsWith(".js"));
  assert.deepEqual(await found("**"), [".gitignore", "kept.log", "src/app.ts", "sub/own.ts"]);
  assert.deepEqual(await found("../web/**"), [
    ...["../web/b.ts", "../web/kept.log", "../web/own.ts", "../web/sub/own.ts"],
  ]);
  assert.deepEqual(await found("../*/own.ts"), ["../web/own.ts"]);
  assert.deepEqual(await found("../api/**"), [".gitignore", "kept.log", "src/app.ts", "sub/own.ts"]);
  const hits = await call("fs.grep", "needle", { path: "..", glob: "*.ts" });
  assert.deepEqual(hits.map(({ path }: { path: string }) => path), [
    ...["sub/own.ts", "../web/b.ts", "../web/own.ts", "../web/sub/own.ts"],
  ]);
  const listed = await call("fs.listFiles", "..", { depth: 2 });
  assert.ok(!listed.some(({ path }: { path: string }) => /x\.log|out|^own/.test(path)), JSON.stringify(listed));
  assert.deepEqual(await call("fs.glob", "../web/*.log", { all: true }), ["../web/kept.log", "../web/x.log"]);
  const { changes } = await call("shell.run", "echo > new.log; echo > own.ts; echo > new.ts");
  assert.deepEqual(changes.added, ["new.ts"]);
});

subfolder("fs changes files around a subfolder only if the user allows it, and never what git obeys", async (there) => {
  const { call, asked, workspace } = there;
  await call("fs.readFile", "../web/b.ts");
  await assert.rejects(
    call("fs.writeFile", "../web/b.ts", "x"),
    /outside the workspace, and the user refused; the user can start Vis with --root/,
  );
  await assert.rejects(call("fs.move", "src/app.ts", "../web/app.ts"), /outside the workspace/);
  await assert.rejects(call("fs.remove", "../web/b.ts"), /outside the workspace/);
  await Deno.symlink("../web", join(workspace, "packages/api/web"));
  await assert.rejects(call("fs.writeFile", "web/new.ts", "x"), /outside the workspace/);
  assert.equal(asked.length, 4);
  assert.match(
    asked[0] ?? "",
    /^change \.\.\/web\/b\.ts in .*\/workspace, the repository around the workspace: --- \.\.\/web\/b\.ts\n\+{3} .*\n@@ -1 \+1 @@\n-needle\n\+x\n/,
  );
  await assert.rejects(call("fs.edit", "../web/b.ts", { old: "absent", new: "x" }), /absent/);
  assert.equal(asked.length, 4, "a change that is not possible needs no answer");
  await assert.rejects(call("fs.move", "../web/b.ts", "../web/c.ts"));
  assert.match(
    asked[4] ?? "",
    /^change \.\.\/web\/b\.ts, \.\.\/web\/c\.ts in .*, the repository around the workspace: --- \.\.\/web\/b\.ts\n\+{3} \/dev\/null\nthe call removes or moves the file\n--- \/dev\/null\n\+{3} \.\.\/web\/c\.ts\n@@ .*\n\+needle\n$/,
  );
  assert.equal(await Deno.readTextFile(join(workspace, "packages/web/b.ts")), "needle\n");
});

subfolder("fs changes files around a subfolder, shows and undoes it", async (there) => {
  const { call, diffs, workspace, view } = there;
  const text = (path: string) => Deno.readTextFile(join(workspace, path));
  await call("fs.readFile", "../web/b.ts");
  await call("fs.readFile", "src/app.ts");
  const changed = await call("fs.edit", [
    { path: "../web/b.ts", old: "needle", new: "pin" },
    { path: "src/app.ts", old: "one", new: "two" },
  ]);
  assert.deepEqual(changed.map(({ path }: { path: string }) => path), ["../web/b.ts", "src/app.ts"]);
  assert.equal(await text("packages/web/b.ts"), "pin\n");
  await call("fs.writeFile", "../core/new/x.ts", "new\n");
  await call("fs.move", "src/app.ts", "../core/app.ts");
  assert.equal(await text("packages/core/app.ts"), "two\n");
  const asked: string[] = [];
  const print = (line: string) => void asked.push(line);
  const undo = fs.cli?.find(({ name }) => name === "undo");
  const place = { print, workspace: view.workspace, root: workspace, home: view.home ?? null };
  assert.equal(await undo?.run({ scope: "request", list: true }, place as never), 0);
  assert.match(asked[0] ?? "", /"paths":\["\.\.\/core\/new\/x\.ts"\]/);
  await call("fs.undo", { steps: 3 });
  assert.equal(await text("packages/web/b.ts"), "needle\n");
  assert.equal(await text("packages/api/src/app.ts"), "one\n");
  await assert.rejects(text("packages/core/app.ts"));
  await assert.rejects(text("packages/core/new/x.ts"));
  for (const path of ["../../.git/config", "../../.vis/x", "../.git/x", "..", "../../HEAD/../.git/hooks/x"]) {
    await assert.rejects(call("fs.writeFile", path, "x"), /protected|the workspace is inside it/, path);
  }
  assert.equal(diffs.length, 8, "each call reports its changes");
}, { answer: true });

subfolder(
  "a command in a subfolder reads the repository without its keys, and changes only its folder",
  async (there) => {
    const { call, exists, workspace, api, asked } = there;
    const run = (command: string) => call("shell.run", command);
    const { stdout } = await run(
      "pwd; cat ../../a.txt; git log --format=%s; git rev-parse --show-toplevel; cat ../../.env",
    );
    assert.match(stdout, new RegExp(`^${api}\none\ntwo\nthree\nsecond\nfirst\n${workspace}\n`));
    assert.doesNotMatch(stdout, /sk-root/);
    for (
      const path of ["../../a.txt", "../web/b.ts", "../../.git/config", "../../.git/hooks/x", "../../.vis/x", "../.x"]
    ) {
      assert.notEqual((await run(`mkdir -p $(dirname ${path}); echo x >> ${path}`)).code, 0, path);
    }
    assert.equal((await run("echo y > own.txt && mkdir -p out && echo z > out/z")).code, 0);
    assert.ok(exists("workspace/packages/api/out/z"));
    // Git and Vis would obey these files in the folder in which the user started Vis.
    await run("git init -q .; mkdir -p .git .vis; echo x > .git/config; echo x > .vis/config.jsonc");
    assert.deepEqual(
      [".git/config", ".vis/config.jsonc"].filter((path) => exists(`workspace/packages/api/${path}`)),
      [],
    );
    await assert.rejects(call("shell.run", "cat ../../.env", { secrets: ["../../.env"] }), /the user refused/);
    await assert.rejects(call("shell.run", "true", { write: [".git"] }), /the user refused/);
    await assert.rejects(
      call("shell.run", "true", { write: ["../.."] }),
      /the user refused; the user can start Vis with --root/,
    );
    assert.match(
      asked.join("\n"),
      /read \.env, which .*\n.*change this repository's history.*\n.*change files in all of .*\/workspace, the .*: true/,
    );
    assert.equal((await run("git status --short")).stdout, "?? out/\n?? own.txt\n");
  },
);

subfolder("git in a command of a subfolder finds nothing new, and takes HEAD for a commit", async ({ call, api }) => {
  const { stdout, stderr } = await call(
    "shell.run",
    "git status --porcelain; git diff HEAD; git log -1 --format=%s HEAD; git show -s --format=%s HEAD",
  );
  assert.deepEqual([stdout, stderr], ["second\nsecond\n", ""]);
  assert.deepEqual(Array.from(Deno.readDirSync(api), ({ name }) => name), ["src"]);
});

subfolder("no command makes a subfolder a repository, whatever is there already", async ({ call, api, root, git }) => {
  await git("init", "-q", "--bare", join(root, "workspace/packages/bare.git"));
  const plant = `echo "ref: refs/heads/main" > HEAD; mkdir -p objects refs; echo ../bare.git > commondir
    printf '[core]\\n\\trepositoryFormatVersion = 0\\n\\tbare = false\\n\\tworktree = .\\n' > config`;
  const top = async () => await userGit(["rev-parse", "--show-toplevel"], { root, cwd: api });
  for (const there of [[], ["refs"], ["refs", "objects"], ["commondir"]]) {
    for (const name of there) await Deno.mkdir(join(api, name));
    await call("shell.run", plant);
    await call("shell.run", plant);
    assert.equal(await top(), `${root}/workspace\n`, there.join());
    for (const { name } of Deno.readDirSync(api)) await Deno.remove(join(api, name), { recursive: true });
  }
});

subfolder("a command changes no settings of a bare repository in which Vis was started", async (there) => {
  const { root, workspace } = there, bare = join(workspace, "packages/bare.git");
  await there.git("init", "-q", "--bare", bare);
  await Deno.mkdir(join(bare, "tree"));
  const wall = new LinuxWall({
    home: join(root, "home"),
    visHome: join(root, "home/.vis"),
    read: [],
    network: false,
    env: { PATH: "/usr/local/bin:/usr/bin:/bin" },
    temporary: join(root, "temporary"),
  });
  const command = "for f in config hooks/pre-receive HEAD new tree/new; do echo x >> $f; done";
  const { stderr } = await wall.spawn(bare, ["/bin/sh", "-c", command], { root: workspace });
  assert.equal(stderr.match(/Read-only file system/g)?.length, 4, stderr);
  assert.equal(await Deno.readTextFile(join(bare, "tree/new")), "x\n");
});

subfolder(
  "a command may change the repository around a subfolder if the user allows it, but not what git obeys",
  async (there) => {
    const { call, workspace } = there;
    const { code, changes } = await call(
      "shell.run",
      "echo x > ../../new.txt; echo y > ../web/b.ts; echo z > src/app.ts; echo x >> ../../.git/config",
      { write: ["../.."] },
    );
    assert.notEqual(code, 0);
    assert.deepEqual(changes, {
      files: 3,
      added: ["../../new.txt"],
      changed: ["../web/b.ts", "src/app.ts"],
      removed: [],
    });
    await call("fs.undo");
    assert.equal(await Deno.readTextFile(join(workspace, "packages/web/b.ts")), "needle\n");
    assert.equal(await Deno.readTextFile(join(workspace, "packages/api/src/app.ts")), "one\n");
    await call("fs.undo", { redo: true });
    assert.equal(await Deno.readTextFile(join(workspace, "new.txt")), "x\n");
    assert.doesNotMatch(await Deno.readTextFile(join(workspace, ".git/config")), /^x$/m);
  },
  { answer: true },
);

subfolder(
  "git in a command works in a submodule, and in a folder inside it",
  async ({ git, root, workspace, view }) => {
    const at = join(root, "other");
    await git("init", "-q", at);
    await git(
      "-C",
      at,
      "-c",
      "user.name=a",
      "-c",
      "user.email=a@b",
      "commit",
      "-q",
      "--allow-empty",
      "-m",
      "of the other",
    );
    await git("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", at, "lib");
    await Deno.mkdir(join(workspace, "lib/src"));
    const wall = new LinuxWall({
      home: join(root, "home"),
      visHome: join(root, "home/.vis"),
      read: [],
      network: false,
      env: { PATH: "/usr/local/bin:/usr/bin:/bin" },
      temporary: join(root, "temporary"),
    });
    assert.notEqual(view.root, undefined);
    const argv = ["git", "log", "--format=%s"];
    assert.equal((await wall.spawn(join(workspace, "lib"), argv)).stdout, "of the other\n");
    const inside = await wall.spawn(join(workspace, "lib/src"), argv, { root: join(workspace, "lib") });
    assert.equal(inside.stdout, "of the other\n");
  },
);

subfolder("an undo refuses changes of a hook that went into its commit", async ({ call, write, git, api }) => {
  const path = join(api, "src/app.ts");
  await write(".git/hooks/pre-commit", `#!/bin/sh\necho formatted >> ${path}; git add ${path}\n`, { mode: 0o755 });
  await write("packages/api/src/app.ts", "two\n");
  await git("add", ".");
  const { changes } = await call("git.commit", "formatted by a hook");
  assert.deepEqual(changes.changed, ["src/app.ts"]);
  await assert.rejects(call("fs.undo"), /^UndoRefused: Cannot undo: src\/app\.ts went into a git commit since$/);
  await call("fs.undo", { force: true });
  assert.equal(await Deno.readTextFile(path), "two\n");
}, { answer: true });

subfolder("git in a command works in a repository of another user", async ({ call, workspace }) => {
  await Deno.chown(workspace, 12345, 12345);
  await Deno.chown(join(workspace, ".git"), 12345, 12345);
  const { stdout, stderr } = await call("shell.run", "git log --format=%s");
  assert.equal(stdout, "second\nfirst\n", stderr);
}, { ignore: Deno.build.os === "windows" || Deno.uid() !== 0 }); // Only root can change the owner of files.

subfolder(
  "root in the workspace of another user changes it, and leaves files that belong to that user",
  async (there) => {
    const { call, workspace, api } = there;
    for await (const path of walked(workspace)) await Deno.chown(path, 12345, 12345);
    await call("fs.writeFile", "new/deep/x.ts", "x\n");
    await call("fs.readFile", "src/app.ts");
    await call("fs.edit", "src/app.ts", { old: "one", new: "two" });
    const { stdout, stderr } = await call(
      "shell.run",
      "mkdir made; echo y > made/y; echo z >> src/app.ts; id -u; id -g; id -G",
    );
    assert.equal(stdout, "12345\n12345\n12345\n", stderr);
    await call("git.add", ["src/app.ts", "made"]);
    await call("git.commit", "of another user");
    for await (const path of walked(workspace)) assert.equal((await Deno.lstat(path)).uid, 12345, path);
    assert.equal(await Deno.readTextFile(join(api, "src/app.ts")), "two\nz\n");
  },
  { ignore: Deno.build.os === "windows" || Deno.uid() !== 0 },
);

async function* walked(folder: string): AsyncGenerator<string> {
  yield folder;
  for await (const { name, isDirectory } of Deno.readDir(folder)) {
    const path = join(folder, name);
    if (isDirectory) yield* walked(path);
    else yield path;
  }
}
