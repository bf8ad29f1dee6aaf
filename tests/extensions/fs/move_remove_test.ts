import assert from "node:assert/strict";
import { setImmediate } from "node:timers";
import { join } from "node:path";
import { Workspace } from "./_workspace.ts";
import { runs } from "../../helpers/long_part.ts";

Deno.test("fs.move() renames files and folders, creates folders, and is undone as a whole", async () => {
  await using workspace = await Workspace.with({ "a.sh": "echo\n", "src/b.ts": "b\n", "src/deep/c.ts": "c\n" });
  await Deno.chmod(join(workspace.root, "a.sh"), 0o755);
  await Deno.symlink("b.ts", join(workspace.root, "src/link"));
  assert.deepEqual(await workspace.call("move", "a.sh", "bin/run/a.sh"), {
    from: "a.sh",
    to: "bin/run/a.sh",
    files: 1,
    diff: "--- a/a.sh\n+++ b/bin/run/a.sh\n",
  });
  assert.equal(((await Deno.stat(join(workspace.root, "bin/run/a.sh"))).mode ?? 0) & 0o777, 0o755);
  assert.equal((await workspace.call("move", "src", "lib")).files, 3);
  assert.equal(await Deno.readLink(join(workspace.root, "lib/link")), "b.ts");
  await workspace.call("undo", { steps: 2 });
  assert.deepEqual(await workspace.names(), ["a.sh", "src"]);
  assert.deepEqual(await workspace.names("src"), ["b.ts", "deep", "link"]);
  assert.equal(await workspace.text("src/deep/c.ts"), "c\n");
  assert.equal(await Deno.readLink(join(workspace.root, "src/link")), "b.ts");
  assert.equal(((await Deno.stat(join(workspace.root, "a.sh"))).mode ?? 0) & 0o777, 0o755);
});

Deno.test("fs.move() overwrites nothing, and does not move a folder into itself", async () => {
  await using workspace = await Workspace.with({ "a.txt": "a", "b.txt": "b", "src/c.txt": "c" });
  assert.equal(
    await workspace.refusal("move", "a.txt", "b.txt"),
    "Cannot move a.txt: b.txt already exists; choose another name or remove it first",
  );
  assert.equal(
    await workspace.refusal("move", "a.txt", "src"),
    "Cannot move a.txt: src is a folder; call fs.move with the target src/a.txt",
  );
  assert.match(await workspace.refusal("move", "src", "src/inner"), /src\/inner is inside it/);
  assert.match(
    await workspace.refusal("move", "nope.txt", "c.txt"),
    /Cannot move nope\.txt: there is no such file or folder; the nearest existing folder is the workspace/,
  );
  assert.match(await workspace.refusal("move", "a.txt", "../app2/a.txt"), /outside the workspace/);
  assert.match(await workspace.refusal("move", "../app2/secret.txt", "mine.txt"), /outside the workspace/);
  assert.equal(await workspace.text("b.txt"), "b");
});

Deno.test("after a move, the file at the new path is the file that was read, and no earlier one", async () => {
  await using workspace = await Workspace.with({ "a.txt": "one\n", "c.txt": "c\n" });
  await workspace.call("readFile", "a.txt");
  const moveAndEdit = async (): Promise<void> => {
    await workspace.call("move", "a.txt", "b.txt");
    await workspace.call("edit", "b.txt", { old: "one", new: "two" });
  };
  await moveAndEdit();
  // As vis undo in another process.
  await Deno.remove(join(workspace.root, "b.txt"));
  await workspace.put("a.txt", "one, changed by another\n");
  await workspace.call("readFile", "a.txt");
  await moveAndEdit();
  assert.equal(await workspace.text("b.txt"), "two, changed by another\n");
  await workspace.put("b.txt", "two, changed again\n");
  assert.match(await workspace.refusal("edit", "b.txt", { old: "two", new: "x" }), /changed on disk since you last/);
  await Deno.remove(join(workspace.root, "b.txt"));
  await workspace.call("move", "c.txt", "b.txt");
  await workspace.call("edit", "b.txt", { old: "c", new: "d" });
  await workspace.call("readFile", "b.txt");
  await workspace.call("move", "b.txt", "e.txt");
  await workspace.put("e.txt", "changed by another\n");
  assert.match(await workspace.refusal("writeFile", "e.txt", "mine\n"), /changed on disk since you last/);
});

