import assert from "node:assert/strict";
import { dirname, join, resolve } from "node:path";
import git from "../../../extensions/git/mod.ts";
import { calledAction } from "../../../src/domain/query/host_call.ts";
import type { ApprovalRequest } from "../../../src/domain/query/approval.ts";
import { type EnvironmentView, validate } from "../../../src/extension/mod.ts";
import { AskedPrograms } from "../../../src/processes/approved/approved_programs.ts";
import { LinuxWall } from "../../../src/processes/linux/linux_wall.ts";
import { ATTACKS, clear, prepare, ran, TOO_MUCH } from "./_attacks.ts";
import { missing, repository, type TestRepository, userGit, withHome } from "./_repository.ts";

const ADDRESS = "ssh://git@host.example/there.git";

/** `workspace` is the top of the repository `tools`, and `around` the folder in which the user starts Vis. */
interface Below extends TestRepository {
  readonly around: string;
  readonly view: EnvironmentView;
  readonly asked: ApprovalRequest[];
  // deno-lint-ignore no-explicit-any
  call(name: string, ...args: unknown[]): Promise<any>;
  shell(command: string, options?: { readonly stop: AbortSignal; readonly onOutput: () => void }): Promise<string>;
}

function below(name: string, test: (below: Below) => Promise<void>, { inside = false } = {}): void {
  const run = () =>
    repository(async (there) => {
      const { root, workspace: around } = there, tools = join(around, "tools");
      if (!inside) await Deno.remove(join(around, ".git"), { recursive: true });
      await Deno.remove(join(around, "a.txt"));
      await Deno.mkdir(join(around, "plain/deep"), { recursive: true });
      for (const name of ["mono", "tools"]) await userGit(["init", "-q", "-b", "main", name], { root, cwd: around });
      const write: Below["write"] = async (path, text, options) => {
        await Deno.mkdir(dirname(resolve(tools, path)), { recursive: true });
        await Deno.writeTextFile(resolve(tools, path), text, options);
      };
      const ofTools = (...args: string[]) => userGit(args, { root, cwd: tools });
      await write("a.txt", "one\ntwo\nthree\n");
      await ofTools("add", ".");
      await ofTools("commit", "-q", "-m", "first");
      const env = { PATH: "/usr/local/bin:/usr/bin:/bin", HOME: join(root, "home") };
      const wall = new LinuxWall({
        ...{ home: env.HOME, visHome: join(env.HOME, ".vis"), read: [], network: false, env },
        temporary: join(root, "temporary"),
      });
      const programs = new AskedPrograms({ wall, mode: "ask", env, visHome: null, vouches: () => true });
      const asked: ApprovalRequest[] = [];
      const view: EnvironmentView = {
        ...there.env,
        home: join(env.HOME, ".vis"),
        secrets: [".env", "tools/private/*"],
        spawn: (argv, options) => programs.spawn(around, argv, options, { extension: "vis.git", ask: null }),
        approve: (request) => {
          asked.push(request);
          return Promise.resolve({ allowed: true, reason: "" });
        },
      };
      const call: Below["call"] = async (name, ...given) => {
        const found = validate(git).symbols.find((one) => one.name === name);
        if (found?.kind !== "function") throw new Error(`There is no git.${name}`);
        const { args = given } = Object(await found.before?.({ env: view, fn: found.fn, args: given }));
        return await found.fn(view, ...found.args.parse(args) as unknown[]);
      };
      const shell: Below["shell"] = async (command, options = undefined) =>
        (await wall.spawn(around, ["/bin/sh", "-c", command], options)).stderr;
      const commonDir = join(tools, ".git");
      await test({ ...there, workspace: tools, commonDir, git: ofTools, write, around, view, asked, call, shell });
    });
  Deno.test({ name, ignore: missing !== "", fn: run });
}

const repo = "tools";

const promptOf = async (view: EnvironmentView) => await (git.prompt as (env: EnvironmentView) => unknown)(view);

