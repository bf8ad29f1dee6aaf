import assert from "node:assert/strict";
import { globalIgnoreLines } from "../../../extensions/fs/walk/global_ignore.ts";
import { LineMatcher } from "../../../extensions/fs/search/line_matcher.ts";
import { rustPattern } from "../../../extensions/fs/search/rust_pattern.ts";
import { join } from "node:path";
import type { Spawn } from "../../../src/extension/spawned.ts";
import { Workspace } from "./_workspace.ts";

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
  await assert.rejects(workspace.call("grep", "pin", ["src/*.ts", "c.ts"]), /Cannot search src\/\*\.ts/);
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

/** 13 files of a megabyte, so that another program is asked. */
async function large(): Promise<Workspace> {
  const files = Object.fromEntries(
    Array.from({ length: 13 }, (_, at) => [`f${at}.txt`, `${"some line\n".repeat(100_000)}needle ${at}\n`]),
  );
  return await Workspace.with({ ...files, "out/x.txt": "needle\n", ".gitignore": "out\n", "x.bin": "needle\0" });
}

Deno.test("fs.grep() asks ripgrep for the files of a large tree, trusts none of its words, and goes on without it", async () => {
  await using workspace = await large();
  const asked: string[][] = [];
  const answer = (stdout: string, code = 0): Spawn => (argv, options) => {
    asked.push([...argv]);
    assert.deepEqual([options?.write, options?.network], [[], false]);
    return Promise.resolve({
      code,
      signal: null,
      stdout,
      stderr: "",
      ms: 1,
      timedOut: false,
      truncated: false,
      notes: [],
    });
  };
  const grep = async (spawn: Spawn | undefined, options: object = {}) => {
    Object.assign(workspace.env, { spawn });
    const hits = await workspace.call("grep", "needle", options);
    return hits.map(({ path, line }: { path: string; line: number }) => `${path}:${line}`);
  };
  const all = await grep(undefined);
  assert.equal(all.length, 13);
  const told =
    "./f2.txt\x001\n./f1.txt\x001\n./out/x.txt\x001\n./x.bin\x001\n../app2/secret.txt\x001\n./f0.txt/../../x\x001\n" +
    "./gone.txt\x001\n./.git/config\x001\n";
  assert.deepEqual(await grep(answer(told)), ["f1.txt:100001", "f2.txt:100001"]);
  assert.deepEqual(await grep(answer("", 2)), all);
  assert.deepEqual(await grep(() => Promise.reject(new Error("Cannot run commands: no wall"))), all);
  const count = asked.length;
  assert.deepEqual(await grep(answer(told), { path: "f3.txt" }), ["f3.txt:100001"]);
  assert.equal(asked.length, count);
  assert.ok(asked[0]?.includes("--regexp=needle") && asked[0].includes("--no-config"));
});

Deno.test("fs.grep() counts text files only where ripgrep counts", async () => {
  const lines = Object.fromEntries(Array.from({ length: 13 }, (_, at) => [`f${at}.txt`, "needle\n".repeat(150_000)]));
  await using workspace = await Workspace.with({ ...lines, "x.bin": "needle\0\nneedle\n" });
  const found = [...Array.from({ length: 13 }, (_, at) => `./f${at}.txt\x00150000\n`), "./x.bin\x002\n"].join("");
  const spawn: Spawn = () =>
    Promise.resolve({
      code: 0,
      signal: null,
      stdout: found,
      stderr: "",
      ms: 1,
      timedOut: false,
      truncated: false,
      notes: [],
    });
  Object.assign(workspace.env, { spawn });
  await assert.rejects(workspace.call("grep", "needle"), /Cannot list 1950000 hits in 13 files: .*\{limit: 1950000\}/);
});

Deno.test("rustPattern() says the same to Rust's engine, or nothing", () => {
  assert.equal(rustPattern("fn\\s+\\w+\\("), "fn[\\t\\n\\f\\r ]+[0-9A-Za-z_]+\\(");
  assert.equal(rustPattern("\\bx[\\w\\d-]\\b"), "(?-u:\\b)x[0-9A-Za-z_0-9-](?-u:\\b)");
  assert.equal(rustPattern("[[&~]"), "[\\[\\&\\~]");
  assert.equal(rustPattern("[^]a]"), "[^\\]a]");
  for (const pattern of ["\\pL", "\\Bx", "[\\W]", "[[:alpha:]]", "(?s)x", "\\Qa\\E", "\\x41", "[a"]) {
    assert.equal(rustPattern(pattern), null, pattern);
  }
});

Deno.test("globalIgnoreLines() are those of git's own file, or of the one that the user's settings name", async () => {
  await using workspace = await Workspace.with({ ".config/git/ignore": "*.swp\n" });
  const home = workspace.root;
  assert.ok(globalIgnoreLines(home).includes("*.swp"));
  await workspace.put(".gitconfig", '[user]\n\tname = x\n[core]\n\texcludesFile = "~/mine"\n');
  await workspace.put("mine", "*.orig\n");
  assert.deepEqual(globalIgnoreLines(home), ["*.orig", ""]);
  assert.deepEqual(globalIgnoreLines(""), []);
  assert.deepEqual(globalIgnoreLines(join(home, "nope")), [""]);
});

Deno.test("fs heeds nested ignore files and what they take back", async () => {
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
