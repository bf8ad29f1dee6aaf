import assert from "node:assert/strict";
import { join } from "node:path";
import { Workspace } from "../_workspace.ts";

const CALLS: readonly (readonly [string, (path: string) => unknown[]])[] = [
  ["readFile", (path) => [path]],
  ["listFiles", (path) => [path]],
  ["grep", (path) => ["secret", path]],
  ["stat", (path) => [path]],
  ["writeFile", (path) => [path, "stolen"]],
  ["edit", (path) => [path, { old: "secret", new: "stolen" }]],
];

async function withLinks(): Promise<Workspace> {
  const workspace = await Workspace.with({ "src/a.ts": "secret inside\n" });
  await Deno.symlink(join(workspace.outside, "secret.txt"), join(workspace.root, "file-link"));
  await Deno.symlink(workspace.outside, join(workspace.root, "folder-link"));
  await Deno.symlink("../..", join(workspace.root, "src", "up"));
  await Deno.symlink(join(workspace.outside, "new.txt"), join(workspace.root, "dangling"));
  return workspace;
}

for (const [name, args] of CALLS) {
  Deno.test(`fs.${name}() refuses every way out of the workspace`, async () => {
    await using workspace = await withLinks();
    const ways = [
      "..",
      "../app2/secret.txt",
      "src/../../app2/secret.txt",
      join(workspace.outside, "secret.txt"),
      "/etc/passwd",
      "file-link",
      "folder-link",
      "folder-link/secret.txt",
      "folder-link/new/deep.txt",
      "src/up/app2/secret.txt",
      "src/up/app2/new.txt",
    ];
    for (const way of ways) {
      const message = await workspace.refusal(name, ...args(way));
      assert.equal(message, `Cannot use ${way}: it is outside the workspace ${workspace.root}; name a path inside`);
    }
    assert.match(await workspace.refusal(name, ...args("dangling")), /dangling is a link without an existing target/);
    assert.match(await workspace.refusal(name, ...args("src/a.ts\0.png")), /NUL/);
    assert.deepEqual((await Array.fromAsync(Deno.readDir(workspace.outside))).map((one) => one.name), ["secret.txt"]);
    assert.equal(await Deno.readTextFile(join(workspace.outside, "secret.txt")), "secret\n");
  });
}

Deno.test("fs.grep(), glob(), listFiles() and readFiles() do not follow links out while walking", async () => {
  await using workspace = await withLinks();
  const hits = await workspace.call("grep", "secret");
  assert.deepEqual(hits.map(({ path }: { path: string }) => path), ["src/a.ts"]);
  assert.deepEqual(await workspace.call("glob", "**"), ["src/a.ts"]);
  assert.deepEqual(await workspace.call("readFiles", "**/*.txt"), [{
    path: "**/*.txt",
    error: "Cannot read **/*.txt: Vis found no file for this pattern; list the files with fs.glob",
  }]);
  const listed = await workspace.call("listFiles", ".", { depth: 5 });
  assert.deepEqual(listed.map(({ path, type }: { path: string; type: string }) => `${type} ${path}`), [
    "link dangling",
    "link file-link",
    "link folder-link",
    "dir src",
    "file src/a.ts",
    "link src/up",
  ]);
  await assert.rejects(workspace.call("glob", "folder-link/*.txt"), /outside the workspace/);
  await assert.rejects(workspace.call("glob", "../app2/*"), /name a path in the workspace/);
  const [entry] = await workspace.call("readFiles", ["folder-link/secret.txt"]);
  assert.match(entry.error, /outside the workspace/);
});

Deno.test("fs follows links that stay inside, and writes to their targets", async () => {
  await using workspace = await Workspace.with({ "src/a.ts": "one\n" });
  await Deno.symlink("src", join(workspace.root, "alias"));
  await Deno.symlink("src/a.ts", join(workspace.root, "a.ts"));
  assert.equal(await workspace.call("readFile", "alias/a.ts"), "one\n");
  await workspace.call("edit", "a.ts", { old: "one", new: "two" });
  assert.equal(await workspace.text("src/a.ts"), "two\n");
  assert.ok((await Deno.lstat(join(workspace.root, "a.ts"))).isSymlink);
});

Deno.test("fs takes absolute paths that are inside", async () => {
  await using workspace = await Workspace.with({ "a.txt": "one" });
  assert.equal(await workspace.call("readFile", join(workspace.root, "a.txt")), "one");
  assert.equal((await workspace.call("stat", join(workspace.root, "a.txt"))).path, "a.txt");
});

Deno.test("fs names links that form a loop", async () => {
  await using workspace = await Workspace.with();
  await Deno.symlink("b", join(workspace.root, "a"));
  await Deno.symlink("a", join(workspace.root, "b"));
  assert.match(await workspace.refusal("readFile", "a"), /Cannot use a: /);
});

for (
  const path of [".git/hooks/pre-commit", ".vis/config.toml", "sub/.git/config", ".GIT/config", "folder/x", ".git"]
) {
  Deno.test(`fs.writeFile() and edit() refuse ${path}`, async () => {
    await using workspace = await Workspace.with({ ".git/HEAD": "ref\n", ".git/x": "x" });
    await Deno.symlink(".git", join(workspace.root, "folder"));
    assert.match(await workspace.refusal("writeFile", path, "x"), /\.\w+\/ and files below it are protected/i);
    assert.match(
      await workspace.refusal("edit", path, { old: "x", new: "y" }),
      /\.\w+\/ and files below it are protected/i,
    );
    assert.deepEqual(await workspace.names(".git"), ["HEAD", "x"]);
    assert.equal(await workspace.text(".git/x"), "x");
  });
}

Deno.test("fs.writeFile() explains the alternative to an extension below .vis/", async () => {
  await using workspace = await Workspace.with();
  const advice =
    /; write the extension to a folder outside \.vis\/, and ask the user to move it to \.vis\/extensions\/ and run /;
  assert.match(await workspace.refusal("writeFile", ".vis/extensions/tracker/mod.ts", "x"), advice);
  for (const path of [".vis/config.jsonc", ".git/extensions/x"]) {
    assert.doesNotMatch(await workspace.refusal("writeFile", path, "x"), /extension to/, path);
  }
});

Deno.test("fs.writeFile() takes names that only look guarded", async () => {
  await using workspace = await Workspace.with();
  for (const path of [".gitignore", ".github/workflows/ci.yml", "git/x"]) await workspace.call("writeFile", path, "x");
  assert.equal(await workspace.text(".github/workflows/ci.yml"), "x");
});
