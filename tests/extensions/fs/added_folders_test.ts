import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { join } from "node:path";
import fs from "../../../extensions/fs/mod.ts";
import { addedTree, FsPlaces, treeOf } from "../../../extensions/fs/fs_places.ts";
import { UNDO_ARGUMENTS, undoCli } from "../../../extensions/fs/undo_cli.ts";
import { Kernel } from "../../../extensions/fs/tree/kernel.ts";
import { PathTree } from "../../../extensions/fs/tree/path_tree.ts";
import { TreeWithAdded } from "../../../extensions/fs/tree/tree.ts";
import type { EnvironmentView } from "../../../src/extension/mod.ts";
import { parseDiff } from "../../../src/markdown/parse_diff.ts";
import { Workspace } from "./_workspace.ts";

interface Added {
  readonly workspace: Workspace;
  readonly lib: string;
  readonly view: EnvironmentView;
}

async function added(test: (at: Added) => Promise<void>, files: Readonly<Record<string, string>> = {}): Promise<void> {
  await using workspace = await Workspace.with({ "src/a.ts": "own needle\n", ...files });
  const lib = join(workspace.outside, "../lib");
  const all = {
    "x.ts": "export function parse() {\n  return 1; // needle\n}\n",
    "src/y.ts": "needle\n",
    ".gitignore": "out/\n",
    "out/built.ts": "needle\n",
    ".env": "KEY=needle\n",
  };
  for (const [path, text] of Object.entries(all)) await workspace.put(`../lib/${path}`, text);
  const view: EnvironmentView = Object.assign(workspace.env, { readFolders: [lib], secrets: [".env*"] });
  await test({ workspace, lib, view });
}

Deno.test("each reading function of fs reads in an added folder, and returns absolute paths", () =>
  added(async ({ workspace, lib }) => {
    for (const path of ["../lib/x.ts", `${lib}/x.ts`, "src/../../lib/x.ts"]) {
      assert.match(await workspace.call("readFile", path), /^export function parse/);
      assert.equal((await workspace.call("stat", path)).path, `${lib}/x.ts`);
      assert.equal((await workspace.call("definition", path, "parse")).to, 3);
      assert.equal((await workspace.call("readLines", path)).lines.length, 3);
      assert.equal(await workspace.call("count", "needle", path), 1);
    }
    const places = ["../lib", lib, "../lib/"];
    for (const folder of places) {
      const hits = await workspace.call("grep", "needle", folder);
      assert.deepEqual(hits.map(({ path }: { path: string }) => path), [`${lib}/src/y.ts`, `${lib}/x.ts`]);
      const listed = await workspace.call("listFiles", folder, { depth: 1 });
      assert.deepEqual(listed.map(({ path }: { path: string }) => path), [
        ...[".env", ".gitignore", "src", "x.ts"].map((name) => `${lib}/${name}`),
      ]);
    }
    for (const pattern of ["../lib/**/*.ts", `${lib}/**/*.ts`]) {
      assert.deepEqual(await workspace.call("glob", pattern), [`${lib}/src/y.ts`, `${lib}/x.ts`]);
      const hits = await workspace.call("grep", "needle", { glob: pattern });
      assert.deepEqual(hits.map(({ path }: { path: string }) => path), [`${lib}/src/y.ts`, `${lib}/x.ts`]);
      const read = await workspace.call("readFiles", [pattern, "src/a.ts"]);
      assert.deepEqual(read.map(({ path }: { path: string }) => path), [`${lib}/src/y.ts`, `${lib}/x.ts`, "src/a.ts"]);
      assert.ok(read.every(({ error }: { error?: string }) => error === undefined));
    }
    assert.deepEqual(await workspace.call("glob", ["../lib/*.ts", "src/*.ts"]), [`${lib}/x.ts`, "src/a.ts"]);
    assert.deepEqual(await workspace.call("glob", ["../lib", "!**/*.ts"]), [`${lib}/.env`, `${lib}/.gitignore`]);
    const top = await workspace.call("grep", "needle", { glob: ["../lib/*.ts", "*.md"] });
    assert.deepEqual(top.map(({ path }: { path: string }) => path), [`${lib}/x.ts`]);
    const inBoth = await workspace.call("grep", "needle", { path: ["src", "../lib"], glob: "src/*.ts" });
    assert.deepEqual(inBoth.map(({ path }: { path: string }) => path), ["src/a.ts", `${lib}/src/y.ts`]);
    assert.equal((await workspace.call("grep", "needle", { path: "../lib", all: true })).length, 3);
    assert.equal((await workspace.call("grep", "needle")).length, 1, "a search without a folder is of the workspace");
    const missing = await workspace.refusal("readFile", "../lib/z.ts");
    assert.match(missing, /Cannot read \S+\/lib\/z\.ts: there is no such file or folder; did you mean \S+\/lib\/x\.ts/);
    assert.match(await workspace.refusal("readFile", "../lib/no/z.md"), /the nearest existing folder is \S+\/lib$/);
  }));