for (const inside of [false, true]) {
  const where = inside ? "inside another repository" : "in no repository";
  below(`git works in a repository below a workspace ${where}, with paths from the workspace`, async (there) => {
    const { call, write, git, shell } = there;
    await write("a.txt", "ONE\n");
    await write("src/b.ts", "new\n");
    const paths = (files: readonly { readonly path: string }[]) => files.map(({ path }) => path);
    assert.deepEqual(paths((await call("status", { repo })).files), ["tools/a.txt", "tools/src/"]);
    assert.deepEqual(paths((await call("diff", { repo, paths: "tools/a.txt" })).files), ["tools/a.txt"]);
    assert.deepEqual(paths((await call("add", ["tools/src"], { repo })).files), ["tools/src/b.ts"]);
    const { files, subject } = await call("commit", "feat: b", { all: true, repo });
    assert.deepEqual([files, subject], [2, "feat: b"]);
    assert.equal(await git("show", "--name-only", "--format=%s"), "feat: b\n\na.txt\nsrc/b.ts\n");
    for (const path of ["a.txt", "tools/a.txt"]) {
      assert.equal((await call("show", `HEAD:${path}`, { repo })).text, "ONE\n");
    }
    assert.equal((await call("show", { repo })).subject, "feat: b");
    assert.equal((await call("blame", "tools/a.txt", { repo })).origins.length, 1);
    assert.equal((await call("branch", { repo })).current, "main");
    assert.deepEqual((await call("tag", { repo })).tags, []);
    await call("switch", "side", { create: true, repo });
    await write("a.txt", "side\n");
    await call("commit", "side", { paths: "tools/a.txt", repo });
    await call("switch", "main", { repo });
    await write("a.txt", "main\n");
    await call("commit", "main", { all: true, repo });
    const { conflicts } = await call("merge", "side", { repo });
    assert.deepEqual(conflicts, [{ path: "tools/a.txt", conflict: "both modified" }]);
    await call("merge", { abort: true, repo });
    await write("a.txt", "lost\n");
    assert.deepEqual((await call("restore", "tools", { repo })).files, ["tools/a.txt"]);
    await call("worktree", "tools/.worktrees/x", { branch: "x", repo });
    await assert.rejects(call("worktree", "x", { branch: "y", repo }), /not below tools/);
    await assert.rejects(call("add", "tools/none", { repo }), /there is no file tools\/none/);
    await assert.rejects(call("add", "mono", { repo }), /Cannot add/);
    assert.match(await shell("echo x >> tools/.git/config"), /Read-only/);
    await write("private/key", "x\n");
    await assert.rejects(
      call("add", "tools/private", { repo }),
      /git would store tools\/private\/key, which may hold keys/,
    );
  }, { inside });
}

below("without a repository, git names the repositories below the workspace", async (there) => {
  const { call, view, around } = there;
  const names =
    /^Error: Cannot use git: no repository is in the workspace or above it; pass \{repo: "mono" or "tools"\}$/;
  await assert.rejects(call("status"), names);
  const prompt = await promptOf(view);
  assert.equal(
    prompt,
    'The repositories below cwd, as data; pass {repo: "mono" or "tools"}. Change them here, not by shell.',
  );
  for (const name of ["mono", "tools"]) await Deno.remove(join(around, name, ".git"), { recursive: true });
  await assert.rejects(call("status"), /git\.init\(\) makes one/);
  assert.equal(await promptOf(view), "");
});

Deno.test("the words of a call name the repository below the workspace", () => {
  const done = (name: string, ...args: unknown[]): string => {
    const found = validate(git).symbols.find((one) => one.name === name);
    if (found?.kind !== "function" || typeof found.action !== "function") throw new Error(`git.${name} has no words`);
    const { done, subject } = calledAction(found.action(...args), args);
    return `${done} ${subject}`.trim();
  };
  const of = { repo };
  assert.equal(done("commit", "slug: trim", { ...of, all: true }), "committed slug: trim in tools");
  assert.equal(done("status", of), "read git status in tools");
  assert.equal(done("branch", of), "listed branches in tools");
  assert.equal(done("branch", "fix", { ...of, switch: true }), "changed branch fix in tools");
  assert.equal(done("push", undefined, of), "pushed in tools");
  assert.equal(done("gh", ["pr", "list"], of), "ran gh pr list in tools");
  assert.equal(done("rebase", { continue: true, repo }), "continued a rebase in tools");
  assert.equal(done("commit", "slug: trim"), "committed slug: trim");
});

