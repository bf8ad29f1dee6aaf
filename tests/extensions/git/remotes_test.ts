import assert from "node:assert/strict";
import { join } from "node:path";
import { listBranches, tag } from "../../../extensions/git/branches.ts";
import { gh, ghReads } from "../../../extensions/git/github.ts";
import { fetchRemote, push } from "../../../extensions/git/remotes.ts";
import { log } from "../../../extensions/git/history.ts";
import { status } from "../../../extensions/git/status.ts";
import type { ApprovalRequest } from "../../../src/domain/query/approval.ts";
import type { EnvironmentView } from "../../../src/extension/mod.ts";
import { AskedPrograms } from "../../../src/processes/approved/approved_programs.ts";
import { LinuxWall } from "../../../src/processes/linux/linux_wall.ts";
import { missing, repository, type TestRepository, userGit, withHome } from "./_repository.ts";

const ignore = missing !== "";
const ADDRESS = "ssh://git@host.example/there.git";

interface Remote {
  readonly env: EnvironmentView;
  readonly asked: ApprovalRequest[];
  readonly home: string;
  /** Runs git in the remote repository. */
  there(...args: string[]): Promise<string>;
}

/** The user's git reaches the remote by the user's ssh command, which logs its arguments and stays on this machine. */
async function withRemote(
  repo: TestRepository,
  test: (remote: Remote) => Promise<void>,
  { allowed = true, mode = "ask" as const, vouches = true }: {
    readonly allowed?: boolean;
    readonly mode?: "ask" | "off";
    readonly vouches?: boolean;
  } = {},
): Promise<void> {
  const { root, workspace } = repo;
  const home = join(root, "home");
  await userGit(["init", "-q", "--bare", "-b", "main", "there.git"], { root, cwd: join(root, "outside") });
  await repo.write(
    join(home, "ssh"),
    `#!/bin/sh\necho "$* \$LD_LIBRARY_PATH" >> ${root}/ssh.log\nfor last; do :; done\n` +
      `exec sh -c "$(printf %s "$last" | sed "s#'/there.git'#'${root}/outside/there.git'#")"\n`,
    { mode: 0o755 },
  );
  await repo.write(join(home, ".gitconfig"), `[core]\n\tsshCommand = ${home}/ssh\n`);
  await repo.git("remote", "add", "origin", ADDRESS);
  const env = {
    PATH: `${workspace}/bin:${root}/linked:/usr/local/bin:/usr/bin:/bin`,
    HOME: home,
    GIT_DIR: `${root}/nowhere`,
    LD_LIBRARY_PATH: `/usr/lib:${workspace}/lib`,
  };
  const wall = new LinuxWall({
    home,
    visHome: join(home, ".vis"),
    read: [],
    network: false,
    env,
    temporary: join(root, "temporary"),
  });
  const programs = new AskedPrograms({ wall, mode, env, visHome: join(home, ".vis"), vouches: () => vouches });
  const asked: ApprovalRequest[] = [];
  const view: EnvironmentView = {
    ...repo.env,
    secrets: [".env"],
    home: join(home, ".vis"),
    spawn: (argv, options = {}) =>
      programs.spawn(workspace, argv, { ...options, root: workspace }, { extension: "vis.git", ask: null }),
    approve: (request) => {
      asked.push(request);
      return Promise.resolve({ allowed, reason: allowed ? "" : "the user said no" });
    },
  };
  await withHome(home, () =>
    test({
      env: view,
      asked,
      home,
      there: (...args) => userGit(args, { root, cwd: join(root, "outside/there.git") }),
    }));
}

const change = async ({ git, write }: TestRepository, text: string, ...args: string[]): Promise<string> => {
  await write("a.txt", `${text}\n`);
  await git("commit", "-qam", text, ...args);
  return (await git("rev-parse", "HEAD")).trim();
};

