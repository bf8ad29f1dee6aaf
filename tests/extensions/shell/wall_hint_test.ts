import assert from "node:assert/strict";
import { join } from "node:path";
import { withFolder } from "../../helpers/with_folder.ts";
import { wallHint } from "../../../extensions/shell/run.ts";

const hint = (output: string): string | null =>
  wallHint({ config: {}, workspace: "/home/me/project" }, output)?.model ?? null;

Deno.test("wallHint() names the repository below the workspace that a command could not change", () => {
  const fault = (path: string) => `fatal: Unable to create '${path}/index.lock': Read-only file system`;
  assert.match(
    hint(fault("/home/me/project/a/lib/.git")) ?? "",
    /repository a\/lib: \{write: \["a\/lib\/\.git"\]\} asks/,
  );
  assert.match(hint(fault("/home/me/project/.git")) ?? "", /\{write: \["\.git"\]\}/);
});

Deno.test("wallHint() finds the repository of a relative path where the command was", async () => {
  await withFolder(async (workspace) => {
    await Deno.mkdir(join(workspace, "lib/tools/.git"), { recursive: true });
    const view = { config: {}, workspace }, touched = "touch: cannot touch '.git/x': Read-only file system";
    const found = /cannot change the repository lib\/tools: \{write: \["lib\/tools\/\.git"\]\}/;
    for (const line of ["cd lib/tools && touch .git/x", "cd lib; (cd 'tools'; touch .git/x)"]) {
      assert.match(wallHint(view, touched, { line })?.model ?? "", found, line);
    }
    assert.match(wallHint(view, touched, { cwd: "lib/tools" })?.model ?? "", found);
    assert.match(wallHint(view, touched.replace(".git", "lib/tools/.git"))?.model ?? "", found);
    const config = "error: could not lock config file .git/config: Read-only file system";
    assert.match(wallHint(view, config, { line: "git -C lib/tools config a.b c" })?.model ?? "", found);
    assert.match(wallHint(view, touched)?.model ?? "", /git\.init\(\)/);
  });
});

Deno.test("wallHint() explains files that commands do not see, but not missing files", () => {
  for (const line of ["cat: /var/log/syslog: No such file or directory", "touch: /usr/x: Read-only file system"]) {
    assert.match(hint(line) ?? "", /see the system, toolchains, added folders, cwd and \$TMPDIR/, line);
  }
  const below = { config: {}, workspace: "/home/me/project/web", root: "/home/me/project" };
  const hinted = wallHint(below, "touch: /usr/x: Read-only file system")?.model ?? "";
  assert.match(
    hinted,
    /see the system, toolchains, added folders, the repository around cwd and \$TMPDIR, and write in cwd and/,
  );
  assert.match(hinted, /, as \{write: \["\.\."\]\} for all of its repository/);
  const open = wallHint(below, "touch: /usr/x: Read-only file system", { all: true, isWider: true });
  assert.match(
    open?.model ?? "",
    /and write in the repository, in the paths of write and \$TMPDIR only: \{write: \[path\]\} asks/,
  );
  assert.doesNotMatch(open?.model ?? "", /for all of its repository/);
  assert.match(open?.people ?? "", /and write in the repository, in allowed paths and \$TMPDIR only$/m);
  for (
    const line of ["cat: a/b: No such file or directory", "/home/me/project/src/a.ts: ENOENT", "ls: /usr/x: ENOENT"]
  ) {
    assert.equal(hint(line), null, line);
  }
});

Deno.test("wallHint() names --root to people if a command cannot write in the repository around the workspace", () => {
  const view = { config: {}, workspace: "/home/me/repo/packages/qs", root: "/home/me/repo" };
  for (
    const line of [
      "npm error enoent ENOENT: no such file or directory, mkdir '/home/me/repo/node_modules/ms'",
      "mkdir: cannot create directory '../../node_modules': Read-only file system",
      "bash: ../semver/index.js: Read-only file system",
      "EROFS: read-only file system, open '/home/me/repo/package-lock.json'",
    ]
  ) {
    const { people, option } = wallHint(view, line) ?? {};
    assert.match(
      people ?? "",
      /write in the workspace and \$TMPDIR only\n--root lets Vis change the whole repository$/,
      line,
    );
    assert.equal(option, "--root");
  }
  for (const line of ["touch: /usr/x: Read-only file system", "bash: /home/me/repo/packages/qs/x: Permission denied"]) {
    const { people, option } = wallHint(view, line) ?? {};
    assert.match(
      people ?? "",
      /\n--add-dir and the setting readFolders open more folders for reading and running$/,
      line,
    );
    assert.equal(option, undefined);
  }
  assert.equal(wallHint(view, "cat: /home/me/repo/none.txt: No such file or directory"), null);
  assert.equal(wallHint({ ...view, onlyReads: true }, "touch: ../x: Read-only file system")?.option, undefined);
});