Deno.test("fs.remove() removes permitted files, links and folders", async () => {
  await using workspace = await Workspace.with({ "a.txt": "a", "src/b.txt": "b" });
  await Deno.symlink(join(workspace.outside, "secret.txt"), join(workspace.root, "link"));
  await Deno.symlink(workspace.outside, join(workspace.root, "folder-link"));
  assert.deepEqual(await workspace.call("remove", "a.txt"), {
    path: "a.txt",
    files: 1,
    diff: "--- a/a.txt\n+++ /dev/null\n",
  });
  await workspace.call("remove", "link");
  await workspace.call("remove", "folder-link", { recursive: true });
  assert.equal(
    await workspace.refusal("remove", "src"),
    "Cannot remove src: the folder is not empty; pass {recursive: true} to remove its content too",
  );
  assert.deepEqual(await workspace.call("remove", "src", { recursive: true }), {
    path: "src",
    files: 1,
    diff: "--- a/src\n+++ /dev/null\n",
  });
  assert.deepEqual(await workspace.names(), []);
  assert.equal(await Deno.readTextFile(join(workspace.outside, "secret.txt")), "secret\n");
  assert.match(await workspace.refusal("remove", ".", { recursive: true }), /the workspace itself/);
  assert.match(await workspace.refusal("remove", "../app2", { recursive: true }), /outside the workspace/);
});

Deno.test("fs.remove() and move() refuse files that changed since they were read, also inside a folder", async () => {
  await using workspace = await Workspace.with({ "src/a.txt": "a" });
  await workspace.call("readFile", "src/a.txt");
  await workspace.put("src/a.txt", "changed");
  assert.match(await workspace.refusal("remove", "src", { recursive: true }), /src\/a\.txt: it changed on disk/);
  assert.match(await workspace.refusal("move", "src", "lib"), /src\/a\.txt: it changed on disk/);
  assert.equal(await workspace.text("src/a.txt"), "changed");
});

const GUARDED: readonly (readonly [string, ...unknown[]])[] = [
  ["writeFile", ".git/hooks/x", "x"],
  ["writeFile", "src/../.git/config", "x"],
  ["writeFile", ".GIT/config", "x"],
  ["writeFile", ".git./config", "x"],
  ["writeFile", ".git /config", "x"],
  ["writeFile", "GIT~1/config", "x"],
  ["writeFile", ".g\u200cit/config", "x"],
  ["writeFile", ".git::$INDEX_ALLOCATION/config", "x"],
  ["writeFile", "alias/config", "x"],
  ["writeFile", ".vis/config.jsonc", "x"],
  ["edit", ".git/config", { old: "core", new: "evil" }],
  ["edit", [{ path: "src/a.ts", old: "a", new: "b" }, { path: "alias/config", old: "core", new: "evil" }]],
  ["patch", "--- a/.git/config\n+++ b/.git/config\n@@ -1 +1 @@\n-core\n+evil\n"],
  ["patch", "--- /dev/null\n+++ b/.vis/extensions/x/mod.ts\n@@ -0,0 +1 @@\n+evil\n"],
  ["patch", ".git/hooks/pre-commit\n<<<<<<< SEARCH\n=======\nevil\n>>>>>>> REPLACE\n"],
  ["move", ".git", "git"],
  ["move", ".git/config", "config"],
  ["move", "src", ".git/src"],
  ["move", "src", ".Vis"],
  ["move", "sub", "elsewhere"],
  ["remove", ".git", { recursive: true }],
  ["remove", ".git/config"],
  ["remove", ".vis", { recursive: true }],
  ["remove", "sub", { recursive: true }],
];