Deno.test("git.push asks with the commits, and pushes the branch with the user's ssh command", { ignore }, async () => {
  await repository(async (repo) => {
    await withRemote(repo, async ({ env, asked, there }) => {
      const commit = await change(repo, "second");
      const pushed = await push(env);
      assert.deepEqual(pushed, {
        ...{ remote: "origin", url: ADDRESS, branch: "main", commit, commits: 2, was: null },
        upstream: "origin/main",
      });
      assert.equal((await there("rev-parse", "main")).trim(), commit);
      const [question, ...more] = asked;
      assert.deepEqual(more, []);
      assert.equal(question?.what, "push 2 new commits of main to origin");
      assert.equal(question?.exact, `git push ${ADDRESS} main`);
      assert.match(
        question?.why ?? "",
        /^The new commits are "\w+ second", "\w+ first"\. git uses your own settings, keys/,
      );
      assert.equal(question?.lasting, true);
      const { upstream, ahead, behind } = await status(env);
      assert.deepEqual({ upstream, ahead, behind }, { upstream: "origin/main", ahead: 0, behind: 0 });
      const log = await Deno.readTextFile(`${repo.root}/ssh.log`);
      assert.match(log, /git@host\.example git-receive-pack/);
      assert.doesNotMatch(log, /workspace/, "no variable leads into the workspace");
    });
  });
});

Deno.test(
  "git.push pushes the current branch beside a tag of its name, and names a branch without commits",
  { ignore },
  async () => {
    await repository(async (repo) => {
      await withRemote(repo, async ({ env }) => {
        await repo.git("tag", "main");
        assert.equal((await push(env)).branch, "main");
        const { current, branches } = await listBranches(env);
        assert.deepEqual([current, branches.map(({ name }) => name)], ["main", ["main"]]);
        assert.deepEqual((await tag(env)).tags.map(({ name }) => name), ["main"]);
        await repo.git("checkout", "-q", "--orphan", "fresh");
        await assert.rejects(push(env), /^Error: Cannot push: the branch fresh has no commit; name a branch or a tag$/);
        await repo.git("checkout", "-q", "--detach", "refs/heads/main");
        await assert.rejects(push(env), /^Error: Cannot push: no branch is checked out; name a branch or a tag$/);
        await repo.git("remote", "set-url", "origin", "git@github.com:ada/there.git");
        await assert.rejects(
          gh(env, ["pr", "view"]),
          /^Error: Cannot run gh pr view: no branch is checked out; name a branch or a number$/,
        );
      });
    });
  },
);

Deno.test("git.push changes nothing if the user refuses", { ignore }, async () => {
  await repository(async (repo) => {
    await withRemote(repo, async ({ env, there }) => {
      await assert.rejects(push(env), /^Error: Cannot push main: the user said no; ask the user to run git$/);
      assert.equal(await there("for-each-ref"), "");
      assert.equal(repo.exists("ssh.log"), false);
    }, { allowed: false });
  });
});

Deno.test("git.fetch brings branches and tags, and a refused push says how to go on", { ignore }, async () => {
  await repository(async (repo) => {
    await withRemote(repo, async ({ env, there, asked }) => {
      await push(env);
      const first = (await there("rev-parse", "main")).trim();
      const tree = (await there("rev-parse", "main^{tree}")).trim();
      const theirs = (await there("commit-tree", tree, "-p", first, "-m", "theirs")).trim();
      await there("update-ref", "refs/heads/main", theirs);
      await there("tag", "v1", theirs);
      await change(repo, "mine");
      await assert.rejects(push(env), /origin answered \[rejected\] .*call git\.fetch\(\), and then git\.merge/);
      const fetched = await fetchRemote(env);
      assert.deepEqual(fetched, {
        ...{ remote: "origin", url: ADDRESS, left: 0 },
        changed: [{ ref: "origin/main", was: first, now: theirs }, { ref: "v1", was: null, now: theirs }],
        next: 'git.merge("origin/main") or git.rebase("origin/main")',
      });
      assert.equal(asked.at(-1)?.scope, `git fetch from ${ADDRESS}`);
      assert.equal((await log(env, { ref: "v1", limit: 1 })).commits[0]?.subject, "theirs");
      assert.equal((await repo.git("fsck", "--strict")).includes("error"), false);
      const { branch, commits, was } = await push(env, undefined, { force: true });
      assert.equal(asked.at(-1)?.what, "push 1 new commit of main to origin, and remove 1 commit there");
      assert.match(asked.at(-1)?.why ?? "", /The removed commits are "\w+ theirs"/);
      assert.deepEqual({ branch, commits, was }, { branch: "main", commits: 1, was: theirs });
      assert.equal(asked.at(-1)?.lasting, false);
      assert.deepEqual((await fetchRemote(env)).changed, []);
      await repo.git("update-ref", "refs/remotes/origin/main", "main");
      await there("update-ref", "-d", "refs/heads/main");
      assert.deepEqual((await fetchRemote(env, { prune: true })).changed.map(({ ref, now }) => [ref, now]), [
        ["origin/main", null],
      ]);
      assert.equal((await push(env, "v1")).branch, "v1");
    });
  });
});

