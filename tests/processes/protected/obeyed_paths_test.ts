import assert from "node:assert/strict";
import { join } from "node:path";
import { ObeyedPaths } from "../../../src/processes/protected/obeyed_paths.ts";
import { asUser, planted } from "../_planting.ts";

const hasGit = Deno.build.os === "linux" && await Deno.stat("/usr/bin/git").then(() => true, () => false);
const ignore = !hasGit;

async function reasons(
  { script, paths, workspace: below = "." }: {
    readonly script: string;
    readonly paths: readonly string[];
    readonly workspace?: string;
  },
): Promise<Readonly<Record<string, string>>> {
  let found: Readonly<Record<string, string>> = {};
  await planted("no repository", async (place) => {
    await asUser(script, place);
    const obeyed = new ObeyedPaths({ home: join(place.root, "home"), visHome: null, env: {} });
    const list = await obeyed.of(join(place.workspace, below), paths);
    found = Object.fromEntries(list.map(({ path, reason }) => [path, reason]));
  });
  return found;
}

const HOOKS = "git runs by the setting core.hooksPath";
const COMMIT = "git commit -q --allow-empty -m first";

/** Maps places to the reasons for their paths. A path without a reason is not obeyed. */
const PLACES: Readonly<
  Record<
    string,
    { readonly script: string; readonly workspace?: string; readonly are: Readonly<Record<string, string>> }
  >