Deno.test("fs follows links between the workspace and an added folder", () =>
  added(async ({ workspace, lib }) => {
    await Deno.symlink(lib, join(workspace.root, "linked"));
    await Deno.symlink(workspace.root, join(lib, "back"));
    assert.equal((await workspace.call("stat", "linked/x.ts")).path, "linked/x.ts");
    assert.deepEqual(await workspace.call("glob", "linked/*.ts"), ["linked/x.ts"]);
    await Deno.symlink(join(lib, "x.ts"), join(workspace.root, ".env.local"));
    assert.match(await workspace.refusal("readFile", ".env.local"), /it may hold keys/);
    assert.equal((await workspace.call("stat", "../lib/back/src/a.ts")).path, "src/a.ts");
    assert.equal(await workspace.call("count", "needle", "linked"), 2);
    await workspace.call("edit", "../lib/back/src/a.ts", { old: "own", new: "our" });
    assert.equal(await workspace.text("src/a.ts"), "our needle\n");
  }));

Deno.test("an added folder that goes away leaves the calls in the workspace working", () =>
  added(async ({ workspace, lib }) => {
    await Deno.rename(lib, `${lib}.old`);
    for (const why of [/: there is no such file or folder; the folder \S+\/lib is gone$/, /is outside the workspace/]) {
      assert.equal((await workspace.call("grep", "needle")).length, 1);
      assert.match(await workspace.refusal("grep", "needle", lib), why);
      assert.match(await workspace.refusal("readFile", "../lib/x.ts"), why);
      if (!existsSync(lib)) await Deno.symlink(`${lib}.old`, lib);
    }
    await Deno.remove(lib);
    await Deno.rename(`${lib}.old`, lib);
    assert.equal((await workspace.call("grep", "needle", lib)).length, 2);
  }));

/** These calls change `lib`, by paths in it and by links to it. */
function changesOf(lib: string): readonly (readonly [string, ...unknown[]])[] {
  return [
    ...["../lib/x.ts", `${lib}/x.ts`, "linked/x.ts", "x-link", "../lib/new.ts", "linked/new/deep.ts"].map((path) =>
      ["writeFile", path, "changed"] as const
    ),
    ["edit", "../lib/x.ts", { old: "needle", new: "changed" }],
    ["patch", `--- a/../lib/x.ts\n+++ b/../lib/x.ts\n@@ -3 +3 @@\n-}\n+} // changed\n`],
    ["patch", `--- ${lib}/x.ts\n+++ ${lib}/x.ts\n@@ -3 +3 @@\n-}\n+} // changed\n`],
    ["patch", `${lib}/x.ts\n<<<<<<< SEARCH\n  return 1; // needle\n=======\n  changed\n>>>>>>> REPLACE\n`],
    ["move", "../lib/x.ts", "mine.ts"],
    ["move", "src/a.ts", `${lib}/a.ts`],
    ["move", "src", "linked/own"],
    ["remove", "linked/x.ts"],
    ["remove", "../lib/src", { recursive: true }],
  ];
}

Deno.test("fs changes nothing in an added folder if no user can answer", () =>
  added(async ({ workspace, lib }) => {
    await Deno.symlink(lib, join(workspace.root, "linked"));
    await Deno.symlink(join(lib, "x.ts"), join(workspace.root, "x-link"));
    const before = await names(lib);
    for (const [name, ...args] of changesOf(lib)) {
      assert.match(
        await workspace.refusal(name, ...args),
        /^Cannot change \S*\/lib.*: (?:it is|they are) in \S*\/lib, an added folder, and no user can answer here; .*in interactive mode/s,
        name,
      );
    }
    assert.deepEqual(await names(lib), before);
    assert.match(await Deno.readTextFile(join(lib, "x.ts")), /needle/);
  }));

