import assert from "node:assert/strict";
import { join } from "node:path";
import fs from "../../../extensions/fs/mod.ts";
import { Workspace } from "./_workspace.ts";

const BYTES = new TextEncoder();

Deno.test("fs.readFile() returns the exact text, without a byte order mark", async () => {
  const files = {
    "empty.txt": "",
    "crlf.txt": "one\r\ntwo\r\n",
    "open.txt": "one\ntwo",
    "bom.txt": "\uFEFFone\n",
    "wide.txt": "gr\u00fc\u00df \u{1F600}\n",
  };
  await using workspace = await Workspace.with(files);
  for (const [path, text] of Object.entries(files)) {
    assert.equal(await workspace.call("readFile", path), text.replace("\uFEFF", ""));
  }
});

Deno.test("fs.readFile() reads lines from..to without the last line end", async () => {
  await using workspace = await Workspace.with({
    "a.txt": "1\n2\n3\n4\n",
    "crlf.txt": "1\r\n2\r\n3",
    "open.txt": "1\n2",
  });
  const read = async (path: string, from?: number, to?: number): Promise<string> =>
    await workspace.call("readFile", path, { ...(from ? { from } : {}), ...(to ? { to } : {}) });
  assert.equal(await read("a.txt", 2, 3), "2\n3");
  assert.equal(await read("a.txt", 4), "4");
  assert.equal(await read("a.txt", undefined, 1), "1");
  assert.equal(await read("a.txt", 3, 99), "3\n4");
  assert.equal(await read("crlf.txt", 1, 2), "1\r\n2");
  assert.equal(await read("open.txt", 2), "2");
});

Deno.test("fs.readFile() refuses a range outside of the file", async () => {
  await using workspace = await Workspace.with({ "a.txt": "1\n2\n", "empty.txt": "" });
  assert.equal(
    await workspace.refusal("readFile", "a.txt", { from: 3 }),
    "Cannot read from line 3 of a.txt: the file has 2 lines; begin at an earlier line",
  );
  assert.match(
    await workspace.refusal("readFile", "a.txt", { from: 3, to: 2 }),
    /Cannot read lines 3 to 2 of a\.txt: the last line is before the first/,
  );
  assert.match(
    await workspace.refusal("readFile", "a.txt", { from: 0 }),
    /argument 2\.from must be .*usage: fs\.readFile/,
  );
  assert.equal(await workspace.call("readFile", "empty.txt", { from: 1, to: 5 }), "");
});

Deno.test("fs.readFile() numbers lines", async () => {
  await using workspace = await Workspace.with({ "a.txt": "a\nb\nc\n" });
  assert.equal(await workspace.call("readFile", "a.txt", { numbers: true }), "   1  a\n   2  b\n   3  c\n");
  assert.equal(await workspace.call("readFile", "a.txt", { from: 2, to: 3, numbers: true }), "   2  b\n   3  c");
});

Deno.test("fs.readFile() names the size of a file over 1 MB and streams a range of it", async () => {
  const lines = Array.from({ length: 300_000 }, (_, at) => `line ${at + 1}`);
  await using workspace = await Workspace.with({ "big.log": lines.join("\n") });
  const message = await workspace.refusal("readFile", "big.log");
  assert.match(
    message,
    /Cannot read all of big\.log: the file has 3488894 bytes, and the limit is 1048576 bytes; read lines with fs\.readFile\("big\.log", \{from: 1, to: 2000\}\)/,
  );
  assert.equal(await workspace.call("readFile", "big.log", { from: 250_000, to: 250_001 }), "line 250000\nline 250001");
  assert.equal(await workspace.call("readFile", "big.log", { from: 300_000 }), "line 300000");
  assert.match(await workspace.refusal("readFile", "big.log", { from: 300_001 }), /the file has 300000 lines/);
  assert.match(
    await workspace.refusal("readFile", "big.log", { from: 1 }),
    /more than 1 MiB, the limit; ask for fewer/,
  );
});

Deno.test("fs.readFile() takes one mebibyte exactly, as its documentation says", async () => {
  await using workspace = await Workspace.with({
    "a.txt": "x".repeat(1024 * 1024),
    "b.txt": "x".repeat(1024 * 1024 + 1),
  });
  assert.match(fs.symbols?.find(({ name }) => name === "readFile")?.doc ?? "", /up to 1 MiB/);
  assert.equal((await workspace.call("readFile", "a.txt")).length, 1024 * 1024);
  assert.match(
    await workspace.refusal("readFile", "b.txt"),
    /the file has 1048577 bytes, and the limit is 1048576 bytes; read lines with fs\.readFile\("b\.txt", \{from: 1, to: 2000\}\), or search with fs\.grep/,
  );
});

Deno.test("fs.readFile() names a binary file with its size, also for a range", async () => {
  const bytes = Uint8Array.from({ length: 2_000 }, (_, at) => at % 256);
  await using workspace = await Workspace.with({ "logo.png": bytes });
  assert.equal(await workspace.refusal("readFile", "logo.png"), "Cannot read logo.png: it is a binary file of 2.0 KB");
  assert.equal(
    await workspace.refusal("readFile", "logo.png", { from: 1 }),
    "Cannot read logo.png: it is a binary file of 2.0 KB",
  );
});