> = {
  "no repository": { script: "mkdir -p tools", are: { "tools/a": "", "a": "" } },
  "a folder of hooks that is missing": {
    script: "git init -q . && git config core.hooksPath .husky/_",
    are: { ".husky/_/pre-commit": HOOKS, ".husky/_": HOOKS, ".husky": HOOKS, ".HUSKY/_/x": HOOKS, ".husky/x": HOOKS },
  },
  "a folder of hooks that the user's own settings name": {
    script: "git init -q . && git config --global core.hooksPath .githooks",
    are: { ".githooks/pre-commit": HOOKS, "githooks/pre-commit": "" },
  },
  "a path that may be missing": {
    script: "git init -q . && git config core.hooksPath ':(optional)tools/hooks'",
    are: { "tools/hooks/pre-commit": HOOKS, "tools/other": "" },
  },
  "hooks behind links": {
    script: `git init -q . && git config core.hooksPath x/hooks && mkdir -p z/real && ln -s z x && ln -s real z/hooks &&
      echo > script && ln -s ../../script z/real/pre-push`,
    are: {
      "x": HOOKS,
      "z/hooks": HOOKS,
      "z/real/pre-commit": HOOKS,
      "z/a": "",
      "script": "git runs by the link z/real/pre-push",
    },
  },
  "settings that are included": {
    script: "git init -q . && git config include.path ../one && git config includeIf.onbranch:x.path ../more/two",
    are: {
      "one": "git reads by the setting include.path",
      "more/two": "git reads by the setting include.path",
      "two": "",
    },
  },
  "another folder with the files": {
    script: "git init -q . && mkdir src && git config core.worktree ../src && git config core.hooksPath hooks",
    are: { "src/hooks/pre-commit": HOOKS, "hooks/pre-commit": HOOKS, "src/other": "" },
  },
  "hooks that a push runs in the repository's own folder": {
    script: "git init -q . && git config core.hooksPath ../hooks",
    are: { "hooks/pre-receive": HOOKS, "other": "" },
  },
  "the command that updates a submodule": {
    script:
      `git init -q . && mkdir -p .git/modules/logs logs && git config -f .git/modules/logs/config core.worktree ../../../logs &&
      git config submodule.logs.update '!sh tools/update'`,
    are: { "logs/tools/update": "git runs by the setting submodule.logs.update", "logs/tools/other": "" },
  },
  "a remote that is a command, and remotes that are missing": {
    script:
      `git init -q . && git remote add one 'ext::tools/connect %S' && git remote add two https://host.invalid/two.git &&
      git config branch.main.remote own/three.git && git config url."$PWD/own/".insteadOf https://host.invalid/`,
    are: {
      "tools/connect": "git runs by the setting remote.one.url",
      "own/two.git/hooks/pre-receive": "git reads as a remote",
      "own/three.git/hooks/pre-receive": "git reads as a remote",
      "own/four.git/config": "",
    },
  },
  "branches that are stored elsewhere": {
    script:
      `git init -q . && git config core.repositoryFormatVersion 1 && git config extensions.refStorage "files://$PWD/store"`,
    are: { "store/refs/heads/main": "git reads by the setting extensions.refstorage", "refs/heads/main": "" },
  },
  "programs that newer versions of git run": {
    script: `git init -q . && git config hook.lint.event pre-commit && git config hook.lint.command tools/lint &&
      git config gc.recentObjectsHook tools/recent && git config alias.all.command '!tools/all'`,
    are: {
      "tools/lint": "git runs by the setting hook.lint.command",
      "tools/recent": "git runs by the setting gc.recentobjectshook",
      "tools/all": "git runs by the setting alias.all.command",
      "tools/other": "",
    },
  },
  "alternates, plain and in quotes": {
    script: `git init -q . && printf '%s/one\\n"%s/t\\\\167o"\\n' "$PWD" "$PWD" > .git/objects/info/alternates`,
    are: { "one/aa/bb": "git reads as an alternate", "two/aa/bb": "git reads as an alternate", "three/aa/bb": "" },
  },
  "programs that settings name": {
    script: `git init -q . && git config filter.own.clean 'tools/filter %f' && git config alias.all '!sh all.sh log' &&
      git config alias.short 'log --oneline' && git config blame.ignoreRevsFile ignored && git config user.name gone && echo > ignored`,
    are: {
      "tools/filter": "git runs by the setting filter.own.clean",
      "all.sh": "git runs by the setting alias.all",
      "ignored": "the setting blame.ignorerevsfile of git names",
      "--oneline": "",
      "gone": "",
      "tools/other": "",
    },
  },
  "names with characters that separate words elsewhere": {
    script: `git init -q . && git config alias.one '!sh d/\\rc' && git config alias.two '!tools/a,b:{c}' &&
      git config alias.three '!sh "h"/i' && git config core.sshCommand 'ssh -Fsshcfg'`,
    are: {
      "d/rc": "git runs by the setting alias.one",
      "tools/a,b:{c}": "git runs by the setting alias.two",
      "h/i": "git runs by the setting alias.three",
      "sshcfg": "git runs by the setting core.sshcommand",
      "cfg": "",
    },
  },
  "links of the repository and of Vis": {
    script: `git init -q . && mkdir -p tools .vis/extensions own && echo > tools/check &&
      ln -s ../../tools/check .git/hooks/pre-commit && ln -s ../../own .vis/extensions/mine`,
    are: {
      "tools/check": "git runs by the link .git/hooks/pre-commit",
      "own/mod.ts": "Vis reads by the link .vis/extensions/mine",
      "tools/other": "",
    },
  },
  "a workspace below the top of its repository": {
    script: "git init -q . && mkdir -p a/b && git config core.hooksPath a/b/hooks",
    workspace: "a/b",
    are: { "hooks/pre-commit": HOOKS, "a/b/hooks/pre-commit": "" },
  },
  "a worktree": {
    script: `git init -q main && git -C main config core.hooksPath hooks && git -C main ${COMMIT.slice(4)} &&
      git -C main worktree add -q ../tree`,
    are: { "main/hooks/x": HOOKS, "tree/hooks/x": HOOKS, "hooks/x": "" },
  },
  "hooks in the workspace itself": {
    script: "git init -q . && git config core.hooksPath .",
    are: { "pre-commit": HOOKS, "tools/pre-commit": "" },
  },
  "hooks above the target of a link": {
    script: "git init -q . && mkdir -p far/a && ln -s far/a linked && git config core.hooksPath linked/../hooks",
    are: { "far/hooks/x": HOOKS, "linked": HOOKS, "hooks/x": "", "far/a/x": "" },
  },
  "a repository behind a link": {
    script:
      "mkdir -p far/a && ln -s far/a linked && git init -q --separate-git-dir=far/a/own . && echo gitdir: linked/own > .git",
    are: { "linked": "git reads", "far/x": "" },
  },
  "objects in other folders": {
    script: `git init -q . && mkdir -p pool/info && echo ../../pool > .git/objects/info/alternates &&
      echo ../more > pool/info/alternates`,
    are: { "pool/aa/x": "git reads as an alternate", "more/aa/x": "git reads as an alternate", "other": "" },
  },
  "a submodule in a split index": {
    script: `git init -q . && ${COMMIT} && git update-index --add --cacheinfo 160000,$(git rev-parse HEAD),sub &&
      git update-index --split-index && git update-index --add --cacheinfo 160000,$(git rev-parse HEAD),late`,
    are: { "sub/.git/config": "git reads as a submodule", "late/.git/config": "git reads as a submodule" },
  },
  "a submodule": {
    script: `git init -q ../other && git -C ../other ${COMMIT.slice(4)} && git init -q . &&
      git -c protocol.file.allow=always submodule --quiet add ../other sub && git -C sub config core.hooksPath ../hooks`,
    are: { "hooks/x": HOOKS, "sub/hooks/x": "" },
  },
};