Deno.test("git.push with force keeps commits that the last fetch did not bring", { ignore }, async () => {
  await repository(async (repo) => {
    await withRemote(repo, async ({ env, there }) => {
      await push(env);
      const tree = (await there("rev-parse", "main^{tree}")).trim();
      const theirs = (await there("commit-tree", tree, "-p", "main", "-m", "theirs")).trim();
      await there("update-ref", "refs/heads/main", theirs);
      await change(repo, "mine", "--amend");
      await assert.rejects(push(env, undefined, { force: true }), /\[rejected\] \(stale info\)/);
      assert.equal((await there("rev-parse", "main")).trim(), theirs);
    });
  });
});

Deno.test("git.push and git.fetch run no program that the repository names", { ignore }, async () => {
  await repository(async (repo) => {
    await withRemote(repo, async ({ env, there }) => {
      const mark = `${repo.root}/ran`, run = `touch ${mark}; false`;
      const names = [
        "core.sshCommand",
        "core.gitProxy",
        "credential.helper",
        "core.alternateRefsCommand",
        "core.askPass",
      ];
      for (const name of names) await repo.git("config", name, `!${run}`);
      for (const name of ["uploadpack", "receivepack"]) await repo.git("config", `remote.origin.${name}`, run);
      for (const name of ["ssh", "git-receive-pack", "git", "sh"]) {
        await repo.write(`bin/${name}`, `#!/bin/sh\n${run}\n`, { mode: 0o755 });
      }
      for (const name of ["pre-push", "reference-transaction", "post-update"]) {
        await repo.write(join(repo.commonDir, "hooks", name), `#!/bin/sh\n${run}\n`, { mode: 0o755 });
      }
      const { commit, skippedHooks } = await push(env);
      assert.deepEqual(skippedHooks, ["pre-push"]);
      assert.equal((await there("rev-parse", "main")).trim(), commit);
      await there("update-ref", "refs/heads/other", commit);
      assert.deepEqual((await fetchRemote(env)).changed.map(({ ref }) => ref), ["origin/other"]);
      assert.equal(repo.exists("ran"), false);
    });
  });
});

for (const address of ["../outside/there.git", "ext::sh -c date", "file:///tmp/x", "-oProxyCommand=x:y", "a::b"]) {
  Deno.test(`git.push refuses the remote ${address}`, { ignore }, async () => {
    await repository(async (repo) => {
      await withRemote(repo, async ({ env, asked }) => {
        await repo.git("config", "remote.origin.url", address);
        await assert.rejects(push(env), /Vis reaches remotes by https, http or ssh only/);
        await assert.rejects(fetchRemote(env), /Vis reaches remotes by https, http or ssh only/);
        assert.deepEqual(asked, []);
      });
    });
  });
}

