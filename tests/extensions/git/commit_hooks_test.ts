import assert from "node:assert/strict";
import { join } from "node:path";
import { commit } from "../../../extensions/git/commit.ts";
import type { ApprovalRequest } from "../../../src/domain/query/approval.ts";
import type { EnvironmentView } from "../../../src/extension/mod.ts";
import { missing, repository, STARTS, type TestRepository, withHome } from "./_repository.ts";

const ignore = missing !== "";

interface Asking {
  readonly env: EnvironmentView;
  readonly asked: ApprovalRequest[];
  readonly notes: string[];
  readonly warned: string[];
}

function asking(
  { env }: TestRepository,
  { allowed = true, during = () => Promise.resolve() }: {
    readonly allowed?: boolean;
    readonly during?: () => Promise<void>;
  } = {},
): Asking {
  const asked: ApprovalRequest[] = [], notes: string[] = [], warned: string[] = [];
  const view: EnvironmentView = {
    ...env,
    note: (note) => notes.push(note),
    warn: (text) => warned.push(text),
    approve: async (request) => {
      asked.push(request);
      await during();
      return { allowed, reason: allowed ? "" : "the user said no" };
    },
  };
  return { env: view, asked, notes, warned };
}

const hook = async ({ write }: TestRepository, name: string, text: string, folder = ".git/hooks"): Promise<void> =>
  await write(`${folder}/${name}`, `#!/bin/sh\n${text}\n`, { mode: 0o755 });

for (const start of STARTS) {
  Deno.test(`after one question, git.commit runs the hooks as git does (${start})`, { ignore }, async () => {
    await repository(async (there) => {
      const { git, write, workspace, commonDir } = there, { env, asked, warned } = asking(there);
      const folder = join(commonDir, "hooks"), path = start === "top" ? "b.txt" : "started/here/b.txt";
      await hook(
        there,
        "pre-commit",
        `echo formatted >> ${path} && git add ${path} && test "$(pwd)" = ${workspace}`,
        folder,
      );
      await hook(there, "commit-msg", 'test "$GIT_LITERAL_PATHSPECS" = "" && echo "Signed-off-by: me" >> "$1"', folder);
      await write(path, "new\n");
      await git("add", ".");
      const { subject, body, files, skippedHooks } = await commit(env, "with hooks");
      assert.deepEqual([subject, body, files, skippedHooks], ["with hooks", "Signed-off-by: me", 1, undefined]);
      assert.equal(await git("show", `HEAD:${path}`), "new\nformatted\n");
      assert.equal((await git("log", "-1", "--format=%an %cn")).trim(), "Ada Ada");
      const [{ what, exact, scope, lasting, why } = {} as ApprovalRequest, ...more] = asked;
      assert.deepEqual(more, []);
      assert.equal(what, "commit with the hooks pre-commit, commit-msg of this repository");
      assert.equal(exact, 'git.commit("with hooks")');
      assert.deepEqual([scope, lasting], ["commits with the hooks pre-commit, commit-msg", true]);
      assert.match(
        why,
        /\/hooks run behind the command wall, and can change files of the workspace, the index and the history\.$/,
      );
      assert.deepEqual(warned, []);
      assert.deepEqual([...Deno.readDirSync(commonDir)].filter(({ name }) => name.startsWith("vis-")), []);
    }, { start });
  });
}

Deno.test("a long message or list hides no option of the commit in the question", { ignore }, async () => {
  await repository(async (there) => {
    const { env, asked } = asking(there, { allowed: false });
    await hook(there, "pre-commit", "true");
    const paths = Array.from({ length: 900 }, (_, at) => `folder/${at}.txt`);
    await there.write("a.txt", "changed\n");
    for (
      const [message, options] of [["x".repeat(90_000), {}], ["\u0001".repeat(9_000), {
        paths: ["a.txt", ...paths],
      }]] as const
    ) {
      await assert.rejects(commit(env, message, { ...options, amend: true, allowEmpty: true }), /needs an approval/);
      const { exact = "" } = asked.pop() ?? {};
      assert.match(exact, /^git\.commit\(".+… \(\+\d+ chars\)", \{.*"amend":true,"allowEmpty":true\}\)$/);
      assert.ok(exact.length <= 2_020, `${exact.length}`);
    }
  });
});

