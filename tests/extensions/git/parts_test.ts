import assert from "node:assert/strict";
import { PatchReader } from "../../../extensions/git/diff.ts";
import { hasGit } from "../../../extensions/git/mod.ts";
import git from "../../../extensions/git/mod.ts";
import { isPrinted, nameOf, printedName } from "../../../extensions/git/refs_and_paths.ts";
import { RecordReader } from "../../../extensions/git/git_output.ts";
import { overridesOf, safeArguments, specialSection } from "../../../extensions/git/safe_config.ts";
import { parseGitConfig } from "../../../src/domain/kit/git_config.ts";
import { ExtensionRegistry } from "../../../src/extension/registry.ts";
import { missing, repository } from "./_repository.ts";

const ignore = missing !== "";

Deno.test("specialSection() finds each section that could name a program by a subsection", () => {
  const plain = '[core]\n\tbare = false\n[remote "origin"]\n\turl = x\n[branch "main"]\n\tmerge = y\n';
  assert.equal(specialSection(plain), null);
  const hidden = [
    '[filter "a"]',
    '[FILTER "a"]',
    "[filter.a]",
    '[core] x = 1 [filter "a"]',
    '\ufeff[filter "a"]',
    '[core]\\\n[filter "a"]',
    "[include]\npath = x",
    '[includeIf "gitdir:x"]',
    '[merge "x"]',
    '[credential "x"]',
    "[ filter]",
    "[",
  ];
  assert.equal(specialSection('[core]\n[FILTER "a"]\n[alias]\n'), "FILTER");
  for (const text of hidden) assert.notEqual(specialSection(`[core]\n${text}\n`), null, text);
});

Deno.test("readConfig() reads sections, quotes, comments and continued lines", () => {
  const text = '[User]\n\tName = "A # b" c ; d\n[core "x y"] flag\n\tlong = a \\\n b\n\tescaped = "\\t\\"q\\""\n';
  assert.deepEqual(
    parseGitConfig(text).map(({ section, subsection, key, value }) => [section, subsection, key, value]),
    [
      ["user", null, "name", "A # b c"],
      ["core", "x y", "flag", "true"],
      ["core", "x y", "long", "a  b"],
      ["core", "x y", "escaped", '\t"q"'],
    ],
  );
});

Deno.test("overridesOf() overrides filters and drivers by their names, and no other setting", () => {
  const overrides = overridesOf([
    "filter.a=b.c.clean",
    "FILTER.x.required",
    "user.name",
    "diff.x.command",
    "filter.clean",
    "hook.lint.command",
    "hook.jobs",
  ]);
  const names = Object.entries(overrides).filter(([key]) => key.startsWith("GIT_CONFIG_KEY_")).map(([, name]) => name);
  assert.deepEqual(names.filter((name) => name.endsWith(".clean")), ["filter.a=b.c.clean", "FILTER.x.clean"]);
  assert.deepEqual(names.filter((name) => name.startsWith("hook.")), ["hook.lint.enabled"]);
  assert.equal(overrides[`GIT_CONFIG_VALUE_${names.indexOf("hook.lint.enabled")}`], "false");
  assert.equal(overrides["GIT_CONFIG_COUNT"], String(names.length));
  assert.ok(names.includes("vis.mark") && !names.some((name) => name.startsWith("user")));
  const safe = safeArguments();
  assert.ok(safe.includes("core.hooksPath=/dev/null") && safe.includes("core.fsmonitor=false"));
});

Deno.test("nameOf() and printedName() turn names of any bytes there and back", () => {
  for (const [printed, name] of [['"a\\tb\\"\\\\"', 'a\tb"\\'], ["plain name", "plain name"], ['"\\303\\244"', "ä"]]) {
    assert.equal(nameOf(printed ?? ""), name);
  }
  assert.equal(nameOf('"caf\\351"'), '"caf\\351"');
  assert.ok(isPrinted('"caf\\351"') && !isPrinted("café") && !isPrinted('"quoted"'));
  assert.equal(printedName('"caf\\351"'), '"caf\\351"');
  for (const name of ['"a"', "a\nb", "a\\b", "-f", "ä b"]) assert.equal(nameOf(printedName(name)), name);
});