Deno.test("git.push pushes no commit that the question did not name", { ignore }, async () => {
  await repository(async (repo) => {
    await withRemote(repo, async ({ env, asked, there }) => {
      await change(repo, "hidden");
      await repo.git("update-ref", "refs/remotes/origin/other", "main");
      await change(repo, "shown");
      await assert.rejects(
        push(env),
        /origin lacks 2 more commits than the question named; call git\.fetch\({prune: true}\)/,
      );
      assert.equal(asked[0]?.what, "push 1 new commit of main to origin");
      assert.equal(await there("for-each-ref"), "");
      await fetchRemote(env, { prune: true });
      assert.equal((await push(env)).commits, 3);
    });
  });
});

Deno.test(
  "git.push of a new branch needs no fetch, even if another branch of the remote has moved",
  { ignore },
  async () => {
    await repository(async (repo) => {
      await withRemote(repo, async ({ env, there }) => {
        await push(env);
        const tree = (await there("rev-parse", "main^{tree}")).trim();
        await there(
          "update-ref",
          "refs/heads/main",
          (await there("commit-tree", tree, "-p", "main", "-m", "x")).trim(),
        );
        await repo.git("switch", "-q", "-c", "new");
        await change(repo, "mine");
        const { branch, commits, upstream } = await push(env);
        assert.deepEqual({ branch, commits, upstream }, { branch: "new", commits: 1, upstream: "origin/new" });
      });
    });
  },
);

const HIDES: Readonly<Record<string, (repo: TestRepository) => Promise<unknown>>> = {
  "a replaced commit": async ({ git }) => {
    const head = (await git("rev-parse", "HEAD")).trim(), tree = (await git("rev-parse", "HEAD~1^{tree}")).trim();
    await git("replace", head, (await git("commit-tree", tree, "-m", "innocent")).trim());
  },
  "a graft": async ({ git, write }) => await write(".git/info/grafts", await git("rev-parse", "HEAD")),
  "diff.orderFile": async ({ git }) => await git("config", "diff.orderFile", "/nowhere"),
  "log.diffMerges": async ({ git }) => {
    await git("config", "log.diffMerges", "off");
    await git("switch", "-q", "-c", "side", "HEAD~1");
    await git("commit", "-q", "--allow-empty", "-m", "side");
    await git("merge", "-q", "-m", "merge", "main");
    await git("branch", "-f", "main", "side");
    await git("switch", "-q", "main");
  },
};

for (const [name, hide] of Object.entries(HIDES)) {
  Deno.test(`git.push asks about files that may have keys despite ${name}`, { ignore }, async () => {
    await repository(async (repo) => {
      await withRemote(repo, async ({ env, asked }) => {
        await repo.write(".env", "KEY=1\n");
        await repo.git("add", "-f", ".env");
        await repo.git("commit", "-qm", "keys");
        await hide(repo);
        await push(env, "main");
        assert.match(asked[0]?.why ?? "", /files that may have keys: \.env/);
        assert.equal(asked[0]?.lasting, false);
      });
    });
  });
}

const LEADING: Readonly<Record<string, readonly [(there: TestRepository) => Promise<unknown>, RegExp]>> = {
  "includes of the ssh settings": [
    ({ write, root, workspace }) => write(join(root, "home/.ssh/config"), `Include ${workspace}/ssh\n`),
    /\.ssh\/config names files in .*workspace/,
  ],
  "includes of the ssh settings through a link": [
    async ({ write, root, workspace }) => {
      await write("ssh/config", "Host *\n");
      await Deno.symlink(workspace, join(root, "home/dotfiles"));
      await write(join(root, "home/.ssh/config"), "Host a\n  Port 1\nInclude ~/dotfiles/ssh/*\n");
    },
    /\.ssh\/config names files in .*workspace/,
  ],
  "a helper in the workspace": [
    ({ write, root, workspace }) =>
      write(join(root, "home/.gitconfig"), `[credential]\n\thelper = ${workspace}/helper\n`),
    /settings of git name a program or file in .*workspace/,
  ],
  "a link among the objects": [
    async ({ root, workspace }) => {
      await Deno.rename(join(workspace, ".git/objects/pack"), join(root, "pack"));
      await Deno.symlink(join(root, "pack"), join(workspace, ".git/objects/pack"));
    },
    /objects of the repository are links, or are in another repository/,
  ],
};

