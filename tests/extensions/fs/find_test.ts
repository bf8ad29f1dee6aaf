import assert from "node:assert/strict";
import fc from "fast-check";
import { Kernel } from "../../../extensions/fs/tree/kernel.ts";
import { nameBytes, nameText } from "../../../extensions/fs/tree/tree.ts";
import { GlobMatcher } from "../../../extensions/fs/walk/glob_matcher.ts";
import { cpuMs } from "../../helpers/cpu_ms.ts";
import { Workspace } from "./_workspace.ts";
import { runs } from "../../helpers/long_part.ts";

const MATCHES: readonly (readonly [string, readonly string[], readonly string[]])[] = [
  ["*.ts", ["a.ts", ".ts"], ["src/a.ts", "a.tsx", "a_ts"]],
  ["**/*.ts", ["a.ts", "src/a.ts", "src/x/a.ts"], ["a.js"]],
  ["src/**", ["src/a", "src/x/y"], ["src", "srcx/a"]],
  ["src/**/test/*.ts", ["src/test/a.ts", "src/x/y/test/a.ts"], ["src/test/x/a.ts"]],
  ["a?c.[jt]s", ["abc.js", "axc.ts"], ["ac.js", "abc.ms"]],
  ["[!a]*", ["b", "bcd"], ["a", "abc"]],
  ["[a-c]x", ["ax", "cx"], ["dx", "-x"]],
  ["{a,b{1,2}}.md", ["a.md", "b1.md", "b2.md"], ["b.md"]],
  ["{x}", ["{x}"], ["x"]],
  ["a\\*b", ["a*b"], ["axb"]],
  ["[id]/page", ["i/page", "[id]/page"], ["x/page", "[i]/page"]],
  ["a/[[...s]]/**/*.[jt]sx", ["a/[[...s]]/b.tsx", "a/[[...s]]/(c)/d.jsx"], ["a/s/b.tsx", "a/[[...s]]/b.ts"]],
  ["a\\[b]", ["a[b]"], ["ab"]],
  ["./a/*", ["a/b"], ["b"]],
  ["a**b", ["ab", "axxb"], ["a/b"]],
];

for (const [pattern, yes, no] of MATCHES) {
  Deno.test(`GlobMatcher.matches() ${pattern}`, () => {
    const matcher = new GlobMatcher([pattern]);
    for (const path of yes) assert.ok(matcher.matches(path), path);
    for (const path of no) assert.ok(!matcher.matches(path), path);
  });
}

Deno.test("GlobMatcher: several patterns, ! excludes, only ! means everything else", () => {
  const matcher = new GlobMatcher(["*.ts", "*.js", "!a.*"]);
  assert.deepEqual(["a.ts", "b.ts", "c.js", "d.md"].map((path) => matcher.matches(path)), [false, true, true, false]);
  assert.ok(new GlobMatcher(["!a"]).matches("b"));
});

Deno.test("GlobMatcher: where to start and how deep to go", () => {
  const place = (...patterns: string[]) => {
    const { start, depth } = new GlobMatcher(patterns);
    return [start, depth];
  };
  assert.deepEqual(place("src/a/*.ts"), ["src/a", 1]);
  assert.deepEqual(place("src/a/*.ts", "src/b/c/*.ts"), ["src", 3]);
  assert.deepEqual(place("**/x"), [".", Infinity]);
  assert.deepEqual(place("a.ts"), [".", 1]);
});

Deno.test("GlobMatcher: patterns made to hang others take no time", () => {
  const start = cpuMs();
  assert.ok(!new GlobMatcher([`${"*a".repeat(100)}b`]).matches("a".repeat(4_000)));
  assert.ok(!new GlobMatcher([`${"**/a/".repeat(50)}b`]).matches("a/".repeat(500) + "c"));
  assert.ok(cpuMs() - start < 2_000);
  assert.throws(() => new GlobMatcher(["{a,b}".repeat(20)]), RangeError);
  assert.throws(() => new GlobMatcher(["x".repeat(2_000)]), RangeError);
});

const TREE = {
  ".gitignore": "*.log\n/build/\n!keep.log\n",
  "a.ts": "1",
  "a.log": "1",
  "keep.log": "1",
  "build/out.ts": "1",
  "src/build/in.ts": "1",
  "src/.gitignore": "gen/\n!important.log\n",
  "src/gen/x.ts": "1",
  "src/important.log": "1",
  "src/other.log": "1",
  "node_modules/pkg/index.ts": "1",
  ".git/config": "1",
  ".git/info/exclude": "private.ts\n",
  "private.ts": "1",
  ".github/ci.yml": "1",
};

Deno.test("fs.glob() respects nested ignore files, never enters .git, sees hidden files", async () => {
  await using workspace = await Workspace.with(TREE);
  assert.deepEqual(await workspace.call("glob", "**"), [
    ".github/ci.yml",
    ".gitignore",
    "a.ts",
    "keep.log",
    "src/.gitignore",
    "src/build/in.ts",
    "src/important.log",
  ]);
});

Deno.test("fs.glob() takes ignored files on request, .git not even then", async () => {
  await using workspace = await Workspace.with(TREE);
  const all: string[] = await workspace.call("glob", "**", { all: true });
  assert.ok(all.includes("build/out.ts") && all.includes("node_modules/pkg/index.ts") && all.includes("private.ts"));
  assert.ok(!all.some((path) => path.startsWith(".git/")));
});

Deno.test("fs.glob() sees an ignored folder that is named on purpose", async () => {
  await using workspace = await Workspace.with(TREE);
  assert.deepEqual(await workspace.call("glob", "node_modules/pkg/*.ts"), ["node_modules/pkg/index.ts"]);
  assert.deepEqual(await workspace.call("glob", ["*.ts", "build/*", "{node_modules,src}/**/*.ts"]), [
    ...["a.ts", "src/build/in.ts", "build/out.ts", "node_modules/pkg/index.ts"],
  ]);
});

