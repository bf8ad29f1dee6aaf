import assert from "node:assert/strict";
import { join } from "node:path";
import { Workspace } from "./_workspace.ts";

const FILE = "one\ntwo\nthree\nfour\nfive\nsix\nseven\n";

Deno.test("fs.patch() applies a unified diff to several files: changes, makes and removes", async () => {
  await using workspace = await Workspace.with({ "a.txt": FILE, "old.txt": "gone\n" });
  const patch = [
    "diff --git a/a.txt b/a.txt",
    "index 111..222 100644",
    "--- a/a.txt",
    "+++ b/a.txt",
    "@@ -1,3 +1,3 @@",
    " one",
    "-two",
    "+2",
    " three",
    "@@ -6,2 +6,3 @@ some function",
    " six",
    " seven",
    "+eight",
    "--- /dev/null",
    "+++ b/new/b.txt",
    "@@ -0,0 +1,2 @@",
    "+first",
    "+second",
    "--- a/old.txt",
    "+++ /dev/null",
    "@@ -1 +0,0 @@",
    "-gone",
    "",
  ].join("\n");
  const told = await workspace.call("patch", patch);
  assert.equal(await workspace.text("a.txt"), "one\n2\nthree\nfour\nfive\nsix\nseven\neight\n");
  assert.equal(await workspace.text("new/b.txt"), "first\nsecond\n");
  assert.deepEqual(await workspace.names(), ["a.txt", "new"]);
  assert.deepEqual(told.map(({ path, bytes }: { path: string; bytes: number }) => [path, bytes]), [
    ["a.txt", 38],
    ["new/b.txt", 13],
    ["old.txt", 0],
  ]);
  assert.equal(told[2].diff, "--- a/old.txt\n+++ /dev/null\n@@ -1 +0,0 @@\n-gone\n");
});

Deno.test("fs.patch() takes what fs.edit() shows as its diff", async () => {
  const before = Array.from({ length: 60 }, (_, at) => `line ${at}`).join("\n");
  await using workspace = await Workspace.with({ "a.txt": before, "b.txt": before });
  const { diff } = await workspace.call("edit", "a.txt", [
    { old: "line 3\n", new: "line three\nand more\n" },
    { old: "line 40\n", new: "" },
    { old: "line 59", new: "the end\n" },
  ]);
  await workspace.call("patch", diff.replaceAll("a.txt", "b.txt"));
  assert.equal(await workspace.text("b.txt"), await workspace.text("a.txt"));
});

Deno.test("fs.patch() renames and sets the mode as git says", async () => {
  await using workspace = await Workspace.with({ "a.sh": "echo 1\n" });
  await workspace.call(
    "patch",
    "diff --git a/a.sh b/bin/b.sh\nold mode 100644\nnew mode 100755\nrename from a.sh\nrename to bin/b.sh\n--- a/a.sh\n+++ b/bin/b.sh\n@@ -1 +1 @@\n-echo 1\n+echo 2\n",
  );
  assert.deepEqual(await workspace.names(), ["bin"]);
  assert.equal(await workspace.text("bin/b.sh"), "echo 2\n");
  assert.equal(((await Deno.stat(join(workspace.root, "bin/b.sh"))).mode ?? 0) & 0o777, 0o755);
});

Deno.test("fs.patch() finds a hunk elsewhere only where it stands once, and takes wrong counts", async () => {
  await using workspace = await Workspace.with({ "a.txt": `x\ny\nz\n${FILE}`, "b.txt": "a\nb\na\nb\n" });
  await workspace.call("patch", "--- a/a.txt\n+++ b/a.txt\n@@ -2,99 +2,99 @@\n two\n-three\n+3\n four\n");
  assert.equal(await workspace.text("a.txt"), `x\ny\nz\n${FILE.replace("three", "3")}`);
  assert.equal(
    await workspace.refusal("patch", "--- a/b.txt\n+++ b/b.txt\n@@ @@\n a\n-b\n+c\n"),
    "Cannot apply the hunk of b.txt: its lines stand at lines 1, 3; add lines around it",
  );
  await workspace.call("patch", "--- a/b.txt\n+++ b/b.txt\n@@ -3,2 +3,2 @@\n a\n-b\n+c\n");
  assert.equal(await workspace.text("b.txt"), "a\nb\na\nc\n");
});

Deno.test("fs.patch() has no fuzz: a line that differs is shown with what stands there", async () => {
  await using workspace = await Workspace.with({ "a.txt": FILE, "b.txt": "x\n" });
  const patch = "--- a/b.txt\n+++ b/b.txt\n@@ -1 +1 @@\n-x\n+y\n" +
    "--- a/a.txt\n+++ b/a.txt\n@@ -2,4 +2,4 @@\n two\n Three\n-four\n+4\n five\n";
  assert.equal(
    await workspace.refusal("patch", patch),
    'Cannot apply the hunk of a.txt: its line 2 is "Three", but line 3 is "three"\n' +
      "1: one\n2: two\n3: three\n4: four\n5: five\n6: six",
  );
  assert.equal(await workspace.text("b.txt"), "x\n");
  assert.match(
    await workspace.refusal("patch", "--- a/a.txt\n+++ b/a.txt\n@@ -1 +1 @@\n-nothing like it\n+y\n"),
    /none of its lines is in the file: "nothing like it"/,
  );
});

