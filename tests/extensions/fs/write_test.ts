import assert from "node:assert/strict";
import { join } from "node:path";
import { unifiedDiff } from "../../../extensions/fs/patch/unified_diff.ts";
import { Workspace } from "./_workspace.ts";
import { cpuMs } from "../../helpers/cpu_ms.ts";

Deno.test("fs.writeFile() creates folders and file and shows the change as a diff", async () => {
  await using workspace = await Workspace.with();
  assert.deepEqual(await workspace.call("writeFile", "new/deep/a.txt", "one\ntwo\n"), {
    path: "new/deep/a.txt",
    bytes: 8,
    diff: "--- /dev/null\n+++ b/new/deep/a.txt\n@@ -0,0 +1,2 @@\n+one\n+two\n",
  });
  assert.equal(await workspace.text("new/deep/a.txt"), "one\ntwo\n");
  assert.deepEqual(await workspace.names("new/deep"), ["a.txt"]);
});

Deno.test("fs.writeFile() replaces, keeps the mode, and shows the change", async () => {
  await using workspace = await Workspace.with({ "run.sh": "echo 1\necho 2\n" });
  await Deno.chmod(join(workspace.root, "run.sh"), 0o750);
  const { diff, bytes } = await workspace.call("writeFile", "run.sh", "echo 1\necho \u00fc\n");
  assert.equal(diff, "--- a/run.sh\n+++ b/run.sh\n@@ -1,2 +1,2 @@\n echo 1\n-echo 2\n+echo \u00fc\n");
  assert.equal(bytes, 15);
  assert.equal(((await Deno.stat(join(workspace.root, "run.sh"))).mode ?? 0) & 0o777, 0o750);
});

Deno.test("a change that resolves a conflict of a merge is compared with the own side", async () => {
  const conflict = (one: string, two: string): string => `<<<<<<< HEAD\n${one}\n=======\n${two}\n>>>>>>> topic\n`;
  const [first, second] = [conflict("own a", "their a"), conflict("own b", "their b")];
  await using workspace = await Workspace.with({ "m.txt": `top\n${first}middle\n${second}` });
  const one = await workspace.call("writeFile", "m.txt", `top\nboth a\nmiddle\n${second}`);
  assert.equal(one.diff, "--- a/m.txt\n+++ b/m.txt\n@@ -1,4 +1,4 @@\n top\n-own a\n+both a\n middle\n own b\n");
  const two = await workspace.call("writeFile", "m.txt", "top\nboth a\nmiddle\nown b\n");
  assert.equal(two.diff, "");
  const fresh = await workspace.call("writeFile", "n.txt", first);
  assert.match(fresh.diff, /\+<<<<<<< HEAD\n\+own a\n\+=======\n/);
});

Deno.test("fs.writeFile() of the same text has an empty diff; of an empty text an empty file", async () => {
  await using workspace = await Workspace.with({ "a.txt": "one" });
  assert.equal((await workspace.call("writeFile", "a.txt", "one")).diff, "");
  assert.equal((await workspace.call("writeFile", "a.txt", "")).bytes, 0);
  assert.equal(await workspace.text("a.txt"), "");
});

Deno.test("fs.writeFile() names folders, and files in place of folders", async () => {
  await using workspace = await Workspace.with({ "src/a.ts": "x" });
  assert.match(await workspace.refusal("writeFile", "src", "x"), /Cannot write src: it is a folder/);
  assert.match(await workspace.refusal("writeFile", ".", "x"), /it is the workspace itself/);
  assert.match(
    await workspace.refusal("writeFile", "src/a.ts/b.ts", "x"),
    /Cannot change src\/a\.ts\/b\.ts: a part of its path is not a folder/,
  );
  assert.deepEqual(await workspace.names("src"), ["a.ts"]);
});