for (const [name, [lead, why]] of Object.entries(LEADING)) {
  Deno.test(`git.push and git.fetch refuse ${name}`, { ignore }, async () => {
    await repository(async (repo) => {
      await withRemote(repo, async ({ env, asked }) => {
        await lead(repo);
        await assert.rejects(push(env), why);
        await assert.rejects(fetchRemote(env), why);
        assert.deepEqual(asked, []);
      });
    });
  });
}

Deno.test(
  "git.push takes only names of branches and tags, and its approvals tell tags from branches",
  { ignore },
  async () => {
    await repository(async (repo) => {
      await withRemote(repo, async ({ env, asked, there }) => {
        for (const to of ["x:refs/heads/prod", "main other", "a..b", "x~1", "*"]) {
          await assert.rejects(push(env, "main", { to }), /TypeError: Cannot (?:push|use)/, to);
        }
        assert.deepEqual(asked, []);
        await repo.git("tag", "v1");
        await push(env, "v1");
        await repo.git("tag", "-d", "v1");
        await repo.git("branch", "v1");
        await push(env, "v1");
        const [tag, branch] = asked.map(({ scope }) => scope);
        assert.deepEqual([tag, branch], [`git push of the tag v1 to ${ADDRESS}`, `git push of v1 to ${ADDRESS}`]);
        assert.deepEqual((await there("for-each-ref", "--format=%(refname)")).trim().split("\n"), [
          "refs/heads/v1",
          "refs/tags/v1",
        ]);
      });
    });
  },
);

Deno.test(
  "git.push and git.fetch change tracking branches only, also through links and renames",
  { ignore },
  async () => {
    await repository(async (repo) => {
      await withRemote(repo, async ({ env, there }) => {
        await repo.git("branch", "kept");
        const kept = (await repo.git("rev-parse", "kept")).trim();
        await repo.git("symbolic-ref", "refs/remotes/origin/main", "refs/heads/kept");
        await change(repo, "second");
        await push(env);
        await there("branch", "topic", "main");
        await fetchRemote(env);
        await there("branch", "-m", "topic", "topic/x");
        await there("branch", "HEAD", "main").catch(() => {});
        const { changed } = await fetchRemote(env, { prune: true });
        assert.deepEqual(changed.map(({ ref, now }) => [ref, now === null]), [
          ["origin/topic", true],
          ["origin/topic/x", false],
        ]);
        assert.equal((await repo.git("rev-parse", "kept")).trim(), kept);
      });
    });
  },
);

Deno.test("git.push reads no file through a link in the place of shallow", { ignore }, async () => {
  await repository(async (repo) => {
    await withRemote(repo, async ({ env, there }) => {
      await repo.write(join(repo.root, "outside/key"), "SECRET\n");
      await Deno.symlink(join(repo.root, "outside/key"), join(repo.commonDir, "shallow"));
      const pushed = await push(env).catch((error: unknown) => String(error));
      assert.doesNotMatch(JSON.stringify(pushed), /SECRET/);
      await Deno.remove(join(repo.commonDir, "shallow"));
      assert.equal((await push(env)).branch, "main");
      assert.notEqual(await there("for-each-ref"), "");
    });
  });
});

Deno.test("git.push refuses a tag of files", { ignore }, async () => {
  await repository(async (repo) => {
    await withRemote(repo, async ({ env, asked }) => {
      await repo.git("tag", "files", "HEAD^{tree}");
      await assert.rejects(push(env, "files"), /^Error: Cannot push files: refs\/tags\/files is a/);
      assert.deepEqual(asked, []);
    });
  });
});