Deno.test("fs.patch() keeps CRLF, a byte order mark and a missing last line end", async () => {
  await using workspace = await Workspace.with({ "a.txt": "\uFEFFone\r\ntwo\r\nthree" });
  await workspace.call("patch", "--- a/a.txt\n+++ b/a.txt\n@@ -1,3 +1,4 @@\n-one\n+1\n+1.5\n two\n three\n");
  assert.equal(await workspace.text("a.txt"), "\uFEFF1\r\n1.5\r\ntwo\r\nthree");
  await workspace.call(
    "patch",
    "--- a/a.txt\n+++ b/a.txt\n@@ -4 +4,2 @@\n-three\n\\ No newline at end of file\n+three\n+four\n\\ No newline at end of file\n",
  );
  assert.equal(await workspace.text("a.txt"), "\uFEFF1\r\n1.5\r\ntwo\r\nthree\r\nfour");
});

Deno.test("fs.patch() takes search/replace blocks, with paths as models write them", async () => {
  await using workspace = await Workspace.with({ "src/a.ts": "let a = 1\nlet b = 2\n", "b.ts": "x\n" });
  await workspace.call(
    "patch",
    "**src/a.ts**\n```ts\n<<<<<<< SEARCH\nlet a = 1\n=======\nlet a = 10\nlet c = 3\n>>>>>>> REPLACE\n```\n" +
      "<<<<<<< SEARCH\nlet b = 2\n=======\n>>>>>>> REPLACE\n" +
      "new.ts\n<<<<<<< SEARCH\n=======\nmade\n>>>>>>> REPLACE\n",
  );
  assert.equal(await workspace.text("src/a.ts"), "let a = 10\nlet c = 3\n");
  assert.equal(await workspace.text("new.ts"), "made\n");
  assert.match(
    await workspace.refusal("patch", "b.ts\n<<<<<<< SEARCH\nx\n=======\ny\n"),
    /the block of line 2 has no >>>>>>> REPLACE/,
  );
  assert.match(
    await workspace.refusal("patch", "<<<<<<< SEARCH\nx\n=======\ny\n>>>>>>> REPLACE\n"),
    /no path stands before the block of line 1/,
  );
});

Deno.test("fs.patch() refuses what it cannot do, and says why", async () => {
  await using workspace = await Workspace.with({
    "a.txt": "one\n",
    "x.bin": Uint8Array.of(1, 0, 2),
    ".git/config": "x\n",
  });
  const of = (text: string): Promise<string> => workspace.refusal("patch", text);
  assert.match(await of("hello"), /it names no file; start with "--- a\/path"/);
  assert.match(await of("@@ -1 +1 @@\n-a\n+b\n"), /line 1 is a hunk, and no file was named/);
  assert.match(
    await of("--- a/nope.txt\n+++ b/nope.txt\n@@ -1 +1 @@\n-a\n+b\n"),
    /Cannot patch nope\.txt: no such file/,
  );
  assert.match(await of("--- /dev/null\n+++ b/a.txt\n@@ -0,0 +1 @@\n+b\n"), /creates it, and it already exists/);
  assert.match(await of("--- a/x.bin\n+++ b/x.bin\n@@ -1 +1 @@\n-a\n+b\n"), /binary file/);
  assert.match(await of("diff --git a/x.bin b/x.bin\nGIT binary patch\nliteral 3\n"), /binary file/);
  assert.match(await of("--- a/a.txt\n+++ /dev/null\n@@ -0,0 +1 @@\n+b\n"), /not all of its lines/);
  assert.match(await of("--- a/.git/config\n+++ b/.git/config\n@@ -1 +1 @@\n-x\n+y\n"), /below \.git\/ are protected/);
  assert.match(await of("--- a/../app2/secret.txt\n+++ b/../app2/secret.txt\n@@ -1 +1 @@\n-secret\n+y\n"), /outside/);
  assert.equal(await workspace.text("a.txt"), "one\n");
});

Deno.test("fs.patch() refuses a file that changed since it was read", async () => {
  await using workspace = await Workspace.with({ "a.txt": "one\ntwo\n" });
  await workspace.call("readFile", "a.txt");
  await workspace.put("a.txt", "one\nTWO\n");
  const patch = "--- a/a.txt\n+++ b/a.txt\n@@ -1 +1 @@\n-one\n+1\n";
  assert.match(await workspace.refusal("patch", patch), /Cannot patch a\.txt: it changed on disk since it was read/);
});