Deno.test("if a hook fails, git.commit commits nothing, and names the hook with its output", { ignore }, async () => {
  await repository(async (there) => {
    const { git, write } = there, { env } = asking(there), head = await git("rev-parse", "HEAD");
    await hook(there, "pre-commit", "echo one line; git status >/dev/null; git rev-parse --verify nowhere; exit 3");
    await hook(there, "prepare-commit-msg", "true");
    await write("a.txt", "changed\n");
    await assert.rejects(
      commit(env, "no", { all: true }),
      /^Error: Cannot commit: the hook pre-commit failed with exit code 3 and printed:\none line\nfatal: /,
    );
    await hook(there, "pre-commit", "true");
    await hook(there, "commit-msg", "false");
    await assert.rejects(
      commit(env, "no", { paths: "a.txt" }),
      /^Error: Cannot commit: the hook commit-msg failed with exit code 1$/,
    );
    assert.equal(await git("rev-parse", "HEAD"), head);
    assert.equal(await git("status", "--porcelain"), " M a.txt\n");
  });
});

Deno.test("the question names each hook that the commit can run", { ignore }, async () => {
  await repository(async (there) => {
    const { write, git } = there, { env, asked } = asking(there), head = await git("rev-parse", "HEAD");
    const rare = ["post-index-change", "reference-transaction", "post-rewrite", "pre-auto-gc"];
    for (const name of rare) await hook(there, name, "true");
    await write("a.txt", "changed\n");
    const { skippedHooks } = await commit(env, "alone", { all: true });
    assert.deepEqual([skippedHooks, asked], [undefined, []]);
    await hook(there, "pre-commit", "true");
    await hook(there, "post-rewrite", "touch ran");
    const amended = await commit(env, "with hooks", { amend: true });
    assert.deepEqual([amended.skippedHooks, there.exists("workspace/ran")], [undefined, true]);
    assert.equal(asked.at(-1)?.scope, `commits with the hooks pre-commit, ${rare.join(", ")}`);
    await hook(there, "reference-transaction", "! grep -q refs/heads/main");
    await write("a.txt", "changed again\n");
    await assert.rejects(
      commit(env, "no", { all: true }),
      /the hook reference-transaction failed with exit code 1 and/,
    );
    assert.equal(asked.at(-1)?.scope, `commits with the hooks pre-commit, ${rare.toSpliced(2, 1).join(", ")}`);
    assert.notEqual(await git("rev-parse", "HEAD"), head);
    const other = asking(there, { during: () => hook(there, "post-index-change", "touch ran") });
    await assert.rejects(commit(other.env, "no", { all: true }), /a hook changed before git ran it/);
  });
});

Deno.test("a refusal commits nothing, and {hooks: false} commits without hooks", { ignore }, async () => {
  await repository(async (there) => {
    const { git, write } = there, { env, asked, notes } = asking(there, { allowed: false });
    await hook(there, "pre-commit", "touch ran");
    await write("new.txt", "new\n");
    await assert.rejects(
      commit(env, "no", { paths: "new.txt" }),
      /^Error: Cannot commit: the hook pre-commit needs an approval, and the user said no; \{hooks: false\} commits without hooks$/,
    );
    assert.equal(await git("status", "--porcelain"), "?? new.txt\n");
    const { skippedHooks } = await commit(env, "yes", { paths: "new.txt", hooks: false });
    assert.deepEqual(skippedHooks, ["pre-commit"]);
    assert.deepEqual(notes, ["git.commit ran no hook: pre-commit of the repository did not run; tell the user"]);
    assert.equal(there.exists("workspace/ran"), false);
    assert.equal(asked.length, 1);
    await assert.rejects(commit(env, "empty"), /^Error: Cannot commit: no file has changed/);
    assert.equal(asked.length, 1, "a commit that git refuses needs no question");
  });
});