Deno.test("fs.edit() replaces exact text in one file, several edits in order", async () => {
  await using workspace = await Workspace.with({ "a.ts": "let a = 1\nlet b = 2\nlet c = 3" });
  const written = await workspace.call("edit", "a.ts", [{ old: "a = 1", new: "a = 10" }, {
    old: "a = 10\nlet b",
    new: "a = 11\nlet B",
  }]);
  assert.equal(await workspace.text("a.ts"), "let a = 11\nlet B = 2\nlet c = 3");
  assert.equal(written.path, "a.ts");
  assert.match(
    written.diff,
    /^--- a\/a\.ts\n\+\+\+ b\/a\.ts\n@@ -1,3 \+1,3 @@\n-let a = 1\n-let b = 2\n\+let a = 11\n\+let B = 2\n let c = 3\n/,
  );
});

Deno.test("fs.edit() replaces all on request and takes the new text literally", async () => {
  await using workspace = await Workspace.with({ "a.ts": "x y x" });
  await workspace.call("edit", "a.ts", { old: "x", new: "$& $1 $$", all: true });
  assert.equal(await workspace.text("a.ts"), "$& $1 $$ y $& $1 $$");
});

Deno.test("fs.edit() answers an ambiguous match with the hit lines and changes nothing", async () => {
  await using workspace = await Workspace.with({ "a.ts": "  return 1\nx\n  return 1\n" });
  const message = await workspace.refusal("edit", "a.ts", { old: "return 1", new: "return 2" });
  assert.equal(
    message,
    "Cannot edit a.ts: the old text occurs 2 times:\n1: return 1\n3: return 1\nIt must occur once; add lines around it, or set all: true",
  );
  assert.equal(await workspace.text("a.ts"), "  return 1\nx\n  return 1\n");
});

Deno.test("fs.edit() names the first fault of each file, of at most five files, and changes nothing", async () => {
  const names = ["a", "b", "c", "d", "e", "f"].map((name) => `${name}.txt`);
  await using workspace = await Workspace.with(Object.fromEntries(["ok.txt", ...names].map((name) => [name, "1\n"])));
  const wrong = names.flatMap((path) => [{ path, old: "2", new: "3" }, { path, old: "4", new: "5" }]);
  const edits = (count: number) => [{ path: "ok.txt", old: "1", new: "2" }, ...wrong.slice(0, count * 2)];
  const paths = async (count: number): Promise<readonly (string | undefined)[]> =>
    Array.from(
      (await workspace.refusal("edit", edits(count))).matchAll(/^Cannot edit (.*):.* "2"/gm),
      ([, path]) => path,
    );
  assert.match(
    await workspace.refusal("edit", edits(2)),
    /^Cannot edit the files: no file changed, because these edits failed\n/,
  );
  const absent = [{ path: "x.txt", old: "1", new: "2" }, { path: "a.txt", old: "", new: "3" }];
  assert.match(
    await workspace.refusal("edit", absent),
    /\nCannot edit x\.txt: .*\nCannot edit a\.txt: old is empty; .*replace a whole file with fs\.writeFile$/,
  );
  assert.deepEqual(await paths(1), names.slice(0, 1));
  assert.deepEqual(await paths(2), names.slice(0, 2));
  assert.deepEqual(await paths(6), names.slice(0, 5));
  assert.equal(await workspace.text("ok.txt"), "1\n");
});

Deno.test("fs.edit() shows how missing text differs", async () => {
  await using workspace = await Workspace.with({ "a.ts": "a\n  if (x) {\n    go()\n  }\n" });
  const of = async (old: string): Promise<string> => await workspace.refusal("edit", "a.ts", { old, new: "y" });
  assert.match(
    await of("if (x) {\n  go()\n}"),
    /whose first line is line 2 of the file; copy line 3 exactly, which differs only in white space; character 3 of that line is U\+0020 SPACE, not g/,
  );
  assert.match(
    await of("if (x) {\n    stop()\n}"),
    /the nearest is line 3, " {4}go\(\)"; character 5 of that line is g \(U\+0067\), not s/,
  );
  assert.match(await of("nothing"), /the file does not contain the old text "nothing"$/);
  assert.match(await of("\nalpha\n  beta\n"), /the file does not contain the old text:\nalpha\n {2}beta$/);
  assert.match(await of("x1\n".repeat(8)), /the old text:\n(?:x1\n){6}… 2 more lines$/);
  assert.match(await of(""), /old is empty/);
});

