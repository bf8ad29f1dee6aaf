import assert from "node:assert/strict";
import { treeOf } from "../../../extensions/fs/fs_places.ts";
import { scanFile } from "../../../extensions/fs/search/file_searcher.ts";
import { LineMatcher } from "../../../extensions/fs/search/line_scanner.ts";
import { Kernel } from "../../../extensions/fs/tree/kernel.ts";
import { globalIgnoreLines } from "../../../extensions/fs/walk/walk.ts";
import { decodeText } from "../../../src/domain/kit/bytes.ts";
import { Pace } from "../../../src/domain/kit/concurrency.ts";
import { runs } from "../../helpers/long_part.ts";
import { Workspace } from "./_workspace.ts";
import fc from "fast-check";
import { join } from "node:path";
import { RE2JS } from "re2js";

const HEAVY = "(needle|pin|thread)(_[a-z]{1,40}){1,4}";

Deno.test("fs.grep() finds the same in a worker as without one", async () => {
  assert.ok(new LineMatcher(HEAVY, {}).isHeavy);
  const lines = Array.from({ length: 90_000 }, (_, at) => at % 30_000 === 29_999 ? `needle_x ${at}` : `line ${at}`);
  await using workspace = await Workspace.with({
    "a.txt": "pin_a\nx\npin_b\n",
    "big.txt": lines.join("\n"),
    "z.txt": "thread_é_z\n",
    "x.bin": Uint8Array.of(0, 1),
  });
  const [light, heavy] = [
    await workspace.call("grep", "pin_|needle_|thread_", { context: 1 }),
    await workspace.call("grep", "(pin|needle|thread)_.{0,40}.{0,40}", { context: 1 }),
  ];
  assert.equal(light.length, 6);
  assert.deepEqual(heavy, light);
  assert.equal((await workspace.call("grep", HEAVY, { limit: 2 })).length, 2);
});

Deno.test("fs.grep() and fs.count() take a pattern where a path is expected", async () => {
  await using workspace = await Workspace.with({ "src/a.ts": "pin\n", "src/b.md": "pin\n", "c.ts": "pin\n" });
  for (const where of ["src/*.ts", ["src/*.ts"], { path: "src/*.ts" }, { glob: "src/*.ts" }]) {
    const found: { path: string }[] = await workspace.call("grep", "pin", where);
    assert.deepEqual(found.map(({ path }) => path), ["src/a.ts"]);
    assert.equal(await workspace.call("count", "pin", where), 1);
  }
  await workspace.call("grep", "pin", ["src/*.ts", "c.ts"]);
  assert.match(workspace.notes.join("\n"), /Cannot search src\/\*\.ts/);
});

Deno.test("fs.grep() in a worker ends at once when the call is aborted, and the next one works", async () => {
  const text = Array.from({ length: 3_000_000 }, (_, at) => at * 7919 % 13 < 6 ? "a" : "b").join("");
  await using workspace = await Workspace.with({ "a.txt": `${text}\n`.repeat(3), "b.txt": "pin_a\n" });
  await workspace.call("grep", HEAVY, "b.txt");
  const stop = new AbortController();
  const call = { name: "grep", args: ["(a[ab]{1,30}){1,30}[QZ]", "a.txt"], signal: stop.signal };
  const found = workspace.callWith(call);
  setTimeout(() => stop.abort(new Error("Enough")), 20);
  await assert.rejects(found);
  assert.equal((await workspace.call("grep", HEAVY, "b.txt")).length, 1);
});

Deno.test("fs.grep() numbers lines rightly after one of many parts, and counts it once", async () => {
  const long = `${"x".repeat(70_000)} hit ${"y".repeat(70_000)} hit`;
  await using workspace = await Workspace.with({ "a.txt": `one\n${long}\nthree hit\n${long}` });
  const hits = await workspace.call("grep", "hit", { context: 1 });
  assert.deepEqual(hits.map(({ line }: { line: number }) => line), [2, 3, 4]);
  assert.deepEqual(hits[1].before.map((one: string) => one.slice(0, 3)), ["xxx"]);
});