for (const [at, [name, ...args]] of changesOf("LIB").entries()) {
  Deno.test(`fs.${name}() changes an added folder after one question, and an undo without it reverts this: ${at}`, () =>
    added(async ({ workspace, lib, view }) => {
      await Deno.symlink(lib, join(workspace.root, "linked"));
      await Deno.symlink(join(lib, "x.ts"), join(workspace.root, "x-link"));
      const asked = answering(view), diffs: string[] = [];
      Object.assign(view, { home: workspace.home, changedFile: (diff: string) => void diffs.push(diff) });
      const before = [await contents(lib), await contents(workspace.root)];
      await workspace.call(name, ...args.map((one) => typeof one === "string" ? one.replaceAll("LIB", lib) : one));
      const after = [await contents(lib), await contents(workspace.root)];
      assert.notDeepEqual(after, before);
      assert.equal(asked.length, 1);
      assert.match(asked[0]?.what ?? "", /^change (?:(?!\/lib\/).)+ in \S*\/lib, an added folder$/);
      assert.match(asked[0]?.change ?? "", /^--- (?:\S*\/lib\/|\/dev\/null)/);
      assert.equal(asked[0]?.scope, `changes in the added folder ${lib}`);
      assert.match(diffs.join(""), /^--- /);
      // Another process runs the undo, without the added folder.
      for (const [options, state] of [[{}, before], [{ redo: true }, after], [{}, before]] as const) {
        const { error = "", kept } = await undone(workspace, options);
        assert.deepEqual([error, kept], ["", []]);
        assert.deepEqual([await contents(lib), await contents(workspace.root)], state);
      }
      assert.equal(asked.length, 1);
    }));
}

interface Question {
  readonly what: string;
  readonly change?: string;
  readonly scope: string;
  readonly why?: string;
  readonly lasting?: boolean;
}

/** The user allows each call until `answers` has other answers. */
function answering(view: EnvironmentView, answers: readonly boolean[] = []): readonly Question[] {
  const asked: Question[] = [];
  Object.assign(view, {
    approve: (question: Question, { isQuiet = false } = {}) => {
      if (isQuiet) return Promise.resolve({ allowed: false, reason: "" });
      const allowed = answers[asked.push(question) - 1] ?? true;
      return Promise.resolve({ allowed, reason: allowed ? "" : "the user said no" });
    },
  });
  return asked;
}

async function undone({ root, home }: Pick<Workspace, "root" | "home">, options: object = {}) {
  let text = "";
  const place = { print: (part: string) => void (text += part), workspace: root, home, places: new FsPlaces() };
  await undoCli(UNDO_ARGUMENTS.parse(options), place);
  return JSON.parse(text);
}

async function contents(folder: string): Promise<Readonly<Record<string, string>>> {
  const found: Record<string, string> = {};
  for await (const { name, isFile, isDirectory } of Deno.readDir(folder)) {
    const path = join(folder, name);
    if (isFile) found[name] = await Deno.readTextFile(path);
    if (!isDirectory) continue;
    found[`${name}/`] = "";
    for (const [below, text] of Object.entries(await contents(path))) found[`${name}/${below}`] = text;
  }
  return found;
}

Deno.test("a call that changes two added folders asks for each of them", () =>
  added(async ({ workspace, lib, view }) => {
    await workspace.put("../lib2/b.txt", "b\n");
    const asked = answering(view, [true, false]);
    Object.assign(view, { readFolders: [lib, `${lib}2`] });
    const edits = [
      { path: "src/a.ts", old: "own", new: "new" },
      { path: "../lib/x.ts", old: "needle", new: "new" },
      { path: "../lib2/b.txt", old: "b", new: "new" },
    ];
    assert.match(await workspace.refusal("edit", edits), /b\.txt: it is in \S*\/lib2, .*, and the user said no/);
    assert.deepEqual([await workspace.text("src/a.ts"), existsSync(`${lib}/b.txt`)], ["own needle\n", false]);
    await workspace.call("edit", edits);
    const places = [lib, `${lib}2`, lib, `${lib}2`].map((folder) => `changes in the added folder ${folder}`);
    assert.deepEqual(asked.map(({ scope }) => scope), places);
    assert.equal(await Deno.readTextFile(`${lib}2/b.txt`), "new\n");
  }));