Deno.test("wallHint() names git.init and the held names where a command cannot make or change a repository", async () => {
  await withFolder(async (workspace) => {
    const hint = (output: string) => wallHint({ config: {}, workspace }, output)?.model ?? "";
    assert.match(
      hint(`fatal: cannot copy 'x' to '${workspace}/.git/description': Read-only file system`),
      /git\.init\(\)/,
    );
    const held = {
      HEAD: ["touch: setting times of 'HEAD': Read-only file system", "bash: HEAD: Is a directory"],
      refs: ["mkdir: cannot create directory ‘refs’: File exists", "cp: cannot create directory './refs': File exists"],
    };
    for (const [name, outputs] of Object.entries(held)) {
      for (const output of outputs) {
        assert.match(hint(output), new RegExp(`Vis holds the name ${name} in cwd .* choose another name`), output);
      }
    }
    assert.equal(hint("fatal: ambiguous argument 'HEAD': unknown revision"), "");
    await Deno.mkdir(join(workspace, "refs"));
    for (const output of held.refs) assert.equal(hint(output), "", "the folder belongs to the user");
    await Deno.mkdir(join(workspace, ".git"));
    for (
      const line of [
        `fatal: Unable to create '${workspace}/.git/index.lock': Read-only file system`,
        "error: could not lock config file .git/config: Read-only file system",
        "mv: cannot move '.git' to 'old': Device or resource busy",
      ]
    ) assert.match(hint(line), /functions of git/, line);
  });
});

Deno.test("wallHint() names a read-only path of the workspace, and which call or person can change it", async () => {
  await withFolder(async (workspace) => {
    for (const folder of [".vis", ".git", "file", "sub"]) await Deno.mkdir(join(workspace, folder));
    for (const file of ["linked", "sub/linked"]) await Deno.writeTextFile(join(workspace, file), "");
    const hint = (output: string, cwd = "") => wallHint({ config: {}, workspace }, output, { cwd })?.model;
    const told = "Commands cannot change linked, which git or Vis obeys: fs.writeFile asks the user";
    assert.equal(hint("/bin/bash: line 1: linked: Read-only file system"), told);
    assert.equal(hint(`EROFS: read-only file system, open '${workspace}/linked'`), told);
    assert.equal(
      hint("rm: cannot remove 'linked': Read-only file system", "sub"),
      told.replace("linked", "sub/linked"),
    );
    assert.equal(
      hint("touch: cannot touch '.vis/new': Read-only file system"),
      "Commands cannot change .vis/new, which git or Vis obeys: the user can",
    );
    for (const path of [".git/HEAD", ".git/modules/a/refs", "sub/.git/commondir"]) {
      assert.match(hint(`rm: cannot remove '${path}': Read-only file system`) ?? "", /cannot change .*\.git/, path);
    }
    assert.match(hint("touch: cannot touch '/opt/x': Read-only file system") ?? "", /^Commands see the system/);
  });
});

Deno.test("wallHint() names the secret file that a command could not change or read", () => {
  const view = { config: {}, workspace: "/home/me/project", secrets: [".env*", "!.env.example"] };
  for (
    const line of [
      "bash: line 1: .env: Read-only file system",
      "rm: cannot remove '.env': Device or resource busy",
      "EROFS: read-only file system, open '/home/me/project/.env'",
    ]
  ) {
    const { model, people } = wallHint(view, line) ?? {};
    assert.equal(people, "Commands cannot change the secret file .env");
    assert.equal(model, `${people}: fs.writeFile or {secrets: [".env"]} asks the user`);
  }
  const unread = wallHint(view, `error: open("a/.env"): Permission denied\nerror: unable to index file 'a/.env'`);
  assert.equal(unread?.people, "Commands cannot read the secret file a/.env");
  assert.equal(
    unread.model,
    `${unread.people}: git add -A -- ':!*.env' leaves it out, and {secrets: ["a/.env"]} asks the user`,
  );
  assert.doesNotMatch(wallHint(view, "touch: /etc/.env: Read-only file system")?.people ?? "", /secret/);
  assert.doesNotMatch(
    wallHint(view, "mv: cannot move '.git' to '.env.example': Device or resource busy")?.people ?? "",
    /secret/,
  );
});