Deno.test("fs.glob() gives the first of a limit, and nothing where the folder is missing", async () => {
  await using workspace = await Workspace.with({ "a.ts": "", "b.ts": "", "c.ts": "" });
  assert.deepEqual(await workspace.call("glob", "*.ts", { limit: 2 }), ["a.ts", "b.ts"]);
  assert.deepEqual(await workspace.call("glob", ["nope/*.ts"]), []);
});

Deno.test("fs.glob(): an ignore file made to hang the matcher does not", async () => {
  await using workspace = await Workspace.with({
    ".gitignore": `${"*a".repeat(60)}b\n*.log\n`,
    ["a".repeat(250)]: "",
    "x.log": "",
  });
  const start = cpuMs();
  assert.deepEqual(await workspace.call("glob", "*"), [".gitignore", "a".repeat(250)]);
  assert.ok(cpuMs() - start < 2_000);
});

Deno.test("fs.listFiles() descends two levels, or as many as requested", async () => {
  await using workspace = await Workspace.with({ "a.txt": "abc", "d/b.txt": "", "d/e/c.txt": "" });
  const paths = async (...args: unknown[]): Promise<string[]> =>
    (await workspace.call("listFiles", ...args)).map(({ path }: { path: string }) => path);
  assert.deepEqual(await paths(), ["a.txt", "d", "d/b.txt", "d/e"]);
  assert.deepEqual(await paths(".", { depth: 1 }), ["a.txt", "d"]);
  assert.deepEqual(await paths("d", { depth: 9 }), ["d/b.txt", "d/e", "d/e/c.txt"]);
  assert.deepEqual((await workspace.call("listFiles"))[0], { path: "a.txt", type: "file", size: 3 });
  assert.match(await workspace.refusal("listFiles", "a.txt"), /it is not a folder; fs\.readFile reads files/);
  assert.match(
    await workspace.refusal("listFiles", "nope"),
    /Cannot list nope: there is no such file or folder; the nearest existing folder is the workspace/,
  );
});

const linux = { ignore: Kernel.shared() === null };

async function sh(cwd: string, script: string): Promise<void> {
  const { success } = await new Deno.Command("sh", { args: ["-c", script], cwd }).output();
  assert.ok(success, script);
}

Deno.test("nameText() writes every name so that nameBytes() makes the same bytes of it", () => {
  const part = fc.constantFrom([0xe9], [0xef, 0xbf, 0xbd], [0xc3, 0xa9], [0x45, 0x39], [0xef], [0xf0, 0x9f], [0x41]);
  fc.assert(
    fc.property(fc.array(fc.oneof(part, fc.array(fc.integer({ min: 1, max: 255 })))), (parts) => {
      const bytes = Uint8Array.from(parts.flat());
      const text = nameText(bytes);
      assert.deepEqual([...nameBytes(text)], [...bytes]);
      assert.ok(text.isWellFormed());
    }),
    { numRuns: runs(500, 2_000) },
  );
  assert.equal(nameText(Uint8Array.of(99, 97, 102, 0xe9)), "caf\ufffdE9");
  assert.equal(nameText(new TextEncoder().encode("a\ufffd é")), "a\ufffd é");
});

Deno.test({
  name: "fs lists, reads, searches and changes files whose names are not UTF-8",
  ...linux,
  fn: async () => {
    await using workspace = await Workspace.with();
    await sh(workspace.root, "d=$(printf 'd\\377'); mkdir \"$d\"; echo needle > \"$d/$(printf 'caf\\351.txt')\"");
    const path = "d\ufffdFF/caf\ufffdE9.txt";
    assert.deepEqual(await workspace.call("glob", "**"), [path]);
    assert.deepEqual((await workspace.call("grep", "needle"))[0].path, path);
    assert.equal(await workspace.call("readFile", path), "needle\n");
    await workspace.call("edit", path, { old: "needle", new: "thread" });
    await workspace.call(
      "patch",
      '--- "a/d\\377/caf\\351.txt"\n+++ "b/d\\377/caf\\351.txt"\n@@ -1 +1 @@\n-thread\n+wire\n',
    );
    await workspace.call("move", path, "d\ufffdFF/\ufffdFE");
    await sh(workspace.root, 'test "$(cat "$(printf \'d\\377/\\376\')")" = wire');
    await workspace.call("undo", { steps: 3 });
    assert.equal(await workspace.call("readFile", path), "needle\n");
    await assert.rejects(workspace.call("writeFile", ".gi\ufffdE2\ufffd80\ufffd8Bt/config", ""), /protected/);
  },
});

Deno.test("fs.glob() takes the path of a folder for everything below it", async () => {
  await using workspace = await Workspace.with({ "src/a.ts": "x", "src/b/c.md": "x", "[id]/p.ts": "x", "d.ts": "x" });
  const all = ["src/a.ts", "src/b/c.md"];
  for (const pattern of ["src", "src/", "./src"]) assert.deepEqual(await workspace.call("glob", pattern), all);
  assert.deepEqual(await workspace.call("glob", ["src", "!src/b"]), ["src/a.ts"]);
  assert.deepEqual(await workspace.call("glob", "[id]"), ["[id]/p.ts"]);
  assert.deepEqual(await workspace.call("glob", "."), ["[id]/p.ts", "d.ts", ...all]);
  const found = await workspace.call("grep", "x", { glob: ["src/b/", "d.ts"] });
  assert.deepEqual(found.map(({ path }: { path: string }) => path), ["d.ts", "src/b/c.md"]);
  await assert.rejects(workspace.call("glob", "../app2"), /name a path in the workspace/);
});