Deno.test("fs.edit() names the first character that looks like another", async () => {
  await using workspace = await Workspace.with({
    "a.md": "One\nIt\u2019s \u201cfine\u201d \u2013 really\ncaf\u0065\u0301 bar\na\u00a0b \tc\n",
  });
  const of = async (old: string): Promise<string> => await workspace.refusal("edit", "a.md", { old, new: "y" });
  assert.equal(
    await of("It's fine"),
    'Cannot edit a.md: the file does not contain the old text "It\'s fine"; the nearest is line 2, "It\u2019s \u201cfine\u201d \u2013 really"; ' +
      "character 3 of that line is \u2019 (U+2019 RIGHT SINGLE QUOTATION MARK), not ' (U+0027 APOSTROPHE)",
  );
  assert.match(
    await of("\u201cfine\u201d - really"),
    /character 13 of that line is \u2013 \(U\+2013 EN DASH\), not - \(U\+002D HYPHEN-MINUS\)/,
  );
  assert.match(
    await of("caf\u00e9 bar"),
    /character 4 of that line is e \(U\+0065\) with U\+0301 COMBINING ACUTE ACCENT, not \u00e9 \(U\+00E9\)/,
  );
  assert.match(
    await of("a b \tc"),
    /exactly, which differs only in white space; character 2 of that line is U\+00A0 NO-BREAK SPACE, not U\+0020 SPACE/,
  );
  assert.match(
    await of("one"),
    /the nearest is line 1, "One"; character 1 of that line is O \(U\+004F\), not o \(U\+006F\)/,
  );
  assert.match(await of("One\nIt's"), /whose first line is line 1 of the file; the nearest is line 2/);
  assert.match(
    await of("a\u00a0b \tc\nand more"),
    /line 4 is like its first line, but the file ends before the others/,
  );
});

Deno.test("fs.edit() accepts the arguments of other tools if they are clear", async () => {
  await using workspace = await Workspace.with({ "a.txt": "1 2 3 4 5 6 7 8 8" });
  await workspace.call("edit", "a.txt", { old_string: "1", new_string: "a" });
  await workspace.call("edit", "a.txt", "2", "b");
  await workspace.call("edit", { path: "a.txt", oldText: "3", newText: "c" });
  await workspace.call("edit", { file_path: "a.txt", edits: [{ oldText: "4", newText: "d" }] });
  await workspace.call("edit", "a.txt", { edits: [{ old_str: "5", new_str: "e" }] });
  await workspace.call("edit", [{ filePath: "a.txt", oldString: "6", newString: "f" }]);
  await workspace.call("edit", "a.txt", [{ search: "7", replace: "g" }]);
  await workspace.call("edit", "a.txt", "8", "h", { replace_all: true });
  assert.equal(await workspace.text("a.txt"), "a b c d e f g h h");
  assert.match(await workspace.refusal("edit", "a.txt", { old: "a", old_string: "b", new: "c" }), /old_string/);
  assert.match(await workspace.refusal("edit", "a.txt", "a"), /edits/);
  assert.equal(await workspace.text("a.txt"), "a b c d e f g h h");
});

Deno.test("fs.edit() keeps CRLF line ends where the model wrote line feeds", async () => {
  await using workspace = await Workspace.with({ "a.txt": "one\r\ntwo\r\nthree\r\n" });
  await workspace.call("edit", "a.txt", { old: "one\ntwo", new: "1\n2" });
  assert.equal(await workspace.text("a.txt"), "1\r\n2\r\nthree\r\n");
});

Deno.test("fs.edit() changes several files, all or none", async () => {
  await using workspace = await Workspace.with({ "a.txt": "one", "b.txt": "one", "c.txt": "two" });
  const edit = (path: string) => ({ path, old: "one", new: "1" });
  assert.match(await workspace.refusal("edit", [edit("a.txt"), edit("b.txt"), edit("c.txt")]), /Cannot edit c\.txt/);
  assert.match(await workspace.refusal("edit", [edit("a.txt"), edit("../app2/secret.txt")]), /outside the workspace/);
  assert.match(
    await workspace.refusal("edit", [edit("a.txt"), edit("nope.txt")]),
    /Cannot edit nope\.txt: there is no such file or folder; the nearest existing folder is the workspace/,
  );
  assert.deepEqual([await workspace.text("a.txt"), await workspace.text("b.txt")], ["one", "one"]);
  const written = await workspace.call("edit", [edit("a.txt"), edit("b.txt")]);
  assert.deepEqual(written.map(({ path, bytes }: { path: string; bytes: number }) => [path, bytes]), [["a.txt", 1], [
    "b.txt",
    1,
  ]]);
  assert.deepEqual(await workspace.names(), ["a.txt", "b.txt", "c.txt"]);
});

