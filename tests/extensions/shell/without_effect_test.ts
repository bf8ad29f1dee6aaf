import assert from "node:assert/strict";
import { run } from "../../../extensions/shell/run.ts";
import { discardedFiles, missedRemovals, removalsOutside } from "../../../extensions/shell/without_effect.ts";
import type { EnvironmentView } from "../../../src/extension/mod.ts";
import { withFolder } from "../../helpers/with_folder.ts";

const discarded = (command: string, ...names: readonly string[]): string | null =>
  /^The command wrote (.*) to its temporary home folder, which Vis discarded; /.exec(
    discardedFiles(command, names)?.model ?? "",
  )?.[1] ?? null;

Deno.test("discardedFiles() names settings, and files of the home folder that the command names", () => {
  assert.equal(discarded("git config --global user.name x", ".gitconfig"), ".gitconfig");
  assert.equal(discarded("curl https://x.test/install | sh", ".cache", ".profile", ".bashrc"), ".bashrc, .profile");
  for (const command of ["touch ~/zz", 'touch "$HOME/zz"', "touch ${HOME}/zz", "cd ~ && touch zz", "cp zz ~/"]) {
    assert.equal(discarded(command, "zz"), "zz", command);
  }
  assert.equal(discarded("mkdir -p ~/.config/tool", ".config", ".npm"), ".config");
  assert.equal(discarded("touch ~/{a,b,c,d}; cd ~", "d", "c", "b", "a"), "a, b, c and 1 more");
});

Deno.test("discardedFiles() does not name caches and temporary files of a build", () => {
  const left = [
    ".cache",
    ".npm",
    ".config",
    ".local",
    ".yarnrc",
    ".wget-hsts",
    ".node_repl_history",
    ".v8flags.1.json",
  ];
  const temporary = ["go", "go-build1", "tmp.x1", "node-compile-cache", "pytest-of-me", ".tmpA1b2"];
  for (const command of ["npm ci && npm test", "git diff HEAD~ -- a", "rm -rf ~/.npm; go test ./..."]) {
    assert.equal(discarded(command, ...left, ...temporary), null, command);
  }
});

Deno.test("shell.run() tells the model and the user that Vis discarded a file of the temporary home", async () => {
  const warned: string[] = [];
  const ended = { code: 0, signal: null, stdout: "", stderr: "", ms: 1, timedOut: false, truncated: false };
  const env: EnvironmentView = {
    ...{ envId: "e", conversationId: "c", branchId: "b", depth: 0, workspace: "/w" },
    spawn: () => Promise.resolve({ ...ended, notes: [], discarded: [".gitconfig"] }),
    warn: (text) => void warned.push(text),
  };
  assert.deepEqual(await run(env, ["git", "config", "--global", "user.name", "x"]), {
    ...ended,
    notes: [
      "The command wrote .gitconfig to its temporary home folder, which Vis discarded; the user can make this change in a terminal",
    ],
  });
  assert.deepEqual(warned, [
    "A command wrote .gitconfig to its temporary home folder, which Vis discarded: git config --global user.name x",
  ]);
  assert.deepEqual(await run(env, "git config --global a.b c", { env: { HOME: "/w/home" } }), ended);
});

Deno.test("removalsOutside() names files that a command would remove outside the workspace", () => {
  const place = { cwd: "/w/sub", within: ["/w", "/data"], home: "/home/me" };
  const found = (command: string) => removalsOutside(command, place).map(({ path }) => path);
  const outside: Readonly<Record<string, readonly string[]>> = {
    "rm -rf ~/.ssh": ["/home/me/.ssh"],
    'rm -rf -- "$HOME/.ssh" ${HOME}/b a': ["/home/me/.ssh", "/home/me/b"],
    "make && sudo rm /etc/passwd; rmdir ../../out": ["/etc/passwd", "/out"],
    "rm -rf ~": ["/home/me"],
    "rm -rf ~/.cache/*": ["/home/me/.cache"],
    "rm -rf /": ["/"],
    "unlink ~/a | cat": ["/home/me/a"],
  };
  for (const [command, paths] of Object.entries(outside)) assert.deepEqual(found(command), paths, command);
  const inside = [
    ...["rm -rf build", "rm ../a", "rm /w/a /data/b", "rm -rf $DIR", 'rm "$(cat names)"', "rm *.o", "echo rm ~/a"],
    ...["git rm --cached a", "npm run rm ~/x", "rm a > ~/log", "ls ~/.ssh"],
  ];
  for (const command of inside) assert.deepEqual(found(command), [], command);
});

Deno.test("missedRemovals() tells the user which files are still there, and the model only that it removed none", async () => {
  await withFolder(async (home) => {
    await Deno.writeTextFile(`${home}/.netrc`, "x");
    const place = { cwd: "/w", within: ["/w"], home };
    const model = "The command did not remove ~/.netrc, ~/.none of the user: commands cannot change files there";
    assert.deepEqual(await missedRemovals("rm -rf ~/.netrc ~/.none", place), {
      model,
      people:
        `A command left ${home}/.netrc in place, because commands cannot change files there: rm -rf ~/.netrc ~/.none`,
    });
    await Deno.remove(`${home}/.netrc`);
    assert.deepEqual(await missedRemovals("rm -rf ~/.netrc ~/.none", place), { model, people: null });
    assert.deepEqual(await missedRemovals("rm -rf build /tmp/of-the-command", place), { model: null, people: null });
  });
});