Deno.test("git.push carries no object from outside the workspace", { ignore }, async () => {
  await repository(async (repo) => {
    await withRemote(repo, async ({ env, there }) => {
      const cwd = `${repo.root}/outside`;
      await userGit(["init", "-q", "-b", "main", "private"], { root: repo.root, cwd });
      await Deno.writeTextFile(`${cwd}/private/secret.txt`, "secret");
      await userGit(["add", "."], { root: repo.root, cwd: `${cwd}/private` });
      await userGit(["commit", "-q", "-m", "private"], { root: repo.root, cwd: `${cwd}/private` });
      await repo.write(".git/objects/info/alternates", `${cwd}/private/.git/objects\n`);
      const hidden = (await repo.git("rev-parse", "main")).trim();
      const commit = (await userGit(["rev-parse", "HEAD"], { root: repo.root, cwd: `${cwd}/private` })).trim();
      assert.notEqual(commit, hidden);
      await repo.write(".git/refs/heads/leak", `${commit}\n`);
      await assert.rejects(push(env, "leak"));
      const tree = (await repo.git("rev-parse", `${commit}^{tree}`)).trim();
      const own = (await repo.git("commit-tree", tree, "-m", "own")).trim();
      await repo.write(".git/refs/heads/leak", `${own}\n`);
      await assert.rejects(push(env, "leak"));
      assert.equal(await there("for-each-ref"), "");
    });
  });
});

Deno.test(
  "git.push shows no password of an address, and asks each time for files that may have keys",
  { ignore },
  async () => {
    await repository(async (repo) => {
      await withRemote(repo, async ({ env, asked }) => {
        await repo.git("config", "remote.origin.pushUrl", "https://ada:pass-word@127.0.0.1:1/there.git");
        await repo.write(".env", "KEY=1\n");
        await repo.git("add", "-f", ".env");
        await repo.git("commit", "-qm", "keys");
        await assert.rejects(push(env), (error: Error) => {
          assert.match(error.message, /^Cannot push main: .*127\.0\.0\.1/);
          assert.doesNotMatch(error.message, /pass-word/);
          return true;
        });
        assert.equal(asked[0]?.exact, "git push https://127.0.0.1:1/there.git main");
        assert.match(asked[0]?.why ?? "", /files that may have keys: \.env/);
        assert.equal(asked[0]?.lasting, false);
      });
    });
  },
);

Deno.test("git.push refuses other tenants, and a workspace that contains the home folder", { ignore }, async () => {
  await repository(async (repo) => {
    await withRemote(repo, async ({ env, asked }) => {
      await assert.rejects(push({ ...env, tenant: "other" }), /only the tenant default/);
      Deno.env.set("HOME", join(repo.workspace, ".git"));
      await assert.rejects(push(env), /home folder is in/);
      assert.deepEqual(asked, []);
    });
  });
});

for (const refusal of [{ mode: "off" as const }, { vouches: false }]) {
  Deno.test(`git.push runs no program with ${JSON.stringify(refusal)}`, { ignore }, async () => {
    await repository(async (repo) => {
      await withRemote(repo, async ({ env, asked }) => {
        await assert.rejects(push(env), /Cannot run git as the user/);
        assert.equal(repo.exists("ssh.log"), false);
        assert.deepEqual(asked, []);
      }, refusal);
    });
  });
}

async function withGh(
  test: (remote: Remote & { readonly repo: TestRepository; readonly calls: () => Promise<string> }) => Promise<void>,
  { prints = '{"number": 12}', allowed = true }: { readonly prints?: string; readonly allowed?: boolean } = {},
): Promise<void> {
  await repository(async (repo) => {
    await repo.write(
      join(repo.root, "linked/gh"),
      `#!/bin/sh\nfor arg; do echo "$arg"; done > ${repo.root}/gh.log\necho "$GIT_DIR" >> ${repo.root}/gh.log\nprintf '%s' '${prints}'\n`,
      { mode: 0o755 },
    );
    await withRemote(repo, async (remote) => {
      await repo.git("remote", "set-url", "origin", "git@github.com:ada/there.git");
      await test({ ...remote, repo, calls: () => Deno.readTextFile(`${repo.root}/gh.log`) });
    }, { allowed });
  });
}