Deno.test(
  "git.commit asks about no hook that is not executable, is elsewhere, or follows commits",
  { ignore },
  async () => {
    await repository(async (there) => {
      const { git, write } = there, { env, asked } = asking(there);
      const committed = async (path: string) => {
        await write(path, `${path}\n`);
        return (await commit(env, path, { paths: path })).skippedHooks;
      };
      await write(".git/hooks/commit-msg", "#!/bin/sh\n", { mode: 0o644 });
      await hook(there, "pre-push", "true");
      assert.equal(await committed("none"), undefined);
      await hook(there, "post-commit", "touch ran");
      assert.deepEqual(await committed("post"), ["post-commit"]);
      await hook(there, "pre-commit", "exit 1");
      await git("config", "core.hooksPath", ".husky");
      assert.equal(await committed("elsewhere"), undefined);
      assert.deepEqual(asked, []);
      await hook(there, "commit-msg", "exit 1", ".husky");
      await assert.rejects(committed("husky"), /the hook commit-msg failed/);
      assert.equal(there.exists("workspace/ran"), false);
    });
  },
);

Deno.test("a folder of hooks outside the repository must be in the user's settings", { ignore }, async () => {
  await repository(async (there) => {
    const { root, git, write } = there, { env, asked } = asking(there), home = join(root, "home");
    const folder = join(root, "outside/hooks");
    await hook(there, "pre-commit", "touch ran", folder);
    await write("a.txt", "changed\n");
    await withHome(home, async () => {
      await git("config", "core.hooksPath", folder);
      await assert.rejects(commit(env, "no", { all: true }), /core\.hooksPath is .* which is outside the repository/);
      assert.deepEqual(asked, []);
      await git("config", "--unset", "core.hooksPath");
      await hook(there, "pre-commit", "touch ran", join(home, ".config/hooks"));
      // Commits of other tests run at the same time with this home.
      await write(join(home, ".gitconfig"), `[includeIf "gitdir:${root}/"]\n\tpath = own\n`);
      await write(join(home, "own"), "[core]\n\thooksPath = ~/.config/hooks\n");
      await commit(env, "yes", { all: true });
    });
    assert.equal(there.exists("workspace/ran"), true);
  });
});

Deno.test("git.commit says that a hook did not run whose link leads out of the repository", { ignore }, async () => {
  await repository(async (there) => {
    const { root, workspace, write } = there, { env, notes } = asking(there);
    await hook(there, "pre-commit", "touch ran", join(root, "outside"));
    await Deno.symlink(join(root, "outside/pre-commit"), join(workspace, ".git/hooks/pre-commit"));
    await hook(there, "commit-msg", "true");
    await write("a.txt", "changed\n");
    const { skippedHooks } = await commit(env, "yes", { all: true });
    assert.deepEqual(skippedHooks, ["pre-commit"]);
    assert.deepEqual(notes, ["pre-commit of the repository did not run; tell the user"]);
    assert.equal(there.exists("workspace/ran"), false);
  });
});

Deno.test("a hook that changes during the question does not run", { ignore }, async () => {
  await repository(async (there) => {
    const { write, git } = there, head = await git("rev-parse", "HEAD");
    await write("a.txt", "changed\n");
    await hook(there, "pre-commit", "true");
    const other = asking(there, { during: () => hook(there, "pre-commit", "touch ran") });
    await assert.rejects(
      commit(other.env, "no", { all: true }),
      /^Error: Cannot commit: a hook changed before git ran it/,
    );
    const more = asking(there, { during: () => hook(there, "commit-msg", "touch ran") });
    await assert.rejects(commit(more.env, "no", { all: true }), /a hook changed before git ran it/);
    assert.equal(there.exists("workspace/ran"), false);
    assert.equal(await git("rev-parse", "HEAD"), head);
  });
});