Deno.test("fs.readFile() shows UTF-8 with broken bytes, and no write can then lose these", async () => {
  const bytes = Uint8Array.of(...BYTES.encode("größer als Öl äöü\n"), 0xff, 0x0a);
  await using workspace = await Workspace.with({ "broken.log": bytes });
  assert.equal(await workspace.call("readFile", "broken.log"), "größer als Öl äöü\n\uFFFD\n");
  assert.deepEqual(workspace.notes, [
    "broken.log: 1 character not in utf-8 is read as U+FFFD; fs.readFile(path, {encoding}) reads another encoding",
  ]);
  assert.match(
    await workspace.refusal("writeFile", "broken.log", "x\n"),
    /not all of it is UTF-8, and you read it with replacement characters; read it with fs\.readFile\(path, \{encoding\}\) first/,
  );
  await workspace.call("edit", "broken.log", { old: " als ", new: " wie " });
  assert.deepEqual(
    await Deno.readFile(join(workspace.root, "broken.log")),
    Uint8Array.of(...BYTES.encode("größer wie Öl äöü\n"), 0xff, 0x0a),
  );
  assert.match(
    await workspace.refusal("writeFile", "broken.log", "x\n"),
    /not all of it is utf-8, and you read it with replacement characters/,
  );
});

Deno.test("fs.readFile() suggests the nearest path if a path does not exist", async () => {
  await using workspace = await Workspace.with({ "src/parser.ts": "", "src/deep/lexer.ts": "", "README.md": "" });
  const of = async (path: string): Promise<string> => await workspace.refusal("readFile", path);
  assert.equal(
    await of("src/prser.ts"),
    "Cannot read src/prser.ts: there is no such file or folder; did you mean src/parser.ts",
  );
  assert.match(await of("lexer.ts"), /did you mean src\/deep\/lexer\.ts$/);
  assert.match(await of("readme.md"), /did you mean README\.md$/);
  assert.match(await of("src/nowhere/completely-else.py"), /the nearest existing folder is src$/);
  assert.match(await of("qqq/completely-else.py"), /the nearest existing folder is the workspace$/);
  assert.match(await of("README.md/x"), /no such file or folder/);
});

Deno.test("fs.readFile() names folders and files that are not regular", async () => {
  await using workspace = await Workspace.with({ "src/a.ts": "" });
  assert.equal(
    await workspace.refusal("readFile", "src"),
    'Cannot read src: it is a folder; list it with fs.listFiles("src")',
  );
  const made = await Promise.try(() => new Deno.Command("mkfifo", { args: [join(workspace.root, "pipe")] }).output())
    .catch(() => null);
  if (made?.success) {
    assert.equal(await workspace.refusal("readFile", "pipe"), "Cannot read pipe: it is not a regular file");
  }
});

Deno.test("fs.readFiles() reads paths and patterns at once and keeps the reason of each that fails", async () => {
  await using workspace = await Workspace.with({ "a.ts": "A", "b.ts": "B", "c.md": "C", "x.bin": Uint8Array.of(0, 1) });
  assert.deepEqual(await workspace.call("readFiles", ["c.md", "*.ts", "!b.ts", "x.bin", "zz/*"]), [
    { path: "c.md", text: "C" },
    { path: "a.ts", text: "A" },
    { path: "x.bin", error: "Cannot read x.bin: it is a binary file of 2 B" },
    { path: "zz/*", error: "Cannot read zz/*: Vis found no file for this pattern; list the files with fs.glob" },
  ]);
  const [numbered] = await workspace.call("readFiles", "a.ts", { numbers: true });
  assert.equal(numbered.text, "   1  A");
});

Deno.test("fs.readFiles() takes a name with brackets literally where it exists", async () => {
  await using workspace = await Workspace.with({ "app/[id]/page.tsx": "page" });
  assert.deepEqual(await workspace.call("readFiles", ["app/[id]/page.tsx"]), [{
    path: "app/[id]/page.tsx",
    text: "page",
  }]);
});

Deno.test("fs.readFiles() stops at the total limit and reports it for each omitted file", async () => {
  const files = Object.fromEntries(Array.from({ length: 18 }, (_, at) => [`f${at + 10}.txt`, "x".repeat(1_000_000)]));
  await using workspace = await Workspace.with(files);
  const entries = await workspace.call("readFiles", "*.txt");
  assert.equal(entries.length, 18);
  assert.equal(entries.filter((entry: { text?: string }) => entry.text !== undefined).length, 16);
  assert.match(entries[17].error, /16777216 characters, the limit/);
});

Deno.test("fs.stat() returns facts, and null for a missing path", async () => {
  await using workspace = await Workspace.with({ "a.txt": "abc" });
  const { modified, ...rest } = await workspace.call("stat", "a.txt");
  assert.deepEqual(rest, { path: "a.txt", type: "file", size: 3 });
  assert.ok(Math.abs(Date.parse(modified) - Date.now()) < 60_000);
  assert.equal((await workspace.call("stat", ".")).type, "dir");
  assert.equal(await workspace.call("stat", "nope/nope"), null);
});

Deno.test("fs functions stop when the call is aborted", async () => {
  const text = `${"word ".repeat(20)}\n`.repeat(20_000);
  await using workspace = await Workspace.with({ "a.txt": text });
  for (
    const [name, args] of [["readFile", ["a.txt", { from: 1, to: 2 }]], ["readFiles", ["*.txt"]], ["grep", [
      "word",
    ]]] as const
  ) {
    const signal = AbortSignal.abort();
    await assert.rejects(workspace.callWith({ name, args: [...args], signal }), {
      message: `Cannot finish fs.${name}: its block or request ended first`,
    });
  }
  assert.ok(BYTES.encode(text).length > 1_000_000);
});
