import assert from "node:assert/strict";
import { cp } from "node:fs/promises";
import { changeBranch, changeWorktree, switchTo, tag } from "../../../extensions/git/branches.ts";
import { add, commit, init } from "../../../extensions/git/commit.ts";
import { diff } from "../../../extensions/git/diff.ts";
import { blame, log, show } from "../../../extensions/git/history.ts";
import { merge, pickCommits, rebase } from "../../../extensions/git/merge_rebase.ts";
import { status } from "../../../extensions/git/status.ts";
import { reset, restore, stash } from "../../../extensions/git/stash_reset.ts";
import { LinuxWall } from "../../../src/processes/linux/linux_wall.ts";
import { cases } from "../../helpers/long_part.ts";
import { missing, repository, type TestRepository, userGit, viewOf } from "./_repository.ts";

const ignore = missing !== "";
const SECRET = "the-secret-of-another-repository";

async function other({ root }: TestRepository): Promise<string> {
  const cwd = `${root}/outside`;
  const git = (...args: string[]): Promise<string> => userGit(args, { root, cwd });
  await git("init", "-q", "-b", "main");
  await Deno.writeTextFile(`${cwd}/secret.txt`, SECRET);
  await git("add", ".");
  await git("commit", "-q", "-m", SECRET);
  return (await git("rev-parse", "HEAD")).trim();
}

async function seen({ env }: TestRepository, hash: string): Promise<boolean> {
  const calls = [
    () => log(env),
    () => show(env),
    () => show(env, hash),
    () => show(env, `${hash}:secret.txt`),
    () => status(env, { all: true }),
    () => blame(env, "secret.txt"),
    () => diff(env, { from: hash }),
  ];
  const results = await Promise.all(calls.map((call) => call().catch((error: unknown) => String(error))));
  return results.some((result) => JSON.stringify(result).includes(SECRET));
}

const LEADS: Readonly<Record<string, (there: TestRepository) => Promise<void>>> = {
  "a .git file": async ({ workspace, root }) => {
    await Deno.remove(`${workspace}/.git`, { recursive: true });
    await Deno.writeTextFile(`${workspace}/.git`, `gitdir: ${root}/outside/.git\n`);
  },
  commondir: async ({ workspace, root }) => {
    await Deno.writeTextFile(`${workspace}/.git/commondir`, `${root}/outside/.git\n`);
  },
  alternates: async ({ workspace, root }) => {
    await Deno.writeTextFile(`${workspace}/.git/objects/info/alternates`, `${root}/outside/.git/objects\n`);
  },
  "a .git file with ..": async ({ workspace }) => {
    await Deno.remove(`${workspace}/.git`, { recursive: true });
    await Deno.writeTextFile(`${workspace}/.git`, "gitdir: ../outside/.git\n");
  },
  "a link": async ({ workspace, root }) => {
    await Deno.remove(`${workspace}/.git`, { recursive: true });
    await Deno.symlink(`${root}/outside/.git`, `${workspace}/.git`);
  },
  "core.worktree": async ({ git, root, workspace }) => {
    await git("config", "core.worktree", `${root}/outside`);
    await Deno.writeTextFile(`${workspace}/.git/HEAD`, "ref: refs/heads/none\n");
  },
  "a link to its objects": async ({ workspace, root }) => {
    await Deno.remove(`${workspace}/.git/objects`, { recursive: true });
    await Deno.symlink(`${root}/outside/.git/objects`, `${workspace}/.git/objects`);
  },
  "a link of a folder": async ({ workspace, root }) => await Deno.symlink(`${root}/outside`, `${workspace}/inner`),
};

/** These attacks do not lead to its commits. */
const BY_STATUS = new Set(["core.worktree", "a link of a folder"]);