below("git refuses a repository elsewhere, a link, and a .git that is no folder of its own", async (there) => {
  const { call, around, root, git } = there;
  await Deno.symlink("tools", join(around, "link"));
  await Deno.mkdir(join(around, "linked"));
  await Deno.symlink("../tools/.git", join(around, "linked/.git"));
  await git("worktree", "add", "-q", join(around, "tree"));
  await Deno.mkdir(join(around, "shared/.git"), { recursive: true });
  await Deno.writeTextFile(join(around, "shared/.git/HEAD"), "ref: refs/heads/main\n");
  await Deno.writeTextFile(join(around, "shared/.git/commondir"), "../../tools/.git\n");
  await userGit(["init", "-q", "outside"], { root, cwd: root });
  for (
    const [name, message] of [
      [
        "../outside",
        /it is not below the workspace; pass .*start Vis in a folder that contains both folders, and pass/,
      ],
      [join(root, "outside"), /it is not below the workspace/],
      ["tools/../../outside", /it is not below the workspace/],
      ["link", /its path has a link/],
      ["nowhere", /it is missing/],
      ["plain", /it has no \.git folder with a repository/],
      ["linked", /it has no \.git folder with a repository/],
      ["tree", /it has no \.git folder with a repository/],
      ["shared", /\.git points to .*tools\/\.git/],
    ] as const
  ) await assert.rejects(call("status", { repo: name }), message, name);
});

below("behind an incomplete wall, the question before a change names the repository", async ({ call, view, asked }) => {
  const unwalled = { mode: "ask", reason: "it is a test", some: true };
  Object.assign(view, { programWalls: () => Promise.resolve({ unwalled }) });
  await call("commit", "x", { allowEmpty: true, repo });
  assert.deepEqual(asked.map(({ what, scope, exact }) => [what, scope, exact]), [
    ["change this repository, in tools", "changes by git.commit, in tools", 'git.commit("x", {"allowEmpty":true})'],
  ]);
});

below("hostile settings, hooks and filters of a repository below the workspace run nothing", async (there) => {
  const { call, write } = there;
  await prepare(there);
  for (const { set, name } of ATTACKS) if (!TOO_MUCH.test(name)) await set(there);
  await clear(there);
  const results: unknown[] = [];
  const all = [
    ...[["status"], ["diff"], ["log"], ["show"], ["blame", "tools/a.txt"], ["commit", "x", {
      allowEmpty: true,
      hooks: false,
    }]],
    ...[["switch", "side"], ["switch", "main"], ["merge", "side"], ["stash"], ["restore", "tools/a.txt"]],
  ];
  for (const [name = "", ...args] of all as [string, ...unknown[]][]) {
    await write("a.txt", "ONE\ntwo\nthree\n");
    const last = args.at(-1),
      given = typeof last === "object" ? [...args.slice(0, -1), { ...last, repo }] : [...args, {
        repo,
      }];
    results.push(await call(name, ...given).catch((error: unknown) => error));
  }
  assert.equal(ran(there), false);
  assert.ok(results.filter((one) => one instanceof Error).length < 6, results.map(String).join("\n"));
});

below(
  "push and fetch of a repository below the workspace use the user's keys, and the question names it",
  async (there) => {
    const { root, call, asked, git, shell } = there, home = join(root, "home");
    await userGit(["init", "-q", "--bare", "-b", "main", "there.git"], { root, cwd: join(root, "outside") });
    await Deno.writeTextFile(
      join(home, "ssh"),
      `#!/bin/sh\nfor last; do :; done\n` +
        `exec sh -c "$(printf %s "$last" | sed "s#'/there.git'#'${root}/outside/there.git'#")"\n`,
      { mode: 0o755 },
    );
    await Deno.writeTextFile(join(home, ".gitconfig"), `[core]\n\tsshCommand = ${home}/ssh\n`);
    await git("remote", "add", "origin", ADDRESS);
    await withHome(home, async () => {
      const { commit, upstream } = await call("push", { repo });
      assert.equal(upstream, "origin/main");
      assert.equal(commit, (await git("rev-parse", "refs/remotes/origin/main")).trim());
      assert.deepEqual((await call("fetch", { repo })).changed, []);
      assert.deepEqual(asked.map(({ what }) => what), [
        "push 1 new commit of main to origin, in tools",
        "fetch from origin, in tools",
      ]);
      assert.ok(asked.every(({ scope }) => scope.endsWith(", in tools")));
      // The command could exchange the objects of a repository that it made for others, which the user's git would read.
      const stop = new AbortController(), up = Promise.withResolvers<void>();
      const made = `git init -q -b main made && cd made && git config remote.origin.url ${ADDRESS} && ` +
        "git -c user.name=a -c user.email=b@c commit -q --allow-empty -m made && echo up && sleep 600";
      const running = shell(made, { stop: stop.signal, onOutput: up.resolve });
      await Promise.race([up.promise, running]);
      await call("fetch", { repo });
      await assert.rejects(call("push", { repo: "made" }), /could change .*made\/\.git\/objects/);
      stop.abort();
      await running;
    });
  },
);