for (const start of STARTS) {
  Deno.test(
    `hooks leave nothing in a repository that the user's git would run later (${start})`,
    { ignore },
    async () => {
      await repository(async (there) => {
        const { git, write, workspace, commonDir } = there, { env, warned } = asking(there);
        await git("config", "core.hooksPath", ".husky");
        await git("worktree", "add", "-q", join(there.root, "beside"), "-b", "beside");
        await write(".vis/config.jsonc", "{}\n");
        const gitDir = (await git("rev-parse", "--absolute-git-dir")).trim();
        const evil = `${there.root}/outside/evil`, others = [...Deno.readDirSync(join(commonDir, "worktrees"))];
        const paths = [gitDir, commonDir].flatMap((folder) =>
          [
            "config",
            "config.worktree",
            "commondir",
            "hooks/post-commit",
            "info/attributes",
            "modules/x/config",
            "remotes/x",
          ]
            .map((name) => `${folder}/${name}`)
        );
        const more = ["rebase-merge/git-rebase-todo", "sequencer/todo"].map((name) => `${gitDir}/${name}`);
        const beside = others.map(({ name }) => `${commonDir}/worktrees/${name}/config.worktree`);
        const named = [`${workspace}/.husky/post-merge`, `${workspace}/.vis/config.jsonc`, evil];
        const made = [...paths, ...more, ...beside, ...named];
        await hook(
          there,
          "pre-commit",
          `${made.map((path) => `mkdir -p "$(dirname ${path})"; echo evil >> ${path}`).join("\n")}
git config core.fsmonitor '!touch ${evil}'; mv ${commonDir}/config ${commonDir}/gone; mv ${gitDir} ${gitDir}.gone; rm -f .git; true`,
          ".husky",
        );
        const before = made.map((path) => textOf(path));
        await write("a.txt", "changed\n");
        const { subject } = await commit(env, "yes", { all: true });
        assert.equal(subject, "yes");
        assert.deepEqual(made.map((path) => textOf(path)), before);
        assert.equal(await git("status", "--porcelain", "--", "a.txt"), "");
        assert.equal(await git("config", "--get", "core.hooksPath"), ".husky\n");
        assert.match(
          warned.join("\n"),
          /^A hook of git made config.* and \d more in \.git, which could make git run programs; Vis removed it$/,
        );
      }, { start });
    },
  );
}

function textOf(path: string): string | null {
  try {
    return Deno.readTextFileSync(path);
  } catch {
    return null;
  }
}

Deno.test("no commit stores a secret file or a repository that only a hook staged", { ignore }, async () => {
  await repository(async (there) => {
    const { git, write } = there, { env } = asking(there), asks = { ...env, secrets: [".env*"] };
    await write(".env", "KEY=1\n");
    await git("add", ".env");
    await git("commit", "-q", "-m", "with a secret file");
    const head = await git("rev-parse", "HEAD");
    await write(".env.new", "KEY=3\n");
    await write("a.txt", "changed\n");
    await git("add", "a.txt");
    const staged = await git("status", "--porcelain");
    for (
      const [text, name] of [
        ["git add .env.new", ".env.new"],
        ["git add .env.new; exit 1", ".env.new"],
        ["echo KEY=9 > .env; git add .env; git checkout -q HEAD .env; git add .env.new", ".env.new"],
        ["git init -q sub; git update-index --add --cacheinfo 160000,$(git rev-parse HEAD),sub", "sub"],
        ["git add .env.new; git commit -q --no-verify -m own; git reset -q HEAD~ -- .env.new", ".env.new"],
        ["git add .env.new; git checkout -q -b elsewhere", ".env.new"],
      ] as const
    ) {
      await hook(there, "pre-commit", text);
      await assert.rejects(
        commit(asks, "no"),
        (error: Error) => error.message.startsWith(`Cannot commit: a hook stored ${name}, which may hold keys or is a`),
        text,
      );
      await Deno.remove(join(there.workspace, "sub"), { recursive: true }).catch(() => {});
      assert.equal(await git("rev-parse", "HEAD"), head, text);
      assert.equal(await git("symbolic-ref", "HEAD"), "refs/heads/main\n", text);
      await git("add", "a.txt");
      assert.equal(await git("status", "--porcelain"), staged, text);
    }
  });
});