for (const [name, lead] of cases(3, Object.entries(LEADS))) {
  Deno.test(`git.* shows nothing of another repository that is led to by ${name}`, { ignore }, async () => {
    await repository(async (there) => {
      const hash = await other(there);
      await lead(there);
      if (!BY_STATUS.has(name)) {
        assert.equal(await there.git("show", `${hash}:secret.txt`), SECRET, "the user's git follows");
      }
      assert.equal(await seen(there, hash), false);
      await commit(there.env, "x", { allowEmpty: true }).catch(() => {});
      await add(there.env, ".").catch(() => {});
      await changeBranch(there.env, "evil").catch(() => {});
      for (
        const bring of [
          () => switchTo(there.env, hash),
          () => merge(there.env, hash),
          () => pickCommits(there.env, "cherry-pick", hash),
          () => rebase(there.env, hash),
          () => restore(there.env, "secret.txt", { from: hash }),
          () => stash(there.env, { apply: hash }),
          () => reset(there.env, hash, { mode: "hard", force: true }),
          () => tag(there.env, "evil", { at: hash, message: "x" }),
        ]
      ) {
        await assert.rejects(bring);
        assert.equal(there.exists("workspace/secret.txt"), false);
      }
      const all = await userGit(["log", "--all", "--format=%H"], { root: there.root, cwd: `${there.root}/outside` });
      assert.equal(all.trim(), hash, "it was written to");
    });
  });
}

Deno.test("git.* refuses arguments that git would take for an option", { ignore }, async () => {
  await repository(async ({ env, exists, write, git }) => {
    const option = "--output=evil";
    for (
      const call of [
        () => diff(env, { from: option }),
        () => diff(env, { from: "HEAD", to: option }),
        () => log(env, { ref: option }),
        () => show(env, option),
        () => blame(env, "a.txt", { ref: option }),
        () => changeBranch(env, option),
        () => changeBranch(env, "-f", { delete: true }),
        () => changeBranch(env, "x", { from: "-f", switch: true }),
        () => changeWorktree(env, "w", { branch: option }),
        () => changeWorktree(env, "w", { from: "--force" }),
        () => switchTo(env, option),
        () => switchTo(env, "x", { from: option }),
        () => merge(env, option),
        () => rebase(env, option),
        () => rebase(env, { onto: "main", from: option }),
        () => pickCommits(env, "cherry-pick", option),
        () => pickCommits(env, "revert", ["HEAD", option]),
        () => restore(env, "a.txt", { from: option }),
        () => reset(env, option),
        () => stash(env, { apply: option }),
        () => tag(env, option),
        () => tag(env, "x", { at: option }),
        () => init(env, { branch: option }),
        () => log(env, { ref: "HEAD\n--all" }),
      ]
    ) {
      await assert.rejects(
        call,
        /as the name of a commit, branch or tag: it (is empty|begins with a dash|contains a control character|has \d+ characters, and the limit is 1000)/,
      );
    }
    await write(option, "x\n");
    await write("--force", "y\n");
    assert.equal((await diff(env, { paths: option })).files.length, 0);
    assert.deepEqual((await add(env, [option, "--force"])).files.map(({ path }) => path), ["--force", option]);
    await commit(env, "--amend", { paths: option });
    assert.equal((await git("log", "-1", "--format=%s")).trim(), "--amend");
    assert.equal((await git("rev-list", "--count", "HEAD")).trim(), "2");
    assert.equal((await log(env, { author: "--all", grep: "--all" })).commits.length, 0);
    assert.equal(exists("workspace/evil"), false);
  });
});

Deno.test("git.* treats paths literally, and accepts none outside", { ignore }, async () => {
  await repository(async ({ env, write }) => {
    await write("[id].ts", "x\n");
    await write("i.ts", "x\n");
    await write(":(top)x", "x\n");
    assert.deepEqual((await add(env, "[id].ts")).files.map(({ path }) => path), ["[id].ts"]);
    assert.deepEqual((await add(env, ":(top)x")).files.map(({ path }) => path), [":(top)x"]);
    await assert.rejects(add(env, "../outside"), /outside/);
    await assert.rejects(diff(env, { paths: "/etc/passwd" }), /outside/);
    await assert.rejects(blame(env, "../outside/x"), /outside/);
    await assert.rejects(changeWorktree(env, "../outside/w"), /the path is not below the workspace;/);
    await assert.rejects(changeWorktree(env, ".git/w"), /the path is in \.git;/);
    await assert.rejects(diff(env, { paths: "a\0b" }), /as a path: it contains U\+0000/);
  });
});

