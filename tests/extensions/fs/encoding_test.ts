import assert from "node:assert/strict";
import { join } from "node:path";
import { Workspace } from "./_workspace.ts";

const BOM = "\uFEFF";

Deno.test("fs.edit() keeps a byte order mark, CRLF, lone line feeds and a missing last one", async () => {
  await using workspace = await Workspace.with({ "a.txt": `${BOM}one\r\ntwo\nthree\r\nfour` });
  await workspace.call("edit", "a.txt", [{ old: "one", new: "1" }, { old: "four", new: "4" }]);
  assert.equal(await workspace.text("a.txt"), `${BOM}1\r\ntwo\nthree\r\n4`);
  const bytes = await Deno.readFile(join(workspace.root, "a.txt"));
  assert.deepEqual([...bytes.subarray(0, 3)], [0xef, 0xbb, 0xbf]);
});

Deno.test("fs.edit() ends new lines as the line ends that they are put into", async () => {
  await using workspace = await Workspace.with({ "a.txt": "one\r\ntwo\nthree\r\nfour", "b.txt": "x\ry\n" });
  const all = [["one", "1\n1.5"], ["two", "2\n2.5"], ["four", "4\n4.5"]].map(([old, now]) => ({ old, new: now }));
  await workspace.call("edit", "a.txt", all);
  assert.equal(await workspace.text("a.txt"), "1\r\n1.5\r\n2\n2.5\nthree\r\n4\r\n4.5");
  await workspace.call("edit", "b.txt", { old: "x", new: "X" });
  assert.equal(await workspace.text("b.txt"), "X\ry\n");
});

Deno.test("fs keeps modes, and gives no new contents the rights of another user", async () => {
  await using workspace = await Workspace.with({ "run.sh": "1", "odd.sh": "1" });
  await Deno.chmod(join(workspace.root, "run.sh"), 0o751);
  await Deno.chmod(join(workspace.root, "odd.sh"), 0o4755);
  for (const name of ["run.sh", "odd.sh"]) await workspace.call("edit", name, { old: "1", new: "2" });
  const mode = async (name: string) => ((await Deno.stat(join(workspace.root, name))).mode ?? 0) & 0o7777;
  assert.deepEqual([await mode("run.sh"), await mode("odd.sh")], [0o751, 0o755]);
});

Deno.test("fs writes to the target of a link, and moves and removes the link itself", async () => {
  await using workspace = await Workspace.with({ "real.txt": "1\n" });
  await Deno.symlink("real.txt", join(workspace.root, "link"));
  await workspace.call("patch", "--- a/link\n+++ b/link\n@@ -1 +1 @@\n-1\n+2\n");
  assert.equal(await workspace.text("real.txt"), "2\n");
  await workspace.call("move", "link", "moved");
  assert.equal(await Deno.readLink(join(workspace.root, "moved")), "real.txt");
  await workspace.call("remove", "moved");
  assert.deepEqual(await workspace.names(), ["real.txt"]);
  await workspace.call("undo", { steps: 2 });
  assert.equal(await Deno.readLink(join(workspace.root, "link")), "real.txt");
});

Deno.test("fs names files that are not regular, and does not wait for them", async () => {
  await using workspace = await Workspace.with();
  const made = await Promise.try(() => new Deno.Command("mkfifo", { args: [join(workspace.root, "pipe")] }).output())
    .catch(() => null);
  if (!made?.success) return;
  for (const [name, ...args] of [["readFile", "pipe"], ["writeFile", "pipe", "x"], ["remove", "pipe"]] as const) {
    assert.match(await workspace.refusal(name, ...args), /not a regular file/);
  }
  assert.deepEqual(await workspace.call("grep", "x"), []);
});

function bytesOf(...parts: readonly (string | number)[]): Uint8Array {
  return Uint8Array.from(parts.flatMap((one) => typeof one === "number" ? [one] : [...new TextEncoder().encode(one)]));
}

