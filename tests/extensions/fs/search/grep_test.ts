import assert from "node:assert/strict";
import { Workspace } from "../_workspace.ts";

const FILES = {
  "src/a.ts": "const parse_a = 1\nconst b = 2\nparse_a()\n",
  "src/deep/b.ts": "// TODO parse_b\r\nlast parse_b",
  "lib/c.js": "parse_c\n",
  "x.bin": Uint8Array.of(112, 97, 114, 115, 101, 95, 0),
};

// deno-lint-ignore no-explicit-any
const places = (hits: any[]): string[] => hits.map(({ path, line }) => `${path}:${line}`);

Deno.test("fs.grep() finds lines, with path, line and unchanged text", async () => {
  await using workspace = await Workspace.with(FILES);
  assert.deepEqual(await workspace.call("grep", "parse_", "src"), [
    { path: "src/a.ts", line: 1, text: "const parse_a = 1" },
    { path: "src/a.ts", line: 3, text: "parse_a()" },
    { path: "src/deep/b.ts", line: 1, text: "// TODO parse_b" },
    { path: "src/deep/b.ts", line: 2, text: "last parse_b" },
  ]);
});

Deno.test("fs.grep() accepts path, glob, case, literal and several paths", async () => {
  await using workspace = await Workspace.with(FILES);
  const grep = async (...args: unknown[]): Promise<string[]> => places(await workspace.call("grep", ...args));
  assert.deepEqual(await grep("parse_c"), ["lib/c.js:1"]);
  assert.deepEqual(await grep("todo", { ignoreCase: true }), ["src/deep/b.ts:1"]);
  assert.deepEqual(await grep("todo"), []);
  assert.deepEqual(await grep("^parse_\\w(\\(\\))?$"), ["lib/c.js:1", "src/a.ts:3"]);
  assert.deepEqual(await grep("parse_a()", { literal: true }), ["src/a.ts:3"]);
  assert.deepEqual(await grep("PARSE_A()", { literal: true, ignoreCase: true }), ["src/a.ts:3"]);
  assert.deepEqual(await grep("parse", { glob: "*.js" }), ["lib/c.js:1"]);
  assert.deepEqual(await grep("TODO", { path: "src", glob: "deep/*.ts" }), ["src/deep/b.ts:1"]);
  assert.deepEqual(await grep("parse_", { path: ["lib", "src/a.ts", "src"], glob: ["*", "!*.ts"] }), [
    "lib/c.js:1",
    "src/a.ts:1",
    "src/a.ts:3",
  ]);
});

Deno.test("fs.grep() and fs.count() search an ignored folder that a glob names", async () => {
  await using workspace = await Workspace.with({ ".gitignore": "out/\n", "src/out/deep/a.txt": "hit", "b.txt": "hit" });
  const found = ["src/out/deep/a.txt:1"];
  const grep = async (where: unknown): Promise<string[]> => places(await workspace.call("grep", "hit", where));
  assert.deepEqual(await grep({ glob: "src/out/**" }), found);
  assert.deepEqual(await grep({ glob: ["*.txt", "src/out/deep/*.txt"] }), ["b.txt:1", ...found]);
  assert.deepEqual(await grep({ path: ".", glob: "src/out/**" }), found);
  assert.deepEqual(await grep({ path: "src", glob: "out/**" }), found);
  assert.deepEqual(await grep({ glob: "src/out/**", all: true }), found);
  assert.deepEqual(await grep({ glob: "nope/**" }), []);
  assert.equal(await workspace.call("count", "hit", { glob: "src/out/deep/*.txt" }), 1);
});