Deno.test("an answer counts for the paths of its question, even if a link then leads elsewhere", () =>
  added(async ({ workspace, lib, view }) => {
    await workspace.put("../lib/other/y.ts", "needle\n");
    const link = join(workspace.root, "linked");
    const lead = (to: string): void => {
      if (existsSync(link)) Deno.removeSync(link);
      Deno.symlinkSync(to, link);
    };
    const asked: string[] = [], targets = [join(lib, "other"), workspace.outside];
    Object.assign(view, {
      approve: ({ what }: Question) => {
        asked.push(what);
        lead(targets[asked.length - 1] ?? "");
        return Promise.resolve({ allowed: true, reason: "" });
      },
    });
    lead(join(lib, "src"));
    assert.match(await workspace.refusal("writeFile", "linked/y.ts", "stolen"), /outside the workspace/);
    assert.deepEqual(asked.map((what) => what.split(" in ")[0]), ["change src/y.ts", "change other/y.ts"]);
    for (const path of ["src/y.ts", "other/y.ts"]) assert.equal(await Deno.readTextFile(join(lib, path)), "needle\n");
    assert.deepEqual(await names(workspace.outside), ["secret.txt"]);
  }));

Deno.test("an answer counts for the shown change only: if a file changes meanwhile, fs asks again", () =>
  added(async ({ workspace, lib, view }) => {
    const asked: string[] = [], later: (() => void)[] = [];
    Object.assign(view, {
      approve: ({ change = "" }: Question) => {
        asked.push(change);
        later.shift()?.();
        return Promise.resolve({ allowed: true, reason: "" });
      },
    });
    const change = (path: string, text: string) => () => Deno.writeTextFileSync(path, text);
    later.push(change(join(workspace.root, "src/a.ts"), "other\n"));
    await workspace.call("move", "src/a.ts", `${lib}/a.ts`);
    assert.deepEqual(asked.map((text) => text.match(/^\+\w.*$/m)?.[0]), ["+own needle", "+other"]);
    assert.equal(await Deno.readTextFile(`${lib}/a.ts`), "other\n");
    later.push(change(`${lib}/x.ts`, "needle, and more\n"));
    await workspace.call("edit", `${lib}/x.ts`, { old: "needle", new: "new" });
    assert.deepEqual([asked.length, await Deno.readTextFile(`${lib}/x.ts`)], [4, "new, and more\n"]);
    later.push(change(`${lib}/src/y.ts`, "work of the user\n"));
    await workspace.call("writeFile", `${lib}/src/y.ts`, "whole\n");
    assert.match(asked.at(-1) ?? "", /^-work of the user$/m);
    assert.equal(asked.length, 6);
  }));

Deno.test("a file that moves into an added folder shares its content with no other name", () =>
  added(async ({ workspace, lib, view }) => {
    answering(view);
    const link = (path: string) => Deno.link(join(workspace.root, path), join(workspace.root, "other.ts"));
    const moves = [
      () => workspace.call("move", "src/a.ts", `${lib}/a.ts`),
      () => workspace.call("move", "src", `${lib}/moved`),
      () => workspace.call("patch", `--- src/a.ts\n+++ ${lib}/b.ts\n@@ -1 +1,2 @@\n own\n+more\n`),
    ];
    for (const [at, move] of moves.entries()) {
      await workspace.put("src/a.ts", "own\n");
      await link("src/a.ts");
      await move();
      await workspace.put("other.ts", "changed by a command\n");
      const made = [`${lib}/a.ts`, `${lib}/moved/a.ts`, `${lib}/b.ts`][at] ?? "";
      assert.match(await Deno.readTextFile(made), /^own\n(more\n)?$/);
      assert.equal(existsSync(join(workspace.root, "src/a.ts")), false);
      await Deno.remove(join(workspace.root, "other.ts"));
      await workspace.call("undo");
      assert.equal(await workspace.text("src/a.ts"), "own\n");
      assert.equal(existsSync(made), false);
    }
  }));

Deno.test("fs asks for each change of an added folder in a hidden folder of the home folder", () =>
  added(async ({ workspace, lib, view }) => {
    const asked = answering(view), home = Deno.env.get("HOME") ?? "", link = join(workspace.outside, "home");
    await Deno.symlink(join(lib, ".."), link);
    try {
      for (const folder of [".config", "plain"]) {
        await workspace.put(`../${folder}/app.conf`, "1\n");
        Object.assign(view, { readFolders: [join(lib, "..", folder)] });
        Deno.env.set("HOME", link);
        await workspace.call("writeFile", `../${folder}/app.conf`, "2\n");
      }
    } finally {
      Deno.env.set("HOME", home);
    }
    assert.deepEqual(asked.map(({ lasting = true }) => lasting), [false, true]);
    assert.match(asked[0]?.why ?? "", /^Vis asks every time, because \S+\/\.config may have your settings or keys\.$/);
  }));