Deno.test(
  "git.gh reads the repository of the remote, and one approval can cover further reads",
  { ignore },
  async () => {
    await withGh(async ({ env, asked, calls }) => {
      const ran = await gh(env, ["pr", "view", "--json", "number"]);
      assert.deepEqual(ran, { code: 0, text: '{"number": 12}', json: { number: 12 } });
      assert.equal(await calls(), "pr\nview\nmain\n--repo=github.com/ada/there\n--json=number\n/dev/null\n");
      await gh(env, ["api", "repos/{owner}/{repo}/pulls/12/comments?per_page=100", "--paginate"]);
      assert.equal(
        await calls(),
        "api\nrepos/ada/there/pulls/12/comments?per_page=100\n--method=GET\n--hostname=github.com\n--paginate\n/dev/null\n",
      );
      assert.deepEqual(asked.map(({ what, scope, lasting }) => ({ what, scope, lasting })), [
        { what: "read github.com/ada/there with gh", scope: "reading github.com/ada/there with gh", lasting: true },
        { what: "read github.com/ada/there with gh", scope: "reading github.com/ada/there with gh", lasting: true },
      ]);
    });
  },
);

Deno.test(
  "git.gh opens a pull request of a pushed branch, with a question that shows its text",
  { ignore },
  async () => {
    await withGh(async ({ env, asked, calls, repo }) => {
      const create = ["pr", "create", "--title", "Fix", "--body=-w\n$(date)", "--base", "main"];
      await assert.rejects(
        gh(env, create),
        /^Error: Cannot run gh pr create: git knows no branch main of origin; call git\.push\(\)/,
      );
      await repo.git("update-ref", "refs/remotes/origin/main", "main");
      const { text, json } = await gh(env, create);
      assert.deepEqual({ text, json }, { text: "https://github.com/ada/there/pull/1", json: undefined });
      assert.equal(
        await calls(),
        "pr\ncreate\n--repo=github.com/ada/there\n--title=Fix\n--base=main\n--head=main\n--body=-w\n$(date)\n/dev/null\n",
      );
      assert.equal(asked.length, 1);
      assert.equal(asked[0]?.what, "run gh pr create as you in github.com/ada/there");
      assert.match(asked[0]?.exact ?? "", /--title=Fix --base=main --head=main '--body=-w\n\$\(date\)'$/);
      assert.equal(asked[0]?.lasting, false);
    }, { prints: "https://github.com/ada/there/pull/1" });
  },
);

Deno.test("git.gh joins the pages of an API call, and returns text that is no JSON", { ignore }, async () => {
  for (const [prints, json] of [['[{"a": 1}]\n[{"a": 2}]', [{ a: 1 }, { a: 2 }]], ["no JSON", undefined]] as const) {
    await withGh(async ({ env }) => {
      const ran = await gh(env, ["api", "pulls", "--paginate"]);
      assert.deepEqual([ran.text, ran.json], [prints, json]);
    }, { prints });
  }
});

Deno.test("git.gh runs nothing if the user refuses", { ignore }, async () => {
  await withGh(async ({ env, repo }) => {
    await assert.rejects(
      gh(env, ["pr", "list"]),
      /^Error: Cannot run gh pr list: the user said no; ask the user to run gh$/,
    );
    assert.equal(repo.exists("gh.log"), false);
  }, { allowed: false });
});

