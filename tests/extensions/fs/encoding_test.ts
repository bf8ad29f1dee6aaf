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

Deno.test("fs writes what a link leads to, and moves and removes the link itself", async () => {
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

Deno.test("fs names what is no regular file, and waits for none", async () => {
  await using workspace = await Workspace.with();
  const made = await new Deno.Command("mkfifo", { args: [join(workspace.root, "pipe")] }).output().catch(() => null);
  if (!made?.success) return;
  for (const [name, ...args] of [["readFile", "pipe"], ["writeFile", "pipe", "x"], ["remove", "pipe"]] as const) {
    assert.match(await workspace.refusal(name, ...args), /not a regular file/);
  }
  assert.deepEqual(await workspace.call("grep", "x"), []);
});

Deno.test("fs.edit() of a file that is UTF-8 except for some bytes shows and changes nothing but the edit", async () => {
  const bytes = new Uint8Array([
    ...new TextEncoder().encode("één, twee, ü, ö, ñ, ß\n"),
    0xe9,
    ...new TextEncoder().encode(" stays\ndrie é\n"),
  ]);
  await using workspace = await Workspace.with({ "a.txt": bytes });
  assert.match(await workspace.refusal("edit", "a.txt", { old: "drie", new: "vier" }), /bytes would be lost/);
  const { diff } = await workspace.call("edit", "a.txt", { old: "drie", new: "vier" }, { encoding: "latin1" });
  assert.deepEqual(diff.split("\n").filter((line: string) => /^[-+][^-+]/.test(line)), ["-drie Ã©", "+vier Ã©"]);
  const [text, latin] = [await Deno.readFile(join(workspace.root, "a.txt")), new TextDecoder("latin1")];
  assert.equal(latin.decode(text), latin.decode(bytes).replace("drie", "vier"));
});

Deno.test("fs.edit() takes an encoding for a list of edits, and refuses an unknown one", async () => {
  await using workspace = await Workspace.with({ "a.txt": Uint8Array.of(0xc1, 0xe0, 10), "b.txt": "x\n" });
  const edits = [{ path: "a.txt", old: "Ба", new: "Да" }, { path: "b.txt", old: "x", new: "y" }];
  await workspace.call("edit", edits, undefined, { encoding: "windows-1251" });
  assert.deepEqual(await Deno.readFile(join(workspace.root, "a.txt")), Uint8Array.of(0xc4, 0xe0, 10));
  assert.match(
    await workspace.refusal("edit", "b.txt", { old: "y", new: "z" }, { encoding: "no" }),
    /no encoding "no"/,
  );
});
