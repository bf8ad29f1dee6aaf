import assert from "node:assert/strict";
import { join } from "node:path";
import { commonFolderOf, gitFolderOf, GitIndex } from "../../../src/domain/kit/git_repository.ts";
import { withFolder } from "../../helpers/with_folder.ts";

const ignore = Deno.build.os === "windows";

function sh(folder: string, script: string): string {
  const { success, stdout, stderr } = new Deno.Command("/bin/sh", {
    args: ["-c", script],
    cwd: folder,
    env: {
      GIT_CONFIG_GLOBAL: "/dev/null",
      GIT_CONFIG_SYSTEM: "/dev/null",
      GIT_CEILING_DIRECTORIES: join(folder, ".."),
    },
  }).outputSync();
  assert.ok(success, new TextDecoder().decode(stderr));
  return new TextDecoder().decode(stdout);
}

const COMMIT = "-c user.name=a -c user.email=a@example.org commit -q --allow-empty -m first";
const named = (how: string): string => `git init -q --bare own && mkdir top && ${how}`;
const MAIN = `git init -q main && git -C main ${COMMIT}`;

/** Maps scripts to the folders that git finds from `top`, relative to the folder of the scripts; null without a
 * repository. */
const LAYOUTS: Readonly<Record<string, readonly [script: string, gitDir: string | null, commonDir?: string]>> = {
  "a folder": ["git init -q top", "top/.git"],
  "a file with a relative path": [named("echo 'gitdir: ../own' > top/.git"), "own"],
  "a file with an absolute path": [named('echo "gitdir: $PWD/own" > top/.git'), "own"],
  "a file without the end of its line": [named("printf 'gitdir: ../own' > top/.git"), "own"],
  "a file with another end of its line": [named("printf 'gitdir: ../own\\r\\n\\n' > top/.git"), "own"],
  "a file with a blank at the end": [named("mv own 'own ' && printf 'gitdir: ../own \\n' > top/.git"), "own "],
  "a file with two lines": [
    named("mkdir top/'a\nb' && mv own top/'a\nb/own' && printf 'gitdir: a\\nb/own\\n' > top/.git"),
    "top/a\nb/own",
  ],
  "a file with a line before": [named("printf '# own\\ngitdir: ../own\\n' > top/.git"), null],
  "an empty file": [named(": > top/.git"), null],
  "a file of over 1 MB": [
    named("{ printf 'gitdir: ../own'; head -c 1048576 /dev/zero | tr '\\0' '\\n'; } > top/.git"),
    null,
  ],
  "a pipe": [named("mkfifo top/.git"), null],
  "a link to a folder": [named("ln -s ../own top/.git"), "own"],
  "a link to a file": [named("mkdir more && echo 'gitdir: ../own' > more/file && ln -s ../more/file top/.git"), "own"],
  "a path through a link": [
    named(
      "mkdir -p more/deep && mv own more/own && ln -s ../more/deep top/link && echo 'gitdir: link/../own' > top/.git",
    ),
    "more/own",
  ],
  "a link that leads nowhere": [named("ln -s nowhere top/.git"), null],
  "a worktree": [`${MAIN} && git -C main worktree add -q ../top`, "main/.git/worktrees/top", "main/.git"],
  "a submodule": [
    `${MAIN} && git init -q all && git -C all -c protocol.file.allow=always submodule --quiet add "$PWD/main" sub && ln -s all/sub top`,
    "all/.git/modules/sub",
  ],
  "a file commondir that leads out": [
    `${MAIN} && git init -q top && rm -rf top/.git/objects top/.git/refs && echo ../../main/.git > top/.git/commondir`,
    "top/.git",
    "main/.git",
  ],
  "a link commondir": [
    `${MAIN} && git init -q top && rm -rf top/.git/objects top/.git/refs && echo ../../main/.git > file && ln -s ../../file top/.git/commondir`,
    "top/.git",
    "main/.git",
  ],
  "a bare repository": ["git init -q --bare top", null],
  "nothing": ["mkdir top", null],
};

for (const [layout, [script, gitDir, commonDir = gitDir]] of Object.entries(LAYOUTS)) {
  Deno.test(
    `gitFolderOf() and commonFolderOf() find what git finds: ${layout}`,
    { ignore },
    () =>
      withFolder(async (folder) => {
        const at = await Deno.realPath(folder), top = join(at, "top");
        sh(at, script);
        const found = await gitFolderOf(top);
        assert.equal(found, gitDir === null ? null : join(at, gitDir));
        assert.equal(
          found === null ? null : await commonFolderOf(found),
          commonDir === null ? null : join(at, commonDir),
        );
        const ofGit = sh(top, "git rev-parse --absolute-git-dir 2>/dev/null || true").slice(0, -1);
        assert.equal(ofGit, layout === "a bare repository" ? top : found ?? "");
      }),
  );
}