Deno.test("fs.edit() refuses argument lists that mean nothing", async () => {
  await using workspace = await Workspace.with({ "a.txt": "one" });
  assert.match(await workspace.refusal("edit", "a.txt"), /the edits are missing/);
  assert.match(
    await workspace.refusal("edit", [{ path: "a.txt", old: "one", new: "1" }], { old: "a", new: "b" }),
    /the first argument is already a list of/,
  );
  assert.match(await workspace.refusal("edit", "a.txt", { old: "one" }), /usage: fs\.edit/);
  assert.match(await workspace.refusal("edit", "a.txt", []), /usage: fs\.edit/);
});

Deno.test("fs.edit() refuses binary files", async () => {
  await using workspace = await Workspace.with({ "x.bin": Uint8Array.of(65, 0, 66) });
  assert.match(
    await workspace.refusal("edit", "x.bin", { old: "A", new: "B" }),
    /Cannot edit x\.bin: it is a binary file of 3 B/,
  );
});

for (const how of ["readFile", "range", "writeFile"] as const) {
  Deno.test(`fs refuses to write a file that changed since ${how}, until it is read again`, async () => {
    await using workspace = await Workspace.with({ "a.txt": "one\n" });
    if (how === "writeFile") await workspace.call("writeFile", "a.txt", "mine\n");
    else await workspace.call("readFile", "a.txt", ...(how === "range" ? [{ from: 1, to: 1 }] : []));
    await workspace.put("a.txt", "one, changed by another\n");
    const reason = "it changed on disk since you last read or wrote it; read it again and redo the change";
    assert.equal(await workspace.refusal("writeFile", "a.txt", "two\n"), `Cannot write a.txt: ${reason}`);
    assert.equal(
      await workspace.refusal("edit", "a.txt", { old: "one", new: "two" }),
      `Cannot edit a.txt: ${reason}`,
    );
    assert.equal(await workspace.text("a.txt"), "one, changed by another\n");
    await workspace.call("readFile", "a.txt");
    await workspace.call("edit", "a.txt", { old: "one", new: "two" });
    assert.equal(await workspace.text("a.txt"), "two, changed by another\n");
  });
}

for (const how of ["whole", "range"] as const) {
  Deno.test(`fs edits a file again after an undo elsewhere restored the text that was read (${how})`, async () => {
    await using workspace = await Workspace.with({ "a.txt": "one\n" });
    await workspace.call("readFile", "a.txt", ...(how === "range" ? [{ from: 1, to: 1 }] : []));
    await workspace.call("edit", "a.txt", { old: "one", new: "two" });
    await workspace.call("edit", "a.txt", { old: "two", new: "three" });
    await workspace.put("a.txt", "one\n");
    assert.match(
      await workspace.refusal("writeFile", "a.txt", "all new\n"),
      /changed on disk since you last read or wrote it/,
    );
    await workspace.call("edit", "a.txt", { old: "one", new: "four" });
    assert.equal(await workspace.text("a.txt"), "four\n");
  });
}

Deno.test("fs sees a change of the same size, and none where only the time changed", async () => {
  await using workspace = await Workspace.with({ "a.txt": "one", "b.txt": "one" });
  await workspace.call("readFiles", ["a.txt", "b.txt"]);
  const { mtime } = await Deno.stat(join(workspace.root, "a.txt"));
  await workspace.put("a.txt", "two");
  await Deno.utime(join(workspace.root, "a.txt"), mtime ?? 0, mtime ?? 0);
  assert.match(await workspace.refusal("writeFile", "a.txt", "x"), /changed on disk/);
  await Deno.utime(join(workspace.root, "b.txt"), 1, 1);
  assert.equal((await workspace.call("writeFile", "b.txt", "x")).bytes, 1);
});