Deno.test("git.* reaches no other machine", { ignore }, async () => {
  let connections = 0;
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const accepted = (async () => {
    for await (const connection of listener) {
      connections++;
      connection.close();
    }
  })();
  await repository(async (there) => {
    const { git, workspace, env, bare } = there;
    const values = {
      "core.repositoryFormatVersion": "1",
      "extensions.partialClone": "origin",
      "remote.origin.url": `http://127.0.0.1:${listener.addr.port}/x.git`,
      "remote.origin.promisor": "true",
      "protocol.http.allow": "always",
    };
    for (const [key, value] of Object.entries(values)) await git("config", key, value);
    const hash = (await git("rev-parse", "HEAD:a.txt")).trim();
    await Deno.remove(`${workspace}/.git/objects/${hash.slice(0, 2)}/${hash.slice(2)}`);
    for (const view of [env, bare]) {
      await assert.rejects(show(view, "HEAD:a.txt"));
      await assert.rejects(blame(view, "a.txt", { ref: "HEAD" }));
      await assert.rejects(show(view, "HEAD"));
    }
    assert.equal(connections, 0);
    await git("show", "HEAD:a.txt").catch(() => {});
    assert.ok(connections > 0, "the user's git asks");
  });
  listener.close();
  await accepted;
});

Deno.test("git.commit() and git.branch() leave hooks and settings as they are", { ignore }, async () => {
  await repository(async ({ env, workspace, write }) => {
    await write(".git/hooks/pre-push", "#!/bin/sh\n", { mode: 0o755 });
    const before = await Deno.readTextFile(`${workspace}/.git/config`);
    await changeBranch(env, "x", { switch: true });
    await commit(env, "y", { allowEmpty: true });
    await changeBranch(env, "main", { switch: true });
    await changeBranch(env, "x", { delete: true, force: true });
    assert.equal(await Deno.readTextFile(`${workspace}/.git/config`), before);
    assert.equal(await Deno.readTextFile(`${workspace}/.git/hooks/pre-push`), "#!/bin/sh\n");
  });
});

Deno.test("git.* that only reads may change nothing at all", { ignore }, async () => {
  await repository(async ({ env }) => {
    const asked: (readonly string[] | undefined)[] = [];
    const watched = {
      ...env,
      spawn: (...[argv, options]: Parameters<NonNullable<typeof env.spawn>>) => {
        asked.push(options?.write);
        assert.equal(options?.network, false);
        return env.spawn?.(argv, options) ?? Promise.reject(new Error("No wall"));
      },
    };
    await status(watched);
    await diff(watched);
    await log(watched);
    await show(watched);
    await blame(watched, "a.txt");
    assert.ok(asked.length >= 6 && asked.every((paths) => paths?.length === 0), JSON.stringify(asked));
  });
});

Deno.test(
  "git.commit() uses no name from a file to which the repository's settings link",
  { ignore },
  async () => {
    await repository(async ({ env, root, workspace, exists }) => {
      await Deno.writeTextFile(`${root}/outside/config`, "[user]\n\tname = Eve\n\temail = secret@example.org\n");
      await Deno.remove(`${workspace}/.git/config`);
      await Deno.symlink(`${root}/outside/config`, `${workspace}/.git/config`);
      const refused = await commit({ ...env, config: {} }, "x", { allowEmpty: true }).then(String, String);
      assert.match(refused, /Cannot use git: \S+ is a link out of the repository \(\S+\); ask the user to replace it/);
      assert.ok(!refused.includes("secret@"));
      assert.ok(exists("outside/config"));
    });
  },
);