Deno.test("wallHint() explains an unresolved name only to a command without network", () => {
  const view = { config: {}, workspace: "/home/me/project" };
  const unresolved = "curl: (6) Could not resolve host: example.org";
  assert.equal(wallHint(view, unresolved, { network: true }), null);
  const quiet = "ERROR: Could not find a version that satisfies the requirement left (from versions: none)";
  assert.match(wallHint(view, quiet)?.model ?? "", /no network/);
  assert.match(wallHint(view, unresolved)?.model ?? "", /no network: \{network: true\} asks/);
  assert.equal(
    wallHint(view, unresolved)?.people,
    "Commands have no network\nvis config set shell.network true and a restart open the network for all commands",
  );
  const { model, people } = wallHint(view, unresolved, { loopback: true }) ?? {};
  assert.match(model ?? "", /^Commands reach only localhost: \{network: true\} asks the user for the network/);
  assert.match(people ?? "", /^Commands reach only localhost\n.* open the network for all commands$/);
});

Deno.test("wallHint() explains codes of quiet network programs, unless the command names a host of this machine", () => {
  const view = { config: {}, workspace: "/home/me/project" };
  const hinted = (line: string, codes: readonly number[], network = false) =>
    /no network/.test(wallHint(view, "", { line, codes, network })?.model ?? "");
  assert.ok(hinted("curl -s https://example.org", [6]));
  assert.ok(hinted("curl -s https://192.0.2.1 | jq .", [7, 0]));
  assert.ok(hinted("curl -sf https://example.org || wget -q https://example.org", [4]));
  assert.ok(!hinted("curl -s https://example.org", [6], true));
  assert.ok(!hinted("curl -sf https://example.org", [22]));
  assert.ok(!hinted("curl -s http://localhost:3000", [7]));
  assert.ok(!hinted("./my-curl.sh", [6]));
});

Deno.test("wallHint() explains that the localhost of commands has no servers of the user", () => {
  const hint = (output: string, facts: Parameters<typeof wallHint>[2]) =>
    wallHint({ config: {}, workspace: "/home/me/project" }, output, { loopback: true, ...facts })?.model ?? "";
  for (
    const output of [
      "curl: (7) Failed to connect to 127.0.0.1 port 7500 after 0 ms: Couldn't connect to server",
      "Error: connect ECONNREFUSED 127.0.0.1:5432",
      'psql: error: connection to server at "localhost" (::1), port 5432 failed: Connection refused',
      "Could not connect to Redis at localhost:6379: Connection refused",
    ]
  ) {
    assert.match(hint(output, { codes: [1] }), /^Commands have their own localhost.*\{network: true\}/, output);
    assert.equal(hint(output, { codes: [0] }), "");
    assert.equal(hint(output, { codes: [1], network: true }), "");
    assert.equal(hint(output, { codes: [1], loopback: false }), "");
  }
  assert.match(hint("", { line: "curl -s http://localhost:3000", codes: [7] }), /own localhost/);
});

Deno.test("wallHint() names git.push and git.fetch if a command could not reach a remote of git", () => {
  const hint = (line: string, output: string, codes = [128]) =>
    wallHint({ config: {}, workspace: "/home/me/project" }, output, { line, codes })?.model;
  const offline = "fatal: unable to access 'https://h.example/x.git/': Could not resolve host: h.example";
  assert.match(hint("git push origin main", offline) ?? "", /git\.push\(\) asks the user/);
  assert.match(hint("git status && git pull", "git@h.example: Permission denied (publickey).") ?? "", /git\.fetch\(\)/);
  assert.doesNotMatch(hint("git clone https://h.example/x.git", offline) ?? "", /git\.push|git\.fetch/);
  assert.equal(hint("git push origin main", "Everything up-to-date", [0]), undefined);
});