Deno.test("fs rewrites its own file, and a file that was removed meanwhile", async () => {
  await using workspace = await Workspace.with();
  for (const text of ["1", "2", "3"]) await workspace.call("writeFile", "a.txt", text);
  await Deno.remove(join(workspace.root, "a.txt"));
  await workspace.call("writeFile", "a.txt", "4");
  assert.equal(await workspace.text("a.txt"), "4");
});

Deno.test("fs: the files that one conversation read do not bind another", async () => {
  await using workspace = await Workspace.with({ "a.txt": "one" });
  await workspace.call("readFile", "a.txt");
  await workspace.put("a.txt", "two");
  const other = new Workspace(join(workspace.root, ".."));
  assert.notEqual(other.env.conversationId, workspace.env.conversationId);
  assert.equal((await other.call("edit", "a.txt", { old: "two", new: "three" })).bytes, 5);
});

Deno.test("fs.edit() calls at the same time do not lose each other's change", async () => {
  await using workspace = await Workspace.with({
    "a.txt": Array.from({ length: 20 }, (_, at) => `<${at}>`).join("\n"),
  });
  await Promise.all(
    Array.from({ length: 20 }, (_, at) => workspace.call("edit", "a.txt", { old: `<${at}>`, new: `[${at}]` })),
  );
  assert.equal(await workspace.text("a.txt"), Array.from({ length: 20 }, (_, at) => `[${at}]`).join("\n"));
});

Deno.test("fs.writeFile() does nothing once aborted", async () => {
  await using workspace = await Workspace.with({ "a.txt": "one" });
  const call = { name: "writeFile", args: ["a.txt", "two"], signal: AbortSignal.abort() };
  await assert.rejects(workspace.callWith(call), /its block or request ended first/);
  assert.equal(await workspace.text("a.txt"), "one");
  assert.deepEqual(await workspace.names(), ["a.txt"]);
});

Deno.test("unifiedDiff() of texts with nothing in common ends, with the region as a whole", async () => {
  const lines = (seed: number): string =>
    Array.from({ length: 30_000 }, (_, at) => `${(at * seed) % 7919}-${seed}`).join("\n");
  const start = cpuMs();
  const diff = await unifiedDiff("a.txt", { before: lines(31), after: lines(37) });
  assert.ok(cpuMs() - start < 2_000);
  assert.ok(diff.length < 70_000);
  assert.match(diff, /^--- a\/a\.txt\n\+\+\+ b\/a\.txt\n@@ -1,30000 \+1,30000 @@\n/);
  assert.match(diff, / characters of the diff left out, with \+30000 −\d+ lines\n$/);
});

Deno.test("unifiedDiff() of large texts that differ in one line shows that line", async () => {
  const text = "some line of text\n".repeat(100_000);
  const around = " some line of text\n".repeat(3);
  const diff = await unifiedDiff("a.txt", { before: `${text}old\n${text}`, after: `${text}new\n${text}` });
  assert.equal(diff, `--- a/a.txt\n+++ b/a.txt\n@@ -99998,7 +99998,7 @@\n${around}-old\n+new\n${around}`);
});

Deno.test("fs computes sizes before it builds texts, and names an alternative", async () => {
  await using workspace = await Workspace.with({ "a.txt": "a".repeat(420) });
  const grown = { old: "a", new: "x".repeat(1e6), all: true };
  assert.match(
    await workspace.refusal("edit", "a.txt", grown),
    /the file would have 420000000 characters, and the limit is 16777216/,
  );
  assert.match(
    await workspace.refusal("edit", Array(2_000).fill({ path: "a.txt", old: "a", new: "b" })),
    /the limit is 1000; make them in several calls/,
  );
  assert.match(
    await workspace.refusal("glob", Array(2_000).fill("a*")),
    /the limit is 1000; use \* or \*\* for many names/,
  );
  assert.match(await workspace.refusal("readFiles", Array(6_000).fill("a.txt")), /the limit is 5000; read fewer/);
  const { diff } = await workspace.call("writeFile", "lines.txt", "\n".repeat(600_000));
  assert.match(diff, /the diff is left out, with \+600000 −0 lines: both texts together have over 500000 lines/);
});
