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

Deno.test("fs.patch() accepts the diff of fs.edit()", async () => {
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

Deno.test("fs.patch() renames and sets the mode like git", async () => {
  await using workspace = await Workspace.with({ "a.sh": "echo 1\n" });
  await workspace.call(
    "patch",
    "diff --git a/a.sh b/bin/b.sh\nold mode 100644\nnew mode 100755\nrename from a.sh\nrename to bin/b.sh\n--- a/a.sh\n+++ b/bin/b.sh\n@@ -1 +1 @@\n-echo 1\n+echo 2\n",
  );
  assert.deepEqual(await workspace.names(), ["bin"]);
  assert.equal(await workspace.text("bin/b.sh"), "echo 2\n");
  assert.equal(((await Deno.stat(join(workspace.root, "bin/b.sh"))).mode ?? 0) & 0o777, 0o755);
});

Deno.test("fs.patch() finds a hunk elsewhere only if it matches once, and accepts wrong counts", async () => {
  await using workspace = await Workspace.with({ "a.txt": `x\ny\nz\n${FILE}`, "b.txt": "a\nb\na\nb\n" });
  await workspace.call("patch", "--- a/a.txt\n+++ b/a.txt\n@@ -2,99 +2,99 @@\n two\n-three\n+3\n four\n");
  assert.equal(await workspace.text("a.txt"), `x\ny\nz\n${FILE.replace("three", "3")}`);
  assert.equal(
    await workspace.refusal("patch", "--- a/b.txt\n+++ b/b.txt\n@@ @@\n a\n-b\n+c\n"),
    "Cannot apply the hunk of b.txt: its lines occur at lines 1, 3; add lines around it",
  );
  await workspace.call("patch", "--- a/b.txt\n+++ b/b.txt\n@@ -3,2 +3,2 @@\n a\n-b\n+c\n");
  assert.equal(await workspace.text("b.txt"), "a\nb\na\nc\n");
  await workspace.call("patch", "--- /dev/null\n+++ b/c.txt\n@@ -0,0 +1,2 @@\n+this\n+is\n+all\n+of it\n");
  assert.equal(await workspace.text("c.txt"), "this\nis\nall\nof it\n");
  await workspace.call(
    "patch",
    "--- a/c.txt\n+++ b/c.txt\n@@ -1,2 +1,2 @@\n this\n is\n-all\n+no more\n+than\n of it\n",
  );
  assert.equal(await workspace.text("c.txt"), "this\nis\nno more\nthan\nof it\n");
  assert.match(
    await workspace.refusal("patch", "--- a/c.txt\n+++ b/c.txt\n@@ -1,2 +1,4 @@\n this\n+too\n is\n"),
    /header of line 3 gives 2 old and 4 new lines, but its hunk has 2 and 3; add the missing lines/,
  );
});

Deno.test("fs.patch() has no fuzz: a different line is shown with the text of the file", async () => {
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
    /no place in the file is similar to its lines, such as "nothing like it"/,
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
    /the block of line 1 follows no path; write the path of its file on the line before/,
  );
});

Deno.test("fs.patch() refuses an impossible change, and names the reason", async () => {
  await using workspace = await Workspace.with({
    "a.txt": "one\n",
    "x.bin": Uint8Array.of(1, 0, 2),
    ".git/config": "x\n",
  });
  const of = (text: string): Promise<string> => workspace.refusal("patch", text);
  assert.match(await of("hello"), /no change to a file in it; start with "--- a\/path"/);
  assert.match(await of("@@ -1 +1 @@\n-a\n+b\n"), /line 1 begins a hunk, but the lines above it name no file for it/);
  assert.match(
    await of("--- a/nope.txt\n+++ b/nope.txt\n@@ -1 +1 @@\n-a\n+b\n"),
    /Cannot patch nope\.txt: there is no such file or folder; the nearest existing folder is the workspace/,
  );
  assert.match(
    await of("--- /dev/null\n+++ b/a.txt\n@@ -0,0 +1 @@\n+b\n"),
    /the patch creates it, but it already exists; patch its lines, or call fs\.writeFile/,
  );
  assert.match(
    await of("diff --git a/x.bin b/a.txt\nsimilarity index 100%\nrename from x.bin\nrename to a.txt\n"),
    /the patch renames x\.bin to it, but it already exists; name another path/,
  );
  assert.match(await of("--- a/x.bin\n+++ b/x.bin\n@@ -1 +1 @@\n-a\n+b\n"), /binary file/);
  assert.match(await of("diff --git a/x.bin b/x.bin\nGIT binary patch\nliteral 3\n"), /x\.bin is binary, and/);
  assert.match(
    await of("--- a/a.txt\n+++ /dev/null\n@@ -0,0 +1 @@\n+b\n"),
    /the patch removes the file, but text remains after the patch; remove every line in the patch/,
  );
  assert.match(
    await of("--- a/.git/config\n+++ b/.git/config\n@@ -1 +1 @@\n-x\n+y\n"),
    /\.git\/ and files below it are protected/,
  );
  assert.match(await of("--- a/../app2/secret.txt\n+++ b/../app2/secret.txt\n@@ -1 +1 @@\n-secret\n+y\n"), /outside/);
  assert.equal(await workspace.text("a.txt"), "one\n");
});

Deno.test("fs.patch() refuses a file that changed since it was read", async () => {
  await using workspace = await Workspace.with({ "a.txt": "one\ntwo\n" });
  await workspace.call("readFile", "a.txt");
  await workspace.put("a.txt", "one\nTWO\n");
  const patch = "--- a/a.txt\n+++ b/a.txt\n@@ -1 +1 @@\n-one\n+1\n";
  assert.match(
    await workspace.refusal("patch", patch),
    /Cannot patch a\.txt: it changed on disk since you last read or wrote it/,
  );
});

Deno.test("fs.patch() applies a hunk with lines that lost their blank where the counts fit, and no part of it", async () => {
  const before = "one\ntwo\n\tthree\nfour\nfive\n";
  await using workspace = await Workspace.with({ "a.txt": before });
  const of = (lines: readonly string[]): string => ["--- a/a.txt", "+++ b/a.txt", ...lines, ""].join("\n");
  const body = ["one", "-two", "+TWO", "\tthree", "-four", "+FOUR", "five"];
  const header = "@@ -1,5 +1,5 @@";
  for (const bare of [[3], [0], [6], [0, 3, 6], []]) {
    const lines = body.map((line, at) => /^[-+]/.test(line) || bare.includes(at) ? line : ` ${line}`);
    await workspace.call("patch", of([header, ...lines]));
    assert.equal(await workspace.text("a.txt"), "one\nTWO\n\tthree\nFOUR\nfive\n");
    await workspace.call("undo");
  }
  const marked = body.map((line) => /^[-+\t]/.test(line) ? line : ` ${line}`);
  const unreadable = (line: number, text: string) =>
    `Cannot apply the patch: line ${line} (${
      JSON.stringify(text)
    }) is not valid, because a line of a hunk begins with " ", "-" or "+"`;
  for (const wrong of ["@@", "@@ -1,4 +1,4 @@", "@@ -1,6 +1,6 @@"]) {
    assert.equal(await workspace.refusal("patch", of([wrong, ...marked])), unreadable(7, "\tthree"));
  }
  const second = ["@@ -1,2 +1,2 @@", "-one", "+1", " two", "@@", "three", "-four", "+4"];
  assert.equal(await workspace.refusal("patch", of(second)), unreadable(8, "three"));
  assert.match(
    await workspace.refusal("patch", of(["@@ -1,2 +1,2 @@", " one", "-two", "+TWO", "Then:", "-four", "+FOUR"])),
    /line 8 \("-four"\) is not valid, because it belongs to no hunk/,
  );
  const cut = [" one", "-two", "+TWO", " \tthree", "-four"];
  assert.match(
    await workspace.refusal("patch", of([header, ...cut])),
    /the header of line 3 gives 5 old and 5 new lines, but its hunk has 4 and 3; add the missing lines, or write only @@/,
  );
  assert.match(
    await workspace.refusal("patch", of([header, ...cut, "+FOUR"])),
    /the header of line 3 gives 5 old and 5 new lines, but its hunk has 4 and 4; add the missing lines, or write only @@/,
  );
  assert.match(await workspace.refusal("patch", of(["-one", "+1"])), /line 3 \("-one"\) is not valid/);
  assert.match(await workspace.refusal("patch", of(["@@ -1,2 +1,2 @@", " one", " two"])), /adds and removes nothing/);
  assert.match(
    await workspace.refusal("patch", of([])),
    /the file section that begins at line 1 \(a\.txt\) is invalid, because no line in it changes the file; correct/,
  );
  assert.equal(await workspace.text("a.txt"), before);
});

Deno.test("fs.patch() applies a diff and blocks in one text, and reads names with blanks", async () => {
  await using workspace = await Workspace.with({ "a.txt": FILE, "b.txt": "x\n", "my notes.md": "x\n" });
  await workspace.call(
    "patch",
    "--- a/a.txt\n+++ b/a.txt\n@@ -1,2 +1,2 @@\n-one\n+1\n two\n\nThen the others:\n\n" +
      "b.txt\n<<<<<<< SEARCH\nx\n=======\ny\n>>>>>>> REPLACE\n\n**my notes.md**\n```md\n<<<<<<< SEARCH\nx\n=======\nz\n" +
      ">>>>>>> REPLACE\n```\n`new notes.md`:\n<<<<<<< SEARCH\n=======\nnew\n>>>>>>> REPLACE\n" +
      "--- a/a.txt\n+++ b/a.txt\n@@\n-two\n+2\n three\n",
  );
  const texts = await Promise.all(
    ["a.txt", "b.txt", "my notes.md", "new notes.md"].map((name) => workspace.text(name)),
  );
  assert.deepEqual(texts, [FILE.replace("one\ntwo", "1\n2"), "y\n", "z\n", "new\n"]);
  const block = (path: string, search = "y\n") =>
    `${path}\n<<<<<<< SEARCH\n${search}=======\nchanged\n>>>>>>> REPLACE\n`;
  for (const name of ["your notes.md", "Now the second change:"]) {
    const refusal = await workspace.refusal("patch", `${block("b.txt")}${block(name)}`);
    assert.match(
      refusal,
      /line 7 \("(?:your|Now).*"\) is not valid, because the line before <<<<<<< SEARCH must be the path of an existing file/,
    );
  }
  assert.match(
    await workspace.refusal("patch", block("Create the helper:", "")),
    /line 1 \("Create the helper:"\) is not valid, because the line before <<<<<<< SEARCH must be the path of the new file/,
  );
  assert.equal(await workspace.text("b.txt"), "y\n");
});

Deno.test("fs.patch() applies the patches of Codex", async () => {
  await using workspace = await Workspace.with({
    "a b.txt": FILE,
    "b.txt": "x\ny\n",
    "old.txt": "gone\n",
    "c.txt": "c\n",
  });
  await workspace.call(
    "patch",
    "*** Begin Patch\n*** Update File: a b.txt\n@@ def one\n one\n-two\n+2\n\n@@\n six\n-seven\n+7\n*** End of File\n" +
      "*** Add File: new/n.txt\n+first\n+\n+third\n*** Delete File: old.txt\n*** Update File: b.txt\n*** Move to: d.txt\n" +
      "-x\n+X\n y\n*** Update File: c.txt\n*** Move to: e.txt\n*** End Patch\n",
  );
  assert.deepEqual(await workspace.names(), ["a b.txt", "d.txt", "e.txt", "new"]);
  assert.equal(await workspace.text("a b.txt"), FILE.replace("two", "2").replace("seven", "7"));
  assert.deepEqual([await workspace.text("new/n.txt"), await workspace.text("d.txt")], ["first\n\nthird\n", "X\ny\n"]);
  const of = (text: string) => workspace.refusal("patch", `*** Begin Patch\n${text}\n*** End Patch\n`);
  assert.match(
    await of("*** Update File: d.txt\n@@\nX\n-y\n+Y"),
    /line 4 \("X"\) is not valid, because a line of a hunk begins with " ", "-" or "\+"/,
  );
  assert.match(
    await of("*** Update File: d.txt"),
    /line 2 \("\*\*\* Update File: d\.txt"\) is not valid, because no line after it changes a file/,
  );
  assert.match(await of("*** Add File: n.txt\n+a\nb"), /line 4 \("b"\) is not valid/);
  assert.match(
    await of("*** Delete File: d.txt\n-x"),
    /line 3 \("-x"\) is not valid, because a file that the patch deletes has no lines here/,
  );
  assert.match(
    await of("*** Delete File: nope.txt"),
    /Cannot patch nope\.txt: there is no such file or folder; the nearest existing folder is the workspace/,
  );
  assert.match(
    await of("*** Move to: z.txt"),
    /line 2 \("\*\*\* Move to: z\.txt"\) is not valid, because it must follow \*\*\* Update File/,
  );
  assert.deepEqual(await workspace.names(), ["a b.txt", "d.txt", "e.txt", "new"]);
});

Deno.test("fs.patch() puts a hunk of Codex below the lines after @@, and moves no file to itself", async () => {
  const body = (name: string) =>
    `class ${name}:\n    def f(self):\n        return 1\n\n    def g(self):\n        return 1\n\n`;
  await using workspace = await Workspace.with({ "a.py": body("A") + body("B") + body("C") });
  const patch = (lines: string) =>
    workspace.call("patch", `*** Begin Patch\n*** Update File: a.py\n${lines}*** End Patch\n`);
  const change = (now: number) => `-        return 1\n+        return ${now}\n`;
  await patch(
    `*** Move to: ./a.py\n@@ class B:\n     def f(self):\n${change(2)}@@ class C:\n@@     def g(self):\n${change(3)}`,
  );
  const wanted = body("A") + body("B").replace("1", "2") + body("C").replace(/1(?=\n\n$)/, "3");
  assert.equal(await workspace.text("a.py"), wanted);
  for (const anchor of ["class D:", "def f(self):"]) {
    assert.match(
      await workspace.refusal(
        "patch",
        `*** Begin Patch\n*** Update File: a.py\n@@ ${anchor}\n${change(4)}*** End Patch\n`,
      ),
      /occur at lines/,
    );
  }
  assert.equal(await workspace.text("a.py"), wanted);
});

Deno.test("fs.patch() does not guess which line divides a block, and takes longer markers", async () => {
  await using workspace = await Workspace.with({ "a.md": "Title\n=======\nold\n" });
  const block = (mark: string) =>
    `a.md\n<<<<<<<${mark.replace("=", "<")} SEARCH\n=======\nold\n=======${mark}\n=======\nnew\n>>>>>>>${
      mark.replace("=", ">")
    } REPLACE\n`;
  assert.match(await workspace.refusal("patch", block("")), /the block of line 2 has several lines of =======/);
  await workspace.call("patch", block("="));
  assert.equal(await workspace.text("a.md"), "Title\n=======\nnew\n");
});

Deno.test("fs.patch() makes no link that leads out of the workspace, or to a protected path", async () => {
  await using workspace = await Workspace.with({ "d/a.txt": "a\n", ".git/config": "x\n", "b.txt": "b\n" });
  await Deno.symlink("../..", join(workspace.root, "d/up"));
  const link = (target: string, name = "d/link") =>
    `diff --git a/${name} b/${name}\nnew file mode 120000\nindex 0000000..1111111\n--- /dev/null\n+++ b/${name}\n` +
    `@@ -0,0 +1 @@\n+${target}\n\\ No newline at end of file\n`;
  for (
    const target of ["/etc/passwd", "../../app2/secret.txt", "up/app2/secret.txt", "../.git/config", "x/../a.txt", ""]
  ) {
    assert.match(
      await workspace.refusal("patch", link(target)),
      /^Cannot patch d\/link: the target ".*" of the link /,
      target,
    );
  }
  for (const target of ["a.txt", "../b.txt", "not there"]) {
    await workspace.call("patch", link(target));
    assert.equal(await Deno.readLink(join(workspace.root, "d/link")), target);
    await workspace.call("undo");
  }
  await workspace.call("patch", link("a.txt"));
  const through = `${
    link("..", "e")
  }diff --git a/e/x b/e/x\nnew file mode 100644\n--- /dev/null\n+++ b/e/x\n@@ -0,0 +1 @@\n+x\n`;
  await workspace.refusal("patch", through);
  assert.deepEqual(await workspace.names(), [".git", "b.txt", "d"]);
});

Deno.test("fs.patch() refuses parts that only git can apply, and names them", async () => {
  await using workspace = await Workspace.with({ "a.txt": "one\n", "x.bin": Uint8Array.of(1, 0, 2) });
  const of = (text: string): Promise<string> => workspace.refusal("patch", `diff --git a/a.txt b/a.txt\n${text}`);
  assert.match(await of("index 1..2 160000\n--- a/a.txt\n+++ b/a.txt\n@@ -1 +1 @@\n-one\n+two\n"), /a submodule/);
  assert.match(
    await of("index 1..2 100644\nBinary files a/a.txt and b/a.txt differ\n"),
    /a\.txt is binary, and fs\.patch can change only text/,
  );
  assert.match(await of("similarity index 90%\nrename from a.txt\n"), /"rename from" or "rename to" is missing/);
  assert.match(await of("old mode 100644\n"), /"old mode" or "new mode" is missing/);
  assert.match(await of("index 1111111..2222222 100644\n"), /its hunks are missing/);
  assert.match(
    await workspace.refusal("patch", "rename from a.txt\nrename to b.txt\n"),
    /line 1 \("rename from a\.txt"\) is not valid, because it must follow a line of diff --git, in the order of git/,
  );
  assert.match(
    await workspace.refusal(
      "patch",
      "diff --cc a.txt\nindex 1,2..3\n--- a/a.txt\n+++ b/a.txt\n@@@ -1,1 -1,1 +1,1 @@@\n",
    ),
    /line 1 \("diff --cc a\.txt"\) is not valid, because it belongs to a merge; make a diff against one of its parents/,
  );
  await workspace.call(
    "patch",
    "diff --git a/x.bin b/y.bin\nsimilarity index 100%\nrename from x.bin\nrename to y.bin\n",
  );
  assert.deepEqual(await workspace.names(), ["a.txt", "y.bin"]);
});

const removed = (path: string, text: string) =>
  `diff --git a/${path} b/${path}\ndeleted file mode 100644\n--- a/${path}\n+++ /dev/null\n@@ -1 +0,0 @@\n-${text}\n`;
const added = (path: string) =>
  `diff --git a/${path} b/${path}\nnew file mode 100644\n--- /dev/null\n+++ b/${path}\n@@ -0,0 +1 @@\n+new\n`;
const renamed = (from: string, to: string) =>
  `diff --git a/${from} b/${to}\nsimilarity index 100%\nrename from ${from}\nrename to ${to}\n`;
const linked = (path: string) =>
  `diff --git a/${path} b/${path}\nnew file mode 120000\n--- /dev/null\n+++ b/${path}\n@@ -0,0 +1 @@\n+lib\n` +
  "\\ No newline at end of file\n";

async function filesOf(folder: string, below = ""): Promise<Readonly<Record<string, string>>> {
  const found: Record<string, string> = {};
  for await (const { name, isDirectory, isSymlink } of Deno.readDir(`${folder}/${below}`)) {
    const path = `${folder}/${below}${name}`;
    if (isDirectory) Object.assign(found, await filesOf(folder, `${below}${name}/`));
    else found[below + name] = isSymlink ? `-> ${await Deno.readLink(path)}` : await Deno.readTextFile(path);
  }
  return found;
}

Deno.test("fs.patch() makes a folder of a file and a file of a folder, and all of it is undone and redone", async () => {
  const files = { "lib": "x\n", "d/a": "1\n", "d/b/c": "2\n" };
  const rest = { "d/a": "1\n", "d/b/c": "2\n" };
  const emptied = removed("d/a", "1") + removed("d/b/c", "2");
  const cases: readonly (readonly [patch: string | readonly string[], wanted: Readonly<Record<string, string>>])[] = [
    [removed("lib", "x") + added("lib/a.ts"), { "lib/a.ts": "new\n", ...rest }],
    [added("lib/deep/a.ts") + removed("lib", "x"), { "lib/deep/a.ts": "new\n", ...rest }],
    [renamed("lib", "lib/index.ts"), { "lib/index.ts": "x\n", ...rest }],
    [emptied + added("d"), { "lib": "x\n", "d": "new\n" }],
    [added("d") + emptied, { "lib": "x\n", "d": "new\n" }],
    [renamed("d/a", "d") + removed("d/b/c", "2"), { "lib": "x\n", "d": "1\n" }],
    [removed("d/a", "1") + renamed("d/b/c", "c") + linked("d"), { "lib": "x\n", "c": "2\n", "d": "-> lib" }],
    [emptied + added("d") + removed("lib", "x") + added("lib/a"), { "lib/a": "new\n", "d": "new\n" }],
    [[removed("lib", "x"), added("lib/a.ts")], { "lib/a.ts": "new\n", ...rest }],
    [[emptied, added("d")], { "lib": "x\n", "d": "new\n" }],
  ];
  for (const [given, wanted] of cases) {
    const patches = [given].flat();
    await using workspace = await Workspace.with(files);
    for (const patch of patches) await workspace.call("patch", patch);
    assert.deepEqual(await filesOf(workspace.root), wanted);
    await workspace.call("undo", { steps: patches.length });
    assert.deepEqual(await filesOf(workspace.root), files);
    await workspace.call("undo", { redo: true });
    assert.deepEqual(await filesOf(workspace.root), wanted);
  }
});

Deno.test("fs.patch() refuses a file in the place of a folder that it does not empty, and the reverse", async () => {
  const files = { "lib": "x\n", "d/a": "1\n", "d/b/c": "2\n" };
  await using workspace = await Workspace.with(files);
  const refusal = (patch: string) => workspace.refusal("patch", patch);
  assert.equal(
    await refusal(removed("d/a", "1") + added("d")),
    "Cannot patch d: it is a folder that contains d/b/c, which the patch does not remove; remove it in the patch too",
  );
  assert.equal(await refusal(added("lib/a")), "Cannot change lib/a: a part of its path is not a folder");
  assert.match(await refusal(removed("d", "1")), /^Cannot patch d: it is a folder;/);
  assert.deepEqual(await filesOf(workspace.root), files);
});