Deno.test("fs.edit() of a file that is UTF-8 except for some bytes shows and changes nothing but the edit", async () => {
  await using workspace = await Workspace.with({
    "a.txt": bytesOf("café – thé\n", 0xe9, " stays\nlast\n", 0xff, 0xe2, 0x82, "\n"),
  });
  const bytes = () => Deno.readFile(join(workspace.root, "a.txt"));
  assert.equal(await workspace.call("readFile", "a.txt"), "café – thé\n\uFFFD stays\nlast\n\uFFFD\uFFFD\n");
  const { diff } = await workspace.call("edit", "a.txt", { old: "last", new: "dernière" });
  assert.deepEqual(diff.split("\n").filter((line: string) => /^[-+][^-+]/.test(line)), ["-last", "+dernière"]);
  assert.deepEqual(await bytes(), bytesOf("café – thé\n", 0xe9, " stays\ndernière\n", 0xff, 0xe2, 0x82, "\n"));
  await workspace.call("edit", "a.txt", { old: "café – thé\n\uFFFD stays", new: "café – ok\n\uFFFD reste" });
  assert.deepEqual(await bytes(), bytesOf("café – ok\n", 0xe9, " reste\ndernière\n", 0xff, 0xe2, 0x82, "\n"));
  await workspace.call("patch", "--- a/a.txt\n+++ b/a.txt\n@@ -1,2 +1,3 @@\n-café – ok\n+té\n+\uFFFD\n \uFFFD reste\n");
  assert.deepEqual(await bytes(), bytesOf("té\n", 0xe9, "\n", 0xe9, " reste\ndernière\n", 0xff, 0xe2, 0x82, "\n"));
  for (
    const [name, ...args] of [
      ["edit", "a.txt", { old: "\uFFFD reste\ndernière\n\uFFFD", new: "\uFFFD" }],
      ["patch", "--- a/a.txt\n+++ b/a.txt\n@@ -3,3 +3,1 @@\n-\uFFFD reste\n-dernière\n-\uFFFD\uFFFD\n+\uFFFD\n"],
    ] as const
  ) {
    assert.equal(
      await workspace.refusal(name, ...args),
      `Cannot ${name} a.txt: U+FFFD stands for several different byte sequences there; change only the text around them`,
    );
  }
  await workspace.call("edit", "a.txt", { old: "\uFFFD reste\ndernière\n\uFFFD\uFFFD", new: "x" });
  assert.deepEqual(await bytes(), bytesOf("té\n", 0xe9, "\nx\n"));
  await workspace.call("undo", { steps: 4 });
  assert.deepEqual(await bytes(), bytesOf("café – thé\n", 0xe9, " stays\nlast\n", 0xff, 0xe2, 0x82, "\n"));
  assert.match(await workspace.refusal("writeFile", "a.txt", "x"), /read it with replacement characters/);
});

Deno.test("fs.readFile() of some lines reads them in the encoding of the whole file, and so does a later change", async () => {
  const files = {
    "utf.txt": bytesOf("é ü ñ\n", 0xe9, " alone\nlast\n"),
    "latin.txt": bytesOf("first\ncaf", 0xe9, "\nlast\n"),
  };
  await using workspace = await Workspace.with(files);
  assert.equal(await workspace.call("readFile", "utf.txt", { from: 2, to: 2 }), "\uFFFD alone");
  assert.equal(await workspace.call("readFile", "latin.txt", { from: 1, to: 1 }), "first");
  await workspace.call("edit", "utf.txt", { old: "last", new: "à" });
  await workspace.call("edit", "latin.txt", { old: "last", new: "à" });
  assert.deepEqual(
    await Deno.readFile(join(workspace.root, "utf.txt")),
    bytesOf("é ü ñ\n", 0xe9, " alone\nà\n"),
  );
  assert.deepEqual(
    await Deno.readFile(join(workspace.root, "latin.txt")),
    bytesOf("first\ncaf", 0xe9, "\n", 0xe0, "\n"),
  );
});

Deno.test("fs.edit() takes an encoding for a list of edits, and refuses an unknown one", async () => {
  await using workspace = await Workspace.with({ "a.txt": Uint8Array.of(0xc1, 0xe0, 10), "b.txt": "x\n" });
  const edits = [{ path: "a.txt", old: "Ба", new: "Да" }, { path: "b.txt", old: "x", new: "y" }];
  await workspace.call("edit", edits, undefined, { encoding: "windows-1251" });
  assert.deepEqual(await Deno.readFile(join(workspace.root, "a.txt")), Uint8Array.of(0xc4, 0xe0, 10));
  assert.match(
    await workspace.refusal("edit", "b.txt", { old: "y", new: "z" }, { encoding: "no" }),
    /encoding "no" is unknown/,
  );
});
