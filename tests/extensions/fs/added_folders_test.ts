import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { join } from "node:path";
import fs from "../../../extensions/fs/mod.ts";
import { addedTree, treeOf } from "../../../extensions/fs/fs_places.ts";
import { Kernel } from "../../../extensions/fs/tree/kernel.ts";
import { PathTree } from "../../../extensions/fs/tree/path_tree.ts";
import { TreeWithAdded } from "../../../extensions/fs/tree/tree.ts";
import type { EnvironmentView } from "../../../src/extension/mod.ts";
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

Deno.test("fs changes nothing in an added folder", () =>
  added(async ({ workspace, lib }) => {
    await Deno.symlink(lib, join(workspace.root, "linked"));
    await Deno.symlink(join(lib, "x.ts"), join(workspace.root, "x-link"));
    const changes: readonly (readonly [string, ...unknown[]])[] = [
      ...["../lib/x.ts", `${lib}/x.ts`, "linked/x.ts", "x-link", "../lib/new.ts", "linked/new/deep.ts"].flatMap((
        path,
      ) => [
        ["writeFile", path, "stolen"] as const,
        ["edit", path, { old: "needle", new: "stolen" }] as const,
      ]),
      ["patch", "--- a/../lib/x.ts\n+++ b/../lib/x.ts\n@@ -3 +3 @@\n-}\n+} // stolen\n"],
      ["patch", `${lib}/x.ts\n<<<<<<< SEARCH\nneedle\n=======\nstolen\n>>>>>>> REPLACE\n`],
      ["move", "../lib/x.ts", "mine.ts"],
      ["move", "src/a.ts", "../lib/a.ts"],
      ["move", "src/a.ts", "linked/a.ts"],
      ["remove", "../lib/x.ts"],
      ["remove", "linked/x.ts"],
      ["remove", "../lib", { recursive: true }],
      ["remove", lib, { recursive: true }],
    ];
    const before = await names(lib);
    for (const [name, ...args] of changes) {
      const message = await workspace.refusal(name, ...args);
      assert.match(
        message,
        /Cannot change \S*\/lib\S*: it is in an added folder, which fs only reads; change .*\{write: .*start Vis in a folder that contains both folders$/,
        name,
      );
    }
    assert.deepEqual(await names(lib), before);
    assert.match(await Deno.readTextFile(join(lib, "x.ts")), /needle/);
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
      for (const way of ways) assert.throws(() => all.open(way), way);
      assert.throws(() => all.folder(`${lib}/src`, () => {}), Deno.errors.FilesystemLoop);
    }
  }));

Deno.test("a folder around the workspace can be added, and the workspace stays writable", () =>
  added(async ({ workspace, lib, view }) => {
    Object.assign(view, { readFolders: [join(lib, "..")] });
    assert.equal((await workspace.call("stat", "../lib/x.ts")).path, `${lib}/x.ts`);
    assert.equal((await workspace.call("stat", join(workspace.root, "src/a.ts"))).path, "src/a.ts");
    await workspace.call("writeFile", join(workspace.root, "new.ts"), "1\n");
    assert.equal(await workspace.text("new.ts"), "1\n");
    assert.match(
      await workspace.refusal("writeFile", "../lib/x.ts", "1\n"),
      /in an added folder/,
    );
    Object.assign(view, { secrets: ["src/a.ts"] });
    assert.match(await workspace.refusal("readFile", join(workspace.root, "src/a.ts")), /it may hold keys/);
    const hits = await workspace.call("grep", "needle", { path: "..", glob: "*.ts" });
    assert.deepEqual(hits.map(({ path }: { path: string }) => path), [`${lib}/src/y.ts`, `${lib}/x.ts`]);
  }));

Deno.test("the prompt names added folders, and only then", () =>
  added(async ({ view, lib }) => {
    const prompt = async (env: EnvironmentView): Promise<string> => String(await (fs.prompt as typeof prompt)(env));
    assert.match(await prompt(view), new RegExp(`^Files of cwd, and to read only: ${lib}\\. `));
    const { readFolders: _, ...without } = view;
    assert.match(await prompt({ ...without }), /^Files of cwd\. /);
    assert.equal(await prompt({ ...view, readFolders: [] }), await prompt({ ...without }));
  }));