Deno.test("git.* refuses to change the folder of Vis, before anything else changes", { ignore }, async () => {
  await repository(async (there) => {
    const { env, git, write, workspace } = there;
    const settings = async (branch: string, text: string | null): Promise<void> => {
      await git("switch", "-q", "-c", branch, "main");
      if (text === null) await git("rm", "-q", ".vis/config.jsonc");
      else await write(".vis/config.jsonc", text);
      await write("b.txt", `${branch}\n`);
      await git("add", ".");
      await git("commit", "-q", "-m", branch);
    };
    await settings("first", "{}");
    await git("switch", "-q", "main");
    await git("merge", "-q", "first");
    await settings("same", "{}");
    await settings("changed", '{ "evil": true }');
    await settings("gone", null);
    await git("switch", "-q", "main");
    const refused =
      /^Error: Cannot [a-z-]+.*: it would change \.vis\/config\.jsonc, which only the user may change; ask the user/;
    const state = async () => [await git("status", "--porcelain=v2", "--branch"), await git("stash", "list")];
    const before = await state();
    for (const name of ["changed", "gone"]) {
      const calls: readonly (() => Promise<unknown>)[] = [
        () => merge(env, name),
        () => rebase(env, name),
        () => pickCommits(env, "cherry-pick", name),
        () => pickCommits(env, "revert", name),
        () => switchTo(env, name),
        () => changeBranch(env, name, { switch: true }),
        () => changeBranch(env, "new", { switch: true, from: name }),
        () => reset(env, name, { mode: "hard" }),
        () => restore(env, ".", { from: name }),
      ];
      for (const [at, call] of calls.entries()) {
        const said = await call().then(() => "done", String);
        assert.match(said, refused, `${name}, call ${at}`);
        assert.deepEqual(await state(), before, `${name}, call ${at}`);
      }
    }
    await restore(env, "b.txt", { from: "changed" });
    await reset(env, "HEAD", { mode: "hard", force: true });
    await switchTo(env, "same");
    await switchTo(env, "main");
    await merge(env, "same");
    // The user's changes in that folder remain.
    await write(".vis/config.jsonc", '{ "mine": true }');
    assert.match(await reset(env, "HEAD", { mode: "hard", force: true }).then(() => "done", String), refused);
    assert.match(await restore(env, ".").then(() => "done", String), refused);
    assert.match(await stash(env, { paths: "." }).then(() => "done", String), refused);
    await git("add", ".");
    await switchTo(env, "first");
    assert.equal(await Deno.readTextFile(`${workspace}/.vis/config.jsonc`), '{ "mine": true }');
    await git("stash", "-q");
    assert.match(await stash(env, { pop: true }).then(() => "done", String), refused);
  });
});

Deno.test("git.switch() leaves the folder of a submodule that the other branch lacks", { ignore }, async () => {
  await repository(async ({ env, git, write, workspace }) => {
    await git("switch", "-q", "-c", "with");
    await git("init", "-q", "libs/s");
    await write("libs/s/file.txt", "inner\n");
    await git("-C", "libs/s", "add", ".");
    await git("-C", "libs/s", "commit", "-q", "-m", "inner");
    await git("add", "libs/s");
    await git("commit", "-q", "-m", "with a submodule");
    await switchTo(env, "main");
    assert.equal((await switchTo(env, "with")).subject, "with a submodule");
    assert.equal(await Deno.readTextFile(`${workspace}/libs/s/file.txt`), "inner\n");
  });
});