for (const [name, { script, workspace = ".", are }] of Object.entries(PLACES)) {
  Deno.test(`paths that git or Vis obey: ${name}`, { ignore }, async () => {
    const found = await reasons({ script, workspace, paths: Object.keys(are) });
    assert.deepEqual(found, Object.fromEntries(Object.entries(are).filter(([, reason]) => reason !== "")));
  });
}

Deno.test("Vis obeys its database, and the journals that it would find beside it", { ignore }, async () => {
  await planted("no repository", async ({ root, workspace }) => {
    await Deno.mkdir(join(workspace, "data"));
    await Deno.symlink(join(workspace, "data/vis.db"), join(workspace, "own.db"));
    await Deno.writeTextFile(join(workspace, "data/vis.db"), "");
    const obeyed = new ObeyedPaths({
      ...{ home: join(root, "home"), visHome: null, env: {} },
      database: join(workspace, "own.db"),
    });
    const paths = ["own.db", "data/vis.db", "data/vis.db-wal", "data/vis.db-journal", "data/other.db"];
    const list = await obeyed.of(workspace, paths);
    assert.deepEqual(list.map(({ path }) => path), paths.slice(0, -1));
    assert.equal(list[0]?.reason, "Vis uses as its database");
  });
});

Deno.test(
  "Vis obeys paths in an added folder by its own settings and by those of the workspace",
  { ignore },
  async () => {
    await planted("a repository", async (place) => {
      const { root, workspace } = place, lib = join(root, "lib");
      const script =
        `git init -q ../lib && git -C ../lib config core.hooksPath own && git config core.hooksPath ../lib/shared
      mkdir -p ../lib/.vis ../lib/skills && ln -s ../skills ../lib/.vis/skills`;
      await asUser(script, place);
      const obeyed = new ObeyedPaths({ home: join(root, "home"), visHome: null, env: {} });
      const paths = ["own/a", "shared/a", "skills/a", "x.ts"].map((path) => join(lib, path));
      const list = await obeyed.of(workspace, ["a.txt", ...paths], workspace, [lib]);
      assert.deepEqual(new Set(list.map(({ path }) => path)), new Set(paths.slice(0, 3)));
    });
  },
);

Deno.test(
  "what the user changes later counts from then on: settings, links, folders and repositories",
  { ignore },
  async () => {
    await planted("a repository", async (place) => {
      const obeyed = new ObeyedPaths({ home: join(place.root, "home"), visHome: null, env: {} });
      const isObeyed = async (path: string): Promise<boolean> =>
        (await obeyed.of(place.workspace, [path])).length === 1;
      const becomes = async (path: string, script: string): Promise<void> => {
        assert.equal(await isObeyed(path), false, `before: ${script}`);
        await asUser(script, place);
        assert.equal(await isObeyed(path), true, script);
      };
      await becomes("hooks/pre-commit", "git config core.hooksPath hooks");
      await becomes("real/pre-commit", "mkdir real && ln -s real hooks");
      await becomes("script", "echo > script && ln -s ../script real/pre-push");
      await becomes(
        "global/x",
        'printf "[include]\\npath = ../workspace/more\\n" > ../home/.gitconfig; printf "[core]\\nhooksPath = global\\n" > more',
      );
      await becomes("third", "echo > third && ln -s ../../third .git/hooks/post-commit");
      await becomes("below/own/x", "git init -q below && git -C below config core.hooksPath own");
      await becomes("mine/a", "mkdir -p .vis mine && ln -s ../mine .vis/skills");
    });
  },
);