const REFUSED: Readonly<Record<string, readonly [args: readonly string[], why: RegExp]>> = {
  "another command": [["auth", "token"], /git\.gh runs only pr view/],
  "an extension of gh": [["toString"], /git\.gh runs only pr view/],
  "another repository by a flag": [["pr", "view", "1", "--repo", "a/b"], /does not know the flag --repo/],
  "another repository by an address": [
    ["pr", "view", "https://github.com/a/b/pull/1"],
    /is not a (?:number or a name|path of the API)/,
  ],
  "a file as the text": [["pr", "comment", "1", "--body-file=/etc/passwd"], /does not know the flag --body-file/],
  "a file as a short flag": [
    ["pr", "comment", "1", "-F/etc/passwd"],
    /does not know the flag -F\S*; pass the long form/,
  ],
  "a browser": [["pr", "view", "--web"], /does not know the flag --web; omit it/],
  "a filter that reads variables": [["pr", "list", "--json", "number", "--jq", "env"], /does not know the flag --jq/],
  "a search of other repositories": [
    ["pr", "list", "--search", "repo:ada/secret"],
    /does not take "repo:ada\/secret" for --search/,
  ],
  "a search with OR": [["issue", "list", "--search", "a OR b"], /does not take "a OR b" for --search/],
  "a path as a number": [["run", "view", "--job=../../../user/repos"], /does not take .* for --job/],
  "a title twice": [["pr", "edit", "1", "--title=A", "--title=B"], /--title is given twice/],
  "a NUL": [["pr", "view", "1\0"], /has a NUL character/],
  "a long text": [
    ["pr", "comment", "1", "--body", "x".repeat(4_000)],
    /has 40\d\d characters, and the limit is 4000; write/,
  ],
  "another method of the API": [["api", "pulls", "--method", "POST"], /does not know the flag --method/],
  "another path of the API": [["api", "../../user"], /is not a (?:number or a name|path of the API)/],
  "a pull request without text": [["pr", "create", "--title", "x"], /it needs --body/],
  "a flag without its value": [["pr", "list", "--limit"], /--limit needs a value/],
};

for (const [name, [args, why]] of Object.entries(REFUSED)) {
  Deno.test(`git.gh refuses ${name}`, { ignore }, async () => {
    await withGh(async ({ env, asked, repo }) => {
      await assert.rejects(gh(env, args), why);
      assert.deepEqual(asked, []);
      assert.equal(repo.exists("gh.log"), false);
    });
  });
}

Deno.test("a plan may read with git.gh, and may not change", () => {
  assert.equal(ghReads(["pr", "view", "12"]), true);
  assert.equal(ghReads(["pr", "merge", "12", "--squash"]), false);
});

Deno.test("git.gh sends tokens only to github.com and to hosts with a login", { ignore }, async () => {
  await withGh(async ({ env, asked, home, repo, calls }) => {
    await repo.git("remote", "set-url", "origin", "https://evil.example/ada/there");
    await assert.rejects(gh(env, ["pr", "list"]), /gh has no login for evil\.example .*gh auth login --hostname evil/);
    assert.deepEqual(asked, []);
    await repo.write(join(home, ".config/gh/hosts.yml"), "github.com:\n    user: ada\nghe.example:\n    user: ada\n");
    await repo.git("remote", "set-url", "origin", "ssh://git@GHE.example:22/ada/there.git");
    await gh(env, ["pr", "list"]);
    assert.match(await calls(), /--repo=ghe\.example\/ada\/there/);
    await repo.git("remote", "set-url", "origin", "https://ghe.example:8443/ada/there");
    await assert.rejects(gh(env, ["pr", "list"]), /not HOST\/OWNER\/NAME/);
  });
});

Deno.test("git.gh takes no branch for a number", { ignore }, async () => {
  await withGh(async ({ env, repo }) => {
    await repo.git("switch", "-q", "-c", "12");
    await assert.rejects(gh(env, ["pr", "merge", "--squash"]), /would take the branch 12 for a number/);
  });
});

Deno.test("git.gh refuses settings of gh in the workspace", { ignore }, async () => {
  await withGh(async ({ env, asked, home, repo }) => {
    await repo.write(join(home, ".config/gh/x"), "");
    // The file is missing until a command makes it.
    await Deno.symlink(join(repo.workspace, "dot/config.yml"), join(home, ".config/gh/config.yml"));
    await assert.rejects(gh(env, ["pr", "list"]), /config\.yml leads into the workspace, where commands can change it/);
    assert.deepEqual(asked, []);
  });
});