Deno.test("RecordReader cuts a stream anywhere, and takes no memory for a record without an end", () => {
  const records: string[] = [];
  const reader = new RecordReader((record) => records.push(record));
  for (const byte of new TextEncoder().encode("ä\nb\n\nlast")) reader.push(new Uint8Array([byte]));
  reader.end();
  assert.deepEqual(records, ["ä", "b", "", "last"]);
  for (let at = 0; at < 100; at++) reader.push(new Uint8Array(100_000).fill(120));
  reader.push(new TextEncoder().encode("\nnext\n"));
  assert.deepEqual([records[4]?.length, records[5]], [256 << 10, "next"]);
});

Deno.test("PatchReader takes no line of a file for a header", () => {
  const patch = new PatchReader({ files: 10, chars: 1000 });
  const lines = [
    "diff --git a/x b/x",
    "--- a/x",
    "+++ b/x",
    "@@ -1,2 +1,3 @@ function f()",
    " diff --git a/evil b/evil",
    "-diff --git a/evil b/evil",
    "+++ b/evil",
    "+@@ -1 +1 @@",
    "\\ No newline at end of file",
    "diff --git a/with space b/with space",
    "new file mode 100644",
    "Binary files /dev/null and b/with space differ",
  ];
  for (const line of lines) patch.line(line);
  const { files, total } = patch.diff;
  assert.deepEqual(files.map(({ path, added, deleted, status }) => [path, added, deleted, status]), [
    ["x", 2, 1, "modified"],
    ["with space", 0, 0, "added"],
  ]);
  assert.equal(files[0]?.hunks[0]?.heading, "function f()");
  assert.deepEqual(total, { files: 2, added: 2, deleted: 1 });
});

Deno.test("PatchReader decodes the lines of each file together, and guesses only text that is not UTF-8", () => {
  const patch = new PatchReader({ files: 10, chars: 100_000 });
  const bytes = (text: string) => Uint8Array.from(text, (char) => char.charCodeAt(0));
  // In Shift_JIS, the second byte of a character can be a letter's.
  const japanese = "\x93\xfa\x96\x7b\x8c\xea\x82\xcc\x83\x65\x83\x4c\x83\x58\x83\x67",
    long = `${japanese} `.repeat(500);
  const head = (
    name: string,
    counts: string,
  ) => [`diff --git a/${name} b/${name}`, `--- a/${name}`, `+++ b/${name}`, counts];
  const lines = [
    ...head("latin", "@@ -1,2 +1,2 @@"),
    " f\xfcr",
    "-Gr\xf6\xdfe",
    "+Gr\xc3\xb6\xc3\x9fe", // The text is UTF-8 from here on.
    ...head("jis", "@@ -0,0 +1,2 @@"),
    `+${japanese}`,
    `+${long}`,
    ...head("broken", "@@ -0,0 +1 @@"),
    "+\xc3\xa4\xc3\xb6\xc3\xbc\xc3\x9f \xff",
  ];
  const reader = new RecordReader((line, raw) => patch.line(line, raw));
  reader.push(bytes(lines.join("\n")));
  reader.end();
  assert.deepEqual(patch.decode(), [["latin", "windows-1252"], ["jis", "shift_jis"]]);
  const [latin, jis, broken] = patch.diff.files;
  assert.equal(latin?.hunks[0]?.text, " für\n-Größe\n+Größe");
  const text = "日本語のテキスト";
  assert.equal(jis?.hunks[0]?.text, `+${text}\n${`+${`${text} `.repeat(500)}`.slice(0, 1000)}…`);
  assert.equal(jis?.left, 1);
  assert.equal(broken?.hunks[0]?.text, "+äöüß \ufffd");
});

Deno.test(
  "the functions are there wherever git is on the machine, the prompt where there is a repository",
  { ignore },
  async () => {
    await repository(async ({ env, root }) => {
      assert.deepEqual([hasGit(), hasGit(["/no/such/git"])], [true, false]);
      const registry = new ExtensionRegistry({ log: { debug() {}, info() {}, warn() {}, error() {} } });
      registry.register(git);
      const there = await registry.activate(env);
      assert.equal(there.functions.length, 23);
      assert.ok((there.blocks[0]?.length ?? 0) < 320, there.blocks[0]);
      const away = await registry.activate({ ...env, workspace: `${root}/outside` });
      assert.deepEqual([away.functions, away.blocks], [there.functions, []]);
      assert.match(there.doc("git.diff") ?? "", /git\.diff\(options\?: \{from\?/);
    });
  },
);