Deno.test("fs.grep() accepts other forms of arguments that models write", async () => {
  await using workspace = await Workspace.with(FILES);
  assert.deepEqual(places(await workspace.call("grep", /todo/i, "src", { glob: "*.ts" })), ["src/deep/b.ts:1"]);
  assert.deepEqual(places(await workspace.call("grep", "parse_", ["lib", "src/a.ts"], { limit: 9 })).length, 3);
  assert.match(await workspace.refusal("grep", "x", 7), /usage: fs\.grep\(pattern: string, where\?: string \| \{/);
  assert.match(await workspace.refusal("grep"), /usage: fs\.grep/);
  assert.match(await workspace.refusal("grep", "x", { ignorecase: true }), /ignorecase/);
});

Deno.test("fs.grep() dollar and word borders work at CRLF line ends", async () => {
  await using workspace = await Workspace.with({ "a.txt": "one\r\ntwo;\r\nthree\r\n" });
  assert.deepEqual(places(await workspace.call("grep", ";$")), ["a.txt:2"]);
  assert.deepEqual(places(await workspace.call("grep", "\\bthree\\b")), ["a.txt:3"]);
  assert.deepEqual(places(await workspace.call("grep", "^(one|three)$")), ["a.txt:1", "a.txt:3"]);
});

Deno.test("fs.grep() gives lines around a hit, up to the file's edges", async () => {
  await using workspace = await Workspace.with({ "a.txt": "1\n2\n3 hit\n4 hit\n5\n6\n7" });
  assert.deepEqual(await workspace.call("grep", "hit", { context: 2 }), [
    { path: "a.txt", line: 3, text: "3 hit", before: ["1", "2"], after: ["4 hit", "5"] },
    { path: "a.txt", line: 4, text: "4 hit", before: ["2", "3 hit"], after: ["5", "6"] },
  ]);
  const [last] = await workspace.call("grep", "7", { context: 3 });
  assert.deepEqual([last.before, last.after], [["4 hit", "5", "6"], []]);
});

Deno.test("fs.grep() finds and surrounds hits the same way in a file that is streamed", async () => {
  const lines = Array.from(
    { length: 60_000 },
    (_, at) => at % 20_000 === 19_999 ? `needle ${at}` : `line ${at} with some text`,
  );
  await using workspace = await Workspace.with({ "big.txt": lines.join("\n") });
  const hits = await workspace.call("grep", "needle", { context: 1 });
  assert.deepEqual(places(hits), ["big.txt:20000", "big.txt:40000", "big.txt:60000"]);
  assert.deepEqual([hits[0].before, hits[0].after], [["line 19998 with some text"], ["line 20000 with some text"]]);
  assert.deepEqual(hits[2].after, []);
});

for (const [pattern, kind] of [["hit", "light"], ["(h|hi|hit){9,30}|hit", "heavy"]] as const) {
  Deno.test(`fs.grep() refuses over 500 hits, counts them, and returns as many as requested: ${kind}`, async () => {
    await using workspace = await Workspace.with({ "a.txt": "hit\n".repeat(700), "b.txt": "hit\n".repeat(50) });
    assert.equal(
      await workspace.refusal("grep", pattern),
      "Cannot list 750 hits in 2 files: the limit is 500 unless you set one; narrow pattern, path or glob, " +
        "count with fs.count(pattern, where), or pass {limit: 750}",
    );
    assert.equal((await workspace.call("grep", pattern, { path: "b.txt" })).length, 50);
    assert.deepEqual(places(await workspace.call("grep", pattern, { limit: 2 })), ["a.txt:1", "a.txt:2"]);
    for (const limit of [750, 200_000]) {
      const hits = await workspace.call("grep", pattern, { limit });
      assert.deepEqual([hits.length, places(hits).at(-1)], [750, "b.txt:50"]);
    }
    assert.equal(await workspace.call("count", pattern), 750);
    assert.equal(await workspace.call("count", pattern, { glob: "b*" }), 50);
  });
}

Deno.test("fs.count() counts matching lines, in folders and in one file", async () => {
  await using workspace = await Workspace.with({ "a.txt": "hit hit\n\nx", "x.bin": Uint8Array.of(1, 0) });
  assert.equal(await workspace.call("count", "hit"), 1);
  assert.equal(await workspace.call("count", ".*", "a.txt"), 3);
  assert.equal(await workspace.call("count", /HIT/i, "a.txt"), 1);
  assert.match(await workspace.refusal("count", "x", "x.bin"), /binary file/);
  assert.equal(await workspace.call("count", ".*", { path: "a.txt", context: 2 }), 3);
  assert.match(
    await workspace.refusal("count", "x", { limit: 3 }),
    /has the unknown key limit; usage: .*where\?: as for grep, no limit/,
  );
});

Deno.test("fs.grep() marks the text of a line that it cut", async () => {
  await using workspace = await Workspace.with({ "a.txt": `hit ${"a".repeat(600)}\nhit\n` });
  assert.deepEqual((await workspace.call("grep", "hit")).map(({ cut }: { cut?: true }) => cut), [true, undefined]);
});

Deno.test("fs.grep() shows 500 characters around the match of a long line", async () => {
  await using workspace = await Workspace.with({ "min.js": `${"a".repeat(5_000)}needle${"b".repeat(5_000)}` });
  const [hit] = await workspace.call("grep", "needle");
  assert.equal(hit.text.length, 500);
  assert.match(hit.text, /^…a+needleb+…$/);
});

Deno.test("fs.grep() skips binary files and names one that was requested", async () => {
  await using workspace = await Workspace.with(FILES);
  assert.deepEqual(await workspace.call("grep", "parse_", { glob: "*.bin" }), []);
  assert.equal(await workspace.refusal("grep", "parse_", "x.bin"), "Cannot search x.bin: it is a binary file of 7 B");
});

Deno.test("fs.grep() skips ignored files unless they are named", async () => {
  await using workspace = await Workspace.with({ ".gitignore": "out\n", "out/a.txt": "hit", "b.txt": "hit" });
  assert.deepEqual(places(await workspace.call("grep", "hit")), ["b.txt:1"]);
  assert.deepEqual(places(await workspace.call("grep", "hit", "out")), ["out/a.txt:1"]);
  assert.deepEqual(places(await workspace.call("grep", "hit", { all: true })), ["b.txt:1", "out/a.txt:1"]);
});

for (const pattern of ["(a+)+$", "(a|aa)+$", "(.*a){20}$", "(a*)*b", "(x+x+)+y"]) {
  Deno.test(`fs.grep() is linear in ${pattern}`, async () => {
    await using workspace = await Workspace.with({ "a.txt": `${"a".repeat(50_000)}!\n` });
    await workspace.call("grep", pattern, { path: "a.txt", limit: 1 }); // A worker may have to start.
    const start = performance.now();
    await workspace.call("grep", pattern);
    assert.ok(performance.now() - start < 60_000); // With backtracking, the search would not end.
  });
}

Deno.test("fs.grep() refuses unsupported patterns, with the fix", async () => {
  await using workspace = await Workspace.with(FILES);
  const of = async (pattern: string): Promise<string> => await workspace.refusal("grep", pattern);
  assert.match(
    await of("(?<=a)b"),
    /patterns have no look-around and no back-references here; for plain text, pass \{literal: true\}/,
  );
  assert.match(await of("(a)\\1"), /no look-around and no back-references/);
  assert.match(await of("foo("), /Cannot use pattern foo\(: missing closing \)/);
  assert.match(await of(""), /the pattern is empty/);
  assert.match(await of("a\nb"), /it contains a line end/);
  assert.match(await of("((a{30}){30}){30}"), /Cannot use pattern/);
  assert.match(await of("x".repeat(3_000)), /3000 characters/);
});

Deno.test("fs.grep() suggests the nearest path if a path does not exist", async () => {
  await using workspace = await Workspace.with(FILES);
  assert.match(
    await workspace.refusal("grep", "x", "scr"),
    /Cannot search scr: there is no such file or folder; did you mean src/,
  );
});

Deno.test("fs.grep() lets other work run and stops when aborted half way", async () => {
  const files = Object.fromEntries(
    Array.from({ length: 60 }, (_, at) => [`f${at}.txt`, "some words in a line of text\n".repeat(9_000)]),
  );
  await using workspace = await Workspace.with(files);
  const controller = new AbortController();
  const timer = setTimeout(() => controller.abort(), 20);
  const call = workspace.callWith({
    name: "grep",
    args: ["[a-z]+ w[o-p]rds .* (tixt|toxt|.ext)$"],
    signal: controller.signal,
  });
  await assert.rejects(call, { message: "Cannot finish fs.grep: its block or request ended first" });
  clearTimeout(timer);
});

const LINES = "header\nprice 5 \u20ac caf\u00e9\nend\n";

Deno.test("fs.grep() and fs.count() search the text that fs.readFile() reads, whatever its encoding", async () => {
  const japanese = Uint8Array.of(...[
    0x93,
    0xfa,
    0x96,
    0x7b,
    0x8c,
    0xea,
    0x82,
    0xcc,
    0x83,
    0x65,
    0x83,
    0x58,
    0x83,
    0x67,
  ], 10);
  const wide = new Uint8Array(Uint16Array.from(`\ufeff${LINES}`, (char) => char.charCodeAt(0)).buffer);
  const single = Uint8Array.from(LINES, (char) => char === "\u20ac" ? 0x80 : char.charCodeAt(0));
  await using workspace = await Workspace.with({
    "a_utf8.txt": LINES,
    "b_utf16.txt": wide,
    "c_unmarked.txt": wide.slice(2),
    "d_western.txt": single,
    "e_japanese.txt": japanese,
  });
  for (const pattern of ["caf\u00e9", "(caf\u00e9|pin)(_[a-z]{1,40}){0,4}$"]) {
    const hits: { path: string; text: string; line: number }[] = await workspace.call("grep", pattern);
    assert.deepEqual(hits.map(({ path }) => path[0]).join(""), "abcd");
    assert.ok(hits.every(({ text, line }) => line === 2 && text === "price 5 \u20ac caf\u00e9"));
  }
  assert.equal(await workspace.call("count", "\u65e5\u672c\u8a9e"), 1);
  for (const path of ["b_utf16.txt", "c_unmarked.txt", "d_western.txt"]) {
    assert.equal(await workspace.call("readFile", path), LINES);
  }
  assert.equal(await workspace.call("count", ".*"), 13);
});

Deno.test("fs.grep() searches large files of two bytes per character, and of old encodings, piece by piece", async () => {
  const lines = Array.from(
    { length: 120_000 },
    (_, at) => at % 40_000 === 39_999 ? `needle caf\u00e9 ${at}` : `line ${at}`,
  );
  const text = lines.join("\n");
  await using workspace = await Workspace.with({
    "wide.txt": new Uint8Array(Uint16Array.from(`\ufeff${text}`, (char) => char.charCodeAt(0)).buffer),
    "western.txt": Uint8Array.from(text, (char) => char.charCodeAt(0)),
    "long.txt": `${"\u20ac".repeat(500_000)} needle caf\u00e9`,
  });
  const hits: { path: string; line: number; text: string }[] = await workspace.call("grep", "needle caf\u00e9");
  assert.deepEqual(hits.map(({ path, line }) => `${path}:${line}`), [
    "long.txt:1",
    ...["western.txt", "wide.txt"].flatMap((path) => [40_000, 80_000, 120_000].map((line) => `${path}:${line}`)),
  ]);
  assert.ok(hits.slice(1).every(({ text, line }) => text === `needle caf\u00e9 ${line - 1}`));
});

Deno.test("fs.grep() shows up to 200 lines of context, and reports a larger request", async () => {
  const lines = Array.from({ length: 501 }, (_, at) => at === 250 ? "the middle" : `line ${at + 1}`);
  await using workspace = await Workspace.with({ "a.txt": `${lines.join("\n")}\n` });
  const [wide] = await workspace.call("grep", "middle", { context: 200 });
  assert.deepEqual(wide.before, lines.slice(50, 250));
  assert.deepEqual(wide.after, lines.slice(251, 451));
  assert.deepEqual(workspace.notes, []);
  assert.deepEqual(await workspace.call("grep", "middle", { context: 5_000 }), [wide]);
  assert.deepEqual(workspace.notes, ["fs.grep shows 200 lines of context at most, not 5000"]);
});

Deno.test("a path that cannot be searched does not lose the hits of the others", async () => {
  await using workspace = await Workspace.with({
    "src/a.ts": "needle\n",
    "b.ts": "needle\n",
    "c.bin": new Uint8Array([0, 1, 2]),
  });
  const path = ["src", "scr/a.ts", "c.bin", "../outside", "b.ts"];
  const hits = await workspace.call("grep", "needle", { path });
  assert.deepEqual(hits.map((hit: { path: string }) => hit.path), ["src/a.ts", "b.ts"]);
  assert.equal(await workspace.call("count", "needle", { path }), 2);
  const [note = "", again] = workspace.notes;
  for (
    const part of [
      /scr\/a\.ts: there is no such file or folder/,
      /c\.bin: it is a binary file/,
      /outside/,
      /the result covers only the other paths$/,
    ]
  ) {
    assert.match(note, part);
  }
  assert.equal(again, note);
  assert.match(
    await workspace.refusal("grep", "needle", ["nope", "c.bin"]),
    /Cannot search nope: there is no such file or folder; the nearest existing folder is the workspace/,
  );
});