/** Returns the hits of a plain reading: whole text, split at line feeds, each line searched by the engine. */
function plainHits(files: ReadonlyMap<string, Uint8Array>, pattern: string): string[] {
  const expression = RE2JS.compile(pattern, RE2JS.MULTILINE);
  return [...files].sort(([a], [b]) => a < b ? -1 : 1).flatMap(([path, bytes]) => {
    const decoded = decodeText(bytes);
    if (decoded === null) return [];
    const lines = decoded.text.split("\n").map((line) => line.replace(/\r$/, ""));
    if (lines.at(-1) === "") lines.pop();
    return lines.flatMap((line, at) => expression.test(line) ? [`${path}:${at + 1}`] : []);
  });
}

const ODD_PART = fc.constantFrom(
  ...["x", "ab", "needle", "\n", "\r", "\r\n", "\t", "é", "日本", "😀", " ", "x".repeat(400)].map((text) =>
    new TextEncoder().encode(text)
  ),
  ...[[0xef, 0xbb, 0xbf], [0xff, 0xfe], [0xe9], [0xc3], [0xf0, 0x9f], [0x80], [0]].map((list) => Uint8Array.from(list)),
);
const ODD_PATTERN = fc.constantFrom(
  ...[
    "^x",
    "x$",
    "a.b",
    ".",
    "needle",
    "nee?dle",
    "(need|ab)le?",
    "ab|日本",
    "b{2}|x",
    "é",
    "[^a]b",
    "\\bab",
    "\\x61b",
    "😀?x",
  ],
);

Deno.test("fs.grep() finds the same lines as a plain reading, in odd files and next to ignore files of other programs", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.array(ODD_PART, { maxLength: 12 }), { maxLength: 4 }),
      ODD_PATTERN,
      async (made, pattern) => {
        const files = new Map(
          made.map((parts, at) => [`f${at}.txt`, new Uint8Array(parts.flatMap((part) => [...part]))]),
        );
        await using workspace = await Workspace.with(
          { ...Object.fromEntries(files), ".rgignore": "f0.txt\n", ".ignore": "f1.txt\n" },
        );
        const hits = await workspace.call("grep", pattern, { glob: "f*.txt", limit: 1000 });
        assert.deepEqual(
          hits.map(({ path, line }: { path: string; line: number }) => `${path}:${line}`),
          plainHits(files, pattern),
        );
      },
    ),
    { numRuns: runs(50, 150) },
  );
});

Deno.test("globalIgnoreLines() reads git's own file, or the file that the user's settings name", async () => {
  await using workspace = await Workspace.with({ ".config/git/ignore": "*.swp\n" });
  const home = workspace.root;
  assert.ok(globalIgnoreLines(home).includes("*.swp"));
  await workspace.put(".gitconfig", '[user]\n\tname = x\n[core]\n\texcludesFile = "~/mine"\n');
  await workspace.put("mine", "*.orig\n");
  assert.deepEqual(globalIgnoreLines(home), ["*.orig", ""]);
  assert.deepEqual(globalIgnoreLines(""), []);
  assert.deepEqual(globalIgnoreLines(join(home, "nope")), [""]);
});

Deno.test("fs obeys nested ignore files and their exceptions", async () => {
  await using workspace = await Workspace.with({
    ".gitignore": "*.log\nbuild/\n",
    ".git/info/exclude": "secret.txt\n",
    "a.log": "x",
    "secret.txt": "x",
    "build/x.txt": "x",
    "src/.gitignore": "!keep.log\n/only_here.txt\n",
    "src/keep.log": "x",
    "src/drop.log": "x",
    "src/only_here.txt": "x",
    "src/deep/only_here.txt": "x",
  });
  assert.deepEqual(await workspace.call("glob", "**"), [
    ".gitignore",
    "src/.gitignore",
    "src/deep/only_here.txt",
    "src/keep.log",
  ]);
  assert.deepEqual(await workspace.call("glob", "build/*"), ["build/x.txt"]);
});

Deno.test("scanFile() passes over a file that the system opens and does not read", {
  ignore: Kernel.shared() === null,
}, async () => {
  const root = await Deno.realPath("/proc/self");
  const options = { buffer: new Uint8Array(1000), pace: new Pace(), take: () => Promise.resolve(true) };
  assert.equal(await scanFile(treeOf(root), "mem", options), "unreadable");
  assert.equal(await scanFile(treeOf(root), "status", options), "searched");
});