Deno.test("a replaced .git does not lead git.* elsewhere", { ignore }, async () => {
  await repository(async (there) => {
    const { env, workspace, root } = there;
    const hash = await other(there);
    await Deno.rename(`${workspace}/.git`, `${workspace}/own`);
    const places = [`${workspace}/own`, `${root}/outside/.git`];
    let on = true;
    // The wall restores the former entries after a command, and removes new ones, so an entry of any kind may be in the
    // way.
    const away = () => Deno.remove(`${workspace}/.git`, { recursive: true }).catch(() => {});
    const place = async (name: string): Promise<void> => {
      while (!await Deno.rename(`${workspace}/${name}`, `${workspace}/.git`).then(() => true, () => false)) {
        await away();
      }
    };
    const swapping = (async () => {
      for (let at = 0; on; at++) {
        await Deno.symlink(places[at % 2] ?? "", `${workspace}/.next`);
        await cp(`${workspace}/own`, `${workspace}/.copy`, { recursive: true });
        await place(".next");
        await place(".copy");
        await new Promise((resolve) => setTimeout(resolve, at % 7));
        await away();
      }
    })();
    for (let at = 0; at < 12; at++) {
      const results = [
        await log(env).catch((error: unknown) => String(error)),
        await commit(env, "evil", { allowEmpty: true }).catch((error: unknown) => String(error)),
      ];
      assert.ok(!JSON.stringify(results).includes(SECRET));
    }
    on = false;
    await swapping;
    const user = await userGit(["log", "--all", "--format=%H"], { root, cwd: `${root}/outside` });
    assert.equal(user.trim(), hash);
  });
});

Deno.test("git.add() adds no new file that may hold keys, so that no diff shows it", { ignore }, async () => {
  await repository(async ({ env, git, write }) => {
    for (const path of ["keys/.env", "keys/b.txt"]) await write(path, SECRET);
    const asking = { ...env, secrets: [".env*"] };
    await assert.rejects(add(asking, "keys"), /Cannot add: git would store keys\/\.env, which may hold keys/);
    assert.equal((await git("diff", "--cached", "--name-only")).trim(), "");
    assert.equal((await add(asking, "keys/b.txt")).files.length, 1);
    await write(".gitignore", ".env\n");
    assert.equal((await add(asking, [".gitignore", "keys"])).files.length, 1);
  });
});

Deno.test(
  "git.add() and git.diff() show no file that may hold keys before it is committed, whatever a command staged",
  { ignore },
  async () => {
    await repository(async ({ env, git, write }) => {
      const asking = { ...env, secrets: [".env*"] };
      await write(".env", "# hidden\n");
      await git("add", ".env"); // Inside the wall, a command sees another text in the file, and adds that text.
      await write(".env", SECRET);
      for (const options of [{}, { from: "HEAD" }]) {
        const shown = await diff(asking, options);
        assert.deepEqual(shown.files.map(({ path, hunks, left }) => [path, hunks, left! > 0]), [[".env", [], true]]);
        assert.ok(!JSON.stringify(shown).includes(SECRET));
      }
      await git("reset", "--quiet");
      await git("add", "--intent-to-add", ".env");
      await assert.rejects(add(asking, [".env"]), /Cannot add: git would store \.env, which may hold keys/);
      assert.ok(!JSON.stringify(await diff(asking)).includes(SECRET));
      await git("add", ".env");
      await git("commit", "--quiet", "--message", "the user's own");
      await write(".env", "changed\n");
      assert.ok(
        JSON.stringify(await diff(asking)).includes(SECRET),
        "committed before: git shows it as it always does",
      );
    });
  },
);

Deno.test("git.* is never a program of the workspace", { ignore }, async () => {
  await repository(async ({ root, write }) => {
    await write("bin/git", "#!/bin/sh\necho planted >&2\nexit 3\n", { mode: 0o755 });
    const workspace = `${root}/home/project`; // Programs may run files in folders of PATH below the home folder.
    await Deno.rename(`${root}/workspace`, workspace);
    const wall = new LinuxWall({
      home: `${root}/home`,
      visHome: `${root}/home/.vis`,
      read: [],
      network: false,
      env: { PATH: `${workspace}/bin:/usr/local/bin:/usr/bin:/bin` },
      temporary: `${root}/temporary`,
    });
    const env = viewOf(wall, { workspace });
    assert.match((await wall.spawn(workspace, ["git"])).stderr, /planted/);
    assert.equal((await status(env)).branch, "main");
    assert.deepEqual((await add(env, "bin")).files.map(({ path }) => path), ["bin/git"]);
    assert.equal((await blame(env, "a.txt")).origins.length, 1);
  });
});