Deno.test(
  "gitFolderOf() names a folder that is missing, and refuses a name that is not UTF-8",
  { ignore },
  () =>
    withFolder(async (folder) => {
      const at = await Deno.realPath(folder);
      sh(at, "printf 'gitdir: own/repository\\n' > .git");
      assert.equal(await gitFolderOf(at), join(at, "own/repository"));
      sh(at, "printf 'gitdir: own\\377\\n' > .git; printf 'own\\377\\n' > commondir");
      const odd =
        /^Error: Cannot find a repository: \S+\/\.git names a folder whose path is not UTF-8 \(own\ufffd\); rename the folder, /;
      await assert.rejects(gitFolderOf(at), odd);
      await assert.rejects(commonFolderOf(at), /commondir names a folder whose path is not UTF-8 \(own\ufffd\)/);
    }),
);

const FORMATS = [["2"], ["3"], ["4"], ["2", "--object-format=sha256"]] as const;

for (const [version, ...options] of FORMATS) {
  Deno.test(
    `GitIndex reads the entries of version ${[version, ...options].join(" ")}`,
    { ignore },
    () =>
      withFolder(async (folder) => {
        const at = await Deno.realPath(folder);
        const files = ["a", "a/b", "a/b/c.txt", "a/b/ca", "ä", "long".repeat(60)];
        sh(
          at,
          `git init -q ${options.join(" ")} . && ${MAIN.replace("init -q", `init -q ${options.join(" ")}`)} &&
          mkdir -p x/a/b && for name in ${
            files.map((name) => `'x/${name}'`).join(" ")
          }; do [ -d "$name" ] || echo "$name" > "$name"; done &&
          git add x && git -c advice.addEmbeddedRepo=false add main && git update-index --index-version ${version} &&
          { [ ${version} != 3 ] || { echo later > later && git add --intent-to-add later; }; }`,
        );
        const index = new GitIndex(await Deno.readFile(join(at, ".git/index")), { sha256: options.length > 0 });
        const found = [...index.entries()].map(({ name, hash, size, isSubmodule }) => {
          if (!isSubmodule && name !== "later") assert.equal(size, Deno.statSync(join(at, name)).size);
          return `${isSubmodule ? "160000" : "100644"} ${hash.toString("hex")} 0\t${name}`;
        });
        assert.deepEqual(found, sh(at, "git ls-files -s -z").split("\0").slice(0, -1));
        assert.equal(index.shared, null);
        sh(at, "git update-index --split-index");
        const split = new GitIndex(await Deno.readFile(join(at, ".git/index")), { sha256: options.length > 0 });
        assert.equal(split.shared, null, "known once all entries have been read");
        assert.ok([...split.entries()].length <= found.length);
        assert.ok([...Deno.readDirSync(join(at, ".git"))].some(({ name }) => name === split.shared));
      }),
  );
}

Deno.test(
  "GitIndex tells versions of a file in a conflict, and has nothing of another file",
  { ignore },
  () =>
    withFolder(async (folder) => {
      const at = await Deno.realPath(folder);
      const commit = COMMIT.replace("--allow-empty", "-a");
      sh(
        at,
        `git init -q . && echo a > a && git add a && git ${commit} && git checkout -q -b other && echo b > a && git ${commit} &&
        git checkout -q - && echo c > a && git ${commit} && ! git -c user.name=a -c user.email=a@example.org merge -q other`,
      );
      const bytes = await Deno.readFile(join(at, ".git/index"));
      assert.deepEqual([...new GitIndex(bytes, { sha256: false }).entries()].map((one) => one.isConflict), [
        true,
        true,
        true,
      ]);
      for (
        const text of [
          "",
          "DIRC",
          `DIRC\0\0\0\x05\0\0\0\x01${"x".repeat(200)}`,
          `DIRC\0\0\0\x02\0\0\0\x05${"x".repeat(70)}`,
        ]
      ) {
        assert.deepEqual([...new GitIndex(new TextEncoder().encode(text), { sha256: false }).entries()], []);
      }
    }),
);

Deno.test(
  "gitFolderOf() and commonFolderOf() take no text of a private file behind a link",
  { ignore },
  () =>
    withFolder(async (folder) => {
      const at = await Deno.realPath(folder), top = join(at, "top");
      sh(
        at,
        "printf 'SECRET\\nline\\n' > key && printf '\\377' > bytes && git init -q top && ln -s ../../key top/.git/commondir",
      );
      assert.equal(await commonFolderOf(join(top, ".git")), join(top, ".git"));
      sh(at, "rm top/.git/commondir && ln -s ../../bytes top/.git/commondir");
      assert.equal(await commonFolderOf(join(top, ".git")), join(top, ".git"));
      sh(at, "echo 'gitdir: SECRET' > key && mkdir other && ln -s ../key other/.git");
      assert.equal(await gitFolderOf(join(at, "other")), null);
    }),
);