Deno.test("git.commit warns about other branches that a hook moved or deleted", { ignore }, async () => {
  await repository(async (there) => {
    const { git, write } = there, { env, warned } = asking(there);
    for (const name of ["deleted", "moved", "kept"]) await git("branch", name);
    const head = (await git("rev-parse", "HEAD")).trim();
    await hook(
      there,
      "pre-commit",
      "git branch -q -D deleted; git branch made; git branch -q -f moved $(git commit-tree -m other HEAD^{tree})",
    );
    await write("a.txt", "changed\n");
    await commit(env, "yes", { all: true });
    assert.deepEqual(warned, [
      `While hooks of git ran, a branch or another ref changed: refs/heads/deleted (deleted, it was ${head}), ` +
      `refs/heads/moved (it was ${head})`,
    ]);
    await git("checkout", "-q", "--detach");
    await hook(there, "pre-commit", "git branch -q -D moved; false");
    await assert.rejects(commit(env, "no", { allowEmpty: true }), /the hook pre-commit failed/);
    assert.match(warned[1] ?? "", /^While .*: refs\/heads\/moved \(deleted, it was [0-9a-f]{40}\)$/);
    assert.equal(warned.length, 2);
  });
});

Deno.test("hooks do not run while a tracked secret file, which they cannot read, has changes", { ignore }, async () => {
  await repository(async (there) => {
    const { git, write } = there, { env } = asking(there), asks = { ...env, secrets: [".env*"] };
    await hook(there, "pre-commit", "touch ran");
    await write(".env", "KEY=1\n");
    await write("a.txt", "changed\n");
    const refusal =
      /^Error: Cannot commit: \.env has changes and may hold keys, so hooks cannot read it; pass \{hooks: /;
    await git("add", ".env");
    await assert.rejects(commit(asks, "no"), refusal);
    await git("commit", "-q", "--no-verify", "-m", "with a secret file");
    await write(".env", "KEY=2\n");
    await git("add", "a.txt");
    await assert.rejects(commit(asks, "no"), refusal);
    await assert.rejects(commit(asks, "no", { all: true }), refusal);
    assert.equal(there.exists("workspace/ran"), false);
    await commit(asks, "yes", { all: true, hooks: false });
    assert.equal(await git("show", "HEAD:.env"), "KEY=2\n");
    await write("a.txt", "changed again\n");
    await commit(asks, "yes", { all: true });
    assert.equal(there.exists("workspace/ran"), true);
  });
});

Deno.test("a commit removes files of a commit that a signal ended, but not of a running one", { ignore }, async () => {
  await repository(async (there) => {
    const { write, commonDir } = there, { env } = asking(there);
    await hook(there, "pre-commit", "true");
    for (const name of ["vis-trace-old", "vis-sign-old/new", "vis-trace-new", "vis-sign-new/new"]) {
      await write(join(commonDir, name), "");
    }
    for (const name of ["vis-trace-old", "vis-sign-old"]) await Deno.utime(join(commonDir, name), 0, 0);
    await commit(env, "yes", { allowEmpty: true });
    const left = [...Deno.readDirSync(commonDir)].map(({ name }) => name).filter((name) => name.startsWith("vis-"));
    assert.deepEqual(left.sort(), ["vis-sign-new", "vis-trace-new"]);
  });
});

Deno.test("a cancelled commit ends its hooks, and leaves no lock", { ignore }, async () => {
  await repository(async (there) => {
    const { write, git } = there, cancel = new AbortController();
    const { env } = asking(there);
    await write("a.txt", "changed\n");
    await hook(there, "pre-commit", "echo begun; sleep 60");
    const head = await git("rev-parse", "HEAD");
    await assert.rejects(
      commit({ ...env, signal: cancel.signal, showOutput: () => cancel.abort(new Error("stopped")) }, "no", {
        all: true,
      }),
      /stopped/,
    );
    assert.equal(await git("rev-parse", "HEAD"), head);
    assert.deepEqual(
      [...Deno.readDirSync(there.commonDir)].filter(({ name }) => /\.lock$|^vis-/.test(name)),
      [],
    );
    await commit(env, "yes", { all: true, hooks: false });
  });
});