Deno.test("the question about a long change has the true counts, and how many files it does not show", () =>
  added(async ({ workspace, lib, view }) => {
    const asked = answering(view);
    await workspace.call("writeFile", `${lib}/big.js`, "// a line\n".repeat(400));
    await workspace.call("writeFile", `${lib}/wide.js`, "x".repeat(5_000));
    await workspace.put("many/0.txt", "1\n");
    for (let at = 1; at < 90; at++) await workspace.put(`many/${at}.txt`, `${"x".repeat(40)}\n`);
    await workspace.call("move", "many", `${lib}/many`);
    const [big = "", wide = "", many = ""] = asked.map(({ change }) => change);
    assert.deepEqual(parseDiff(big).map((file) => [file.state, file.added]), [["new", 400]]);
    assert.match(wide, /^\+x{2000}/m);
    const [, more = ""] = many.match(/^… (\d+) more files\n$/m) ?? [];
    assert.equal(parseDiff(many).length + Number(more), 90);
    for (const change of [big, wide, many]) assert.ok(change.length < 4_000);
  }));

Deno.test("fs moves no folder that is a repository's own into an added folder", () =>
  added(async ({ workspace, lib, view }) => {
    answering(view);
    for (const name of ["HEAD", "objects/a", "refs/a", "config"]) await workspace.put(`made/${name}`, "a");
    assert.match(await workspace.refusal("move", "made", `${lib}/made`), /is a repository's own folder/);
    assert.deepEqual([existsSync(`${lib}/made`), await workspace.text("made/config")], [false, "a"]);
  }));

Deno.test("a link that moves into an added folder must stay inside, and the question names links and modes", () =>
  added(async ({ workspace, lib, view }) => {
    const asked = answering(view), made = join(workspace.root, "made");
    await workspace.put("made/run.sh", "echo\n");
    await Deno.chmod(join(made, "run.sh"), 0o755);
    await Deno.symlink(join(workspace.outside, "secret.txt"), join(made, "link"));
    assert.match(
      await workspace.refusal("move", "made", `${lib}/made`),
      /move \S+made\/link: the target .* begins with/,
    );
    await Deno.remove(join(made, "link"));
    await Deno.symlink("../../app2/secret.txt", join(made, "link"));
    assert.match(await workspace.refusal("move", "made/link", `${lib}/src/l`), /is not allowed, because .* outside/);
    assert.equal(asked.length, 0);
    await Deno.remove(join(made, "link"));
    await Deno.symlink("run.sh", join(made, "link"));
    await workspace.call("move", "made", `${lib}/made`);
    const change = asked.map(({ change = "" }) => change).join("");
    assert.match(change, /made\/link\na link to run\.sh\n/);
    assert.match(change, /made\/run\.sh\nprograms can run the file\n@@ /);
    await workspace.call("patch", `diff --git a/${lib}/x.ts b/${lib}/x.ts\nold mode 100644\nnew mode 100755\n`);
    assert.match(
      asked.at(-1)?.change ?? "",
      /lib\/x\.ts\nprograms can run the file\n… the mode changed from 644 to 755\n$/,
    );
    assert.equal(await Deno.readTextFile(`${lib}/made/link`), "echo\n");
  }));

Deno.test("fs writes nothing elsewhere if an added folder becomes a link during the question", () =>
  added(async ({ workspace, lib, view }) => {
    for (const folder of [lib, join(lib, "src")]) {
      const moved = `${folder}.moved`;
      Object.assign(view, {
        approve: () => {
          Deno.renameSync(folder, moved);
          Deno.symlinkSync(workspace.outside, folder);
          return Promise.resolve({ allowed: true, reason: "" });
        },
      });
      assert.match(await workspace.refusal("writeFile", `${lib}/src/secret.txt`, "stolen"), /outside the workspace/);
      assert.equal(await Deno.readTextFile(join(workspace.outside, "secret.txt")), "secret\n");
      await Deno.remove(folder);
      await Deno.rename(moved, folder);
    }
  }));

Deno.test("fs protects parts of an added folder as in the workspace, with any answer", () =>
  added(async ({ workspace, lib, view }) => {
    const asked = answering(view), bare = join(lib, "bare"), base = join(lib, "..");
    for (const name of ["HEAD", "objects/a", "refs/a", "hooks/a"]) await workspace.put(`../lib/bare/${name}`, "a");
    await workspace.put("../lib/.git/hooks/a", "a");
    await Deno.symlink(join(lib, ".git"), join(lib, "linked"));
    await Deno.symlink(join(lib, ".git"), join(workspace.root, "linked"));
    await Deno.symlink(workspace.outside, join(lib, "leads"));
    const refusals: readonly (readonly [folders: readonly string[], path: string, why: RegExp])[] = [
      ...[".git/hooks/pre-commit", ".GIT/config", ".vis/config.jsonc", "src/.vis/x", "linked/config"].map((path) =>
        [[lib], `${lib}/${path}`, /protected/] as const
      ),
      [[lib], "linked/config", /protected/],
      [[lib], `${lib}/leads/secret.txt`, /outside the workspace/],
      [[lib], `${lib}/../app2/secret.txt`, /outside the workspace/],
      [[lib], `${lib}/bare/hooks/post-update`, /a repository's own folder/],
      [[bare], `${bare}/hooks/post-update`, /a repository's own folder/],
      [[join(lib, ".git")], `${lib}/.git/config`, /protected/],
      [[lib], lib, /it is an added folder|is a folder/],
      [[base], workspace.root, /it is the workspace itself|is a folder/],
      [[base], base, /the workspace is inside it/],
      [[join(base, "..")], base, /the workspace is inside it/],
      [[lib, join(lib, "src")], `${lib}/src`, /it is an added folder, or contains one|is a folder/],
    ];
    for (const [readFolders, path, why] of refusals) {
      Object.assign(view, { readFolders });
      assert.match(await workspace.refusal("writeFile", path, "x"), why, path);
      if (!existsSync(path)) continue;
      assert.match(await workspace.refusal("remove", path, { recursive: true }), why, path);
    }
    Object.assign(view, { readFolders: [lib] });
    for (const name of ["HEAD", "objects/a", "refs/a"]) {
      const made = workspace.call("writeFile", `${lib}/src/${name}`, "a");
      if (name === "refs/a") await assert.rejects(made, /take its folder for a repository/);
      else await made;
    }
    assert.deepEqual(await names(workspace.outside), ["secret.txt"]);
    assert.deepEqual(asked.filter(({ what }) => !what.startsWith("change ")), []);
  }));

Deno.test("a secret file and a hook of an added folder have a question of their own", () =>
  added(async ({ workspace, lib, view }) => {
    const asked = answering(view, [true, false, true, true, true, false]);
    Object.assign(view, {
      obeyedPaths: (paths: readonly string[]) =>
        Promise.resolve(
          paths.filter((path) => path.includes("/hooks/")).map((path) => ({ path, reason: "git runs", running: null })),
        ),
    });
    const edit = ["edit", `${lib}/.env`, { old: "needle", new: "new" }] as const;
    assert.match(await workspace.refusal(...edit), /may hold keys, and the user said no/);
    assert.doesNotMatch(asked[0]?.change ?? "", /needle/);
    await workspace.call(...edit);
    assert.equal(await Deno.readTextFile(join(lib, ".env")), "KEY=new\n");
    const hook = `${lib}/hooks/pre-commit`;
    assert.match(await workspace.refusal("writeFile", hook, "x"), /which git runs: the user said no/);
    assert.equal(existsSync(hook), false);
    assert.equal(asked.length, 6);
    assert.equal(asked[5]?.scope, `files of ${lib} that git runs`);
  }));

Deno.test("the user can undo changes in an added folder only while the folder is there", () =>
  added(async ({ workspace, lib, view }) => {
    answering(view);
    Object.assign(view, { home: workspace.home });
    await workspace.call("edit", `${lib}/x.ts`, { old: "needle", new: "new" });
    await workspace.call("edit", "src/a.ts", { old: "own", new: "new" });
    await Deno.mkdir(join(workspace.outside, "lib"));
    await Deno.copyFile(join(lib, "x.ts"), join(workspace.outside, "lib/x.ts"));
    await Deno.rename(lib, `${lib}.moved`);
    await Deno.symlink(join(workspace.outside, "lib"), lib);
    for (const options of [{ steps: 2 }, { steps: 2, force: true, dryRun: true }]) {
      const { error = "", kept } = await undone(workspace, options);
      assert.match(error === "" ? kept[0].reason : error, /it is outside the workspace/);
    }
    assert.match(await Deno.readTextFile(join(lib, "x.ts")), /new/);
    await undone(workspace, { steps: 2, rest: true });
    assert.equal(await workspace.text("src/a.ts"), "own needle\n");
    assert.match(await Deno.readTextFile(join(workspace.outside, "lib/x.ts")), /new/);
    await Deno.remove(lib);
    await Deno.rename(`${lib}.moved`, lib);
    await undone(workspace, { force: true });
    assert.match(await Deno.readTextFile(join(lib, "x.ts")), /needle/);
  }));

Deno.test("another conversation asks again, also before fs.undo() reverts a change in an added folder", () =>
  added(async ({ workspace, lib, view }) => {
    const asked = answering(view, [true, false, false, true]);
    Object.assign(view, { home: workspace.home });
    const edit = ["edit", `${lib}/x.ts`, { old: "needle", new: "new" }] as const;
    await workspace.call(...edit);
    assert.match(await workspace.refusal("undo"), /an added folder, and the user said no/);
    const { conversationId } = view;
    Object.assign(view, { conversationId: "other" });
    assert.match(await workspace.refusal("writeFile", `${lib}/x.ts`, "other"), /and the user said no/);
    assert.match(await workspace.refusal("undo"), /Nothing to undo/);
    Object.assign(view, { conversationId });
    await workspace.call("undo");
    assert.match(await Deno.readTextFile(join(lib, "x.ts")), /needle/);
    assert.equal(asked.length, 4);
  }));

Deno.test("a change in an added folder that a kill cut off is reverted, also without the folder", () =>
  added(async ({ workspace, lib, view }) => {
    answering(view);
    Object.assign(view, { home: workspace.home });
    await workspace.call("edit", `${lib}/x.ts`, { old: "needle", new: "new" });
    const [folder = ""] = await names(join(workspace.home, "checkpoints"));
    const at = join(workspace.home, "checkpoints", folder);
    const change = (await names(at)).find((name) => name.endsWith(".json")) ?? "";
    await Deno.rename(join(at, change), join(at, change.replace(/json$/, "pending")));
    if (!Kernel.shared()) await Deno.utime(join(at, change.replace(/json$/, "pending")), 0, 0);
    await undone(workspace, { list: true });
    assert.match(await Deno.readTextFile(join(lib, "x.ts")), /needle/);
  }));

Deno.test("a change that a kill cut off can be undone later if its added folder is absent at the next start", () =>
  added(async ({ workspace, lib, view }) => {
    answering(view);
    Object.assign(view, { home: workspace.home });
    await workspace.call("remove", `${lib}/src`, { recursive: true });
    const [folder = ""] = await names(join(workspace.home, "checkpoints"));
    const at = join(workspace.home, "checkpoints", folder);
    const change = (await names(at)).find((name) => name.endsWith(".json")) ?? "";
    const pending = join(at, change.replace(/json$/, "pending"));
    await Deno.rename(join(at, change), pending);
    if (!Kernel.shared()) await Deno.utime(pending, 0, 0);
    await Deno.rename(lib, `${lib}.absent`);
    await undone(workspace, { list: true });
    await Deno.rename(`${lib}.absent`, lib);
    await undone(workspace, {});
    assert.equal(await Deno.readTextFile(join(lib, "src/y.ts")), "needle\n");
  }));

async function names(folder: string): Promise<readonly string[]> {
  return (await Array.fromAsync(Deno.readDir(folder))).map(({ name }) => name).sort();
}

Deno.test("no path leads out of an added folder", () =>
  added(async ({ workspace, lib }) => {
    await Deno.symlink(workspace.outside, join(lib, "out-link"));
    await Deno.symlink(join(workspace.outside, "secret.txt"), join(lib, "file-link"));
    await Deno.mkdir(`${lib}-other`);
    await Deno.writeTextFile(`${lib}-other/b.txt`, "secret");
    const ways = [
      ...["../lib/../app2/secret.txt", `${lib}/../app2/secret.txt`, `${lib}-other/b.txt`, "/etc/passwd", ".."],
      ...["../lib/out-link/secret.txt", "../lib/file-link", `${lib}/out-link`, "../lib/out-link/none.txt"],
    ];
    for (const way of ways) {
      for (const name of ["readFile", "stat", "listFiles", "readLines", "grep"]) {
        const args = name === "grep" ? ["secret", way] : [way];
        assert.match(
          await workspace.refusal(name, ...args),
          /outside the workspace \S+; name a path inside, or ask/,
          way,
        );
      }
      await assert.rejects(fs.namedFile?.(workspace.env, way, { chars: 100 }) ?? Promise.resolve(), /outside/);
    }
    assert.deepEqual(await workspace.call("grep", "secret", "../lib"), []);
    assert.deepEqual(await workspace.call("glob", "../lib/**/*.txt"), []);
    await assert.rejects(workspace.call("glob", "../app2/*"), /name a path in the workspace/);
    await assert.rejects(workspace.call("glob", "../lib/out-link/*"), /name a path in the workspace/);
  }));

Deno.test("fs asks before it reads a secret file of an added folder", () =>
  added(async ({ workspace, lib, view }) => {
    assert.match(await workspace.refusal("readFile", "../lib/.env"), /it may hold keys/);
    assert.match(await workspace.refusal("grep", "KEY", "../lib/.env"), /it may hold keys/);
    assert.deepEqual(await workspace.call("grep", "KEY", "../lib"), []);
    const asked: string[] = [];
    Object.assign(view, {
      approve: ({ what, scopes = [] }: { what: string; scopes?: readonly string[] }) => {
        asked.push(what, ...scopes);
        return Promise.resolve({ allowed: scopes.includes("the secret file .env"), reason: "no" });
      },
    });
    assert.equal(await workspace.call("readFile", ".env"), "OWN=1\n");
    assert.match(await workspace.refusal("readFile", "../lib/.env"), /it may hold keys/);
    assert.ok(asked.includes(`the secret file ${lib}/.env`));
  }, { ".env": "OWN=1\n" }));

Deno.test("the tree of an added folder takes only absolute paths in it, on each system", () =>
  added(async ({ workspace, lib }) => {
    await Deno.symlink(workspace.outside, join(lib, "out-link"));
    const kinds = [new PathTree(lib, { isAdded: true }), ...Kernel.shared() ? [addedTree(lib)] : []];
    for (const tree of kinds) {
      using all = new TreeWithAdded(treeOf(workspace.root), [tree]).held();
      assert.equal(all.look(`${lib}/x.ts`)?.kind, "file");
      assert.equal(all.look("src/a.ts")?.kind, "file");
      assert.ok(all.entries(lib).some(({ name }) => name === "x.ts"));
      const ways = [
        `${lib}/out-link/secret.txt`,
        `${lib}/../app2/secret.txt`,
        `${lib}-other/x`,
        "/etc/passwd",
        `${lib}/out-link`,
      ];
      for (const way of ways) {
        assert.throws(() => all.open(way), way);
        assert.throws(() => all.folder(way, () => {}), way);
      }
      using folder = all.folder(`${lib}/src`, () => {});
      assert.equal(folder.look("y.ts")?.kind, "file");
    }
  }));

Deno.test("a folder around the workspace can be added, and the workspace stays writable", () =>
  added(async ({ workspace, lib, view }) => {
    Object.assign(view, { readFolders: [join(lib, "..")] });
    assert.equal((await workspace.call("stat", "../lib/x.ts")).path, `${lib}/x.ts`);
    assert.equal((await workspace.call("stat", join(workspace.root, "src/a.ts"))).path, "src/a.ts");
    await workspace.call("writeFile", join(workspace.root, "new.ts"), "1\n");
    assert.equal(await workspace.text("new.ts"), "1\n");
    assert.match(await workspace.refusal("writeFile", "../lib/x.ts", "1\n"), /an added folder, and no user can answer/);
    Object.assign(view, { secrets: ["src/a.ts"] });
    assert.match(await workspace.refusal("readFile", join(workspace.root, "src/a.ts")), /it may hold keys/);
    const hits = await workspace.call("grep", "needle", { path: "..", glob: "*.ts" });
    assert.deepEqual(hits.map(({ path }: { path: string }) => path), [`${lib}/src/y.ts`, `${lib}/x.ts`]);
  }));

Deno.test("the prompt names added folders, and only then", () =>
  added(async ({ view, lib }) => {
    const prompt = async (env: EnvironmentView): Promise<string> => String(await (fs.prompt as typeof prompt)(env));
    assert.match(await prompt(view), new RegExp(`^Files of cwd, and of ${lib}, whose changes ask the user\\. `));
    const { readFolders: _, ...without } = view;
    assert.match(await prompt({ ...without }), /^Files of cwd\. /);
    assert.equal(await prompt({ ...view, readFolders: [] }), await prompt({ ...without }));
  }));