for (const [name, ...args] of GUARDED) {
  Deno.test(`fs.${name}() leaves .git and .vis alone: ${JSON.stringify(args).slice(0, 70)}`, async () => {
    await using workspace = await Workspace.with({
      ".git/config": "core\n",
      ".vis/config.jsonc": "{}",
      "src/a.ts": "a\n",
      "sub/.git/config": "core\n",
    });
    await Deno.symlink(".git", join(workspace.root, "alias"));
    assert.match(await workspace.refusal(name, ...args), /protected/);
    assert.deepEqual(await workspace.names(), [".git", ".vis", "alias", "src", "sub"]);
    assert.deepEqual(await workspace.names(".git"), ["config"]);
    assert.deepEqual(await workspace.names(".vis"), ["config.jsonc"]);
    assert.deepEqual(await workspace.names("sub"), [".git"]);
    assert.equal(await workspace.text(".git/config"), "core\n");
    assert.equal(await workspace.text("src/a.ts"), "a\n");
  });
}

Deno.test("fs refuses a repository's own folder under any other name, and .vis that it once saw", async () => {
  await using workspace = await Workspace.with({
    ".git/HEAD": "ref: x\n",
    ".git/objects/x": "",
    ".git/refs/x": "",
    ".git/config": "core\n",
    ".vis/config.jsonc": "{}",
    "src/a.ts": "a\n",
  });
  await workspace.call("edit", "src/a.ts", { old: "a", new: "b" });
  await Deno.rename(join(workspace.root, ".git"), join(workspace.root, "renamed"));
  await Deno.rename(join(workspace.root, ".vis"), join(workspace.root, "settings"));
  const own = /a folder of its path is a repository's own folder, such as \.git, which is protected/;
  for (const path of ["renamed/config", "renamed/hooks/pre-commit"]) {
    assert.match(await workspace.refusal("writeFile", path, "evil"), own);
  }
  assert.match(
    await workspace.refusal("writeFile", "settings/config.jsonc", "evil"),
    /files below \.git\/ and \.vis\/ are protected under any name/,
  );
  assert.match(await workspace.refusal("edit", "renamed/config", { old: "core", new: "evil" }), /protected/);
  assert.match(await workspace.refusal("move", "src/a.ts", "renamed/config2"), /protected/);
  assert.equal(await workspace.text("renamed/config"), "core\n");
  assert.equal(await workspace.text("settings/config.jsonc"), "{}");
  assert.deepEqual(await workspace.names("renamed"), ["HEAD", "config", "objects", "refs"]);
});

Deno.test("fs refuses paths that are too deep, named or found, and continues", async () => {
  await using workspace = await Workspace.with({ "a.txt": "a" });
  const deep = (levels: number): string => Array(levels).fill("d").join("/");
  await workspace.call("writeFile", `${deep(199)}/a.txt`, "a");
  assert.match(
    await workspace.refusal("writeFile", `${deep(1_000)}/a.txt`, "a"),
    /Cannot use the path "\S+…": it has \d+ names, and the limit is 200/,
  );
  assert.match(
    await workspace.refusal("readFile", "n".repeat(300)),
    /^Cannot use the path "n+…": it or one of its names is too long for the file system; shorten it$/,
  );
  await Deno.mkdir(join(workspace.root, deep(400)), { recursive: true });
  assert.match(
    await workspace.refusal("remove", "d", { recursive: true }),
    /it contains a path of more than 200 names, the limit/,
  );
  assert.equal(await workspace.text(`${deep(199)}/a.txt`), "a");
});

Deno.test("fs.remove() lets other work continue while it removes a deep folder, and is undone", async () => {
  const levels = runs(60, 199), file = `${Array(levels).fill("d").join("/")}/a.txt`;
  await using workspace = await Workspace.with({ [file]: "a" });
  let turns = 0, isDone = false;
  const turn = (): void => {
    turns++;
    if (!isDone) setImmediate(turn);
  };
  setImmediate(turn);
  assert.deepEqual(await workspace.call("remove", "d", { recursive: true }), {
    path: "d",
    files: 1,
    diff: "--- a/d\n+++ /dev/null\n",
  });
  isDone = true;
  // Each folder takes at least one turn of the event loop, however fast the machine is.
  assert.ok(turns >= levels, `${turns} turns`);
  await workspace.call("undo");
  assert.equal(await workspace.text(file), "a");
});
