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
      assert.match(why, /\/hooks run behind the command wall, and can change files of the workspace and \.git\.$/);
      assert.deepEqual(warned, []);
      assert.deepEqual([...Deno.readDirSync(commonDir)].filter(({ name }) => name.startsWith("vis-")), []);
    }, { start });
  });
}

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

Deno.test("the user sees that a hook changed settings or hooks, and .vis stays closed", { ignore }, async () => {
  await repository(async (there) => {
    const { write } = there, { env, warned } = asking(there);
    await write("a.txt", "changed\n");
    await write(".vis/config.jsonc", "{}\n");
    await write(".env", "KEY=1\n");
    await hook(
      there,
      "pre-commit",
      "git config alias.x '!true'; echo true >> .git/hooks/pre-push; chmod +x .git/hooks/pre-push; cat .env > seen; echo > .vis/config.jsonc; " +
        `echo > ${there.root}/outside/made; true`,
    );
    await commit(env, "yes", { all: true });
    const [text = "", ...rest] = warned;
    assert.deepEqual(rest, []);
    assert.match(text, /^A hook of git changed files that git runs or reads as settings: .*pre-push/);
    assert.equal(await Deno.readTextFile(join(there.workspace, ".vis/config.jsonc")), "{}\n");
    assert.equal(there.exists("outside/made"), false);
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
