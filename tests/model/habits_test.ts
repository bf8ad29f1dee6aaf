import assert from "node:assert/strict";
import { join } from "node:path";
import fs from "../../extensions/fs/mod.ts";
import rlm from "../../extensions/rlm/mod.ts";
import shell from "../../extensions/shell/mod.ts";
import skills from "../../extensions/skills/mod.ts";
import type { Extension } from "../../src/extension/mod.ts";
import { errorForModel } from "../../src/domain/query/host_call.ts";
import { startEngine } from "../helpers/engine.ts";
import { replyJson } from "../helpers/scripted_provider.ts";
import { withFolder } from "../helpers/with_folder.ts";

const DONE = replyJson([], { final: "It is done." });
/** The extensions work without programs that a machine may lack. */
const run: Extension = { ...shell, activate: () => true, prompt: "" };

async function errors(blocks: readonly string[], extensions: readonly Extension[] = [fs, run, rlm]) {
  await using engine = await startEngine([replyJson(blocks), DONE], { extensions });
  await engine.ask("x");
  return engine.events.flatMap((event) => {
    if (event.type !== "block_finished") return [];
    const { error, preview } = event.result;
    return [error ? errorForModel(error) : preview];
  });
}

async function after(reply: string, extensions: readonly Extension[] = [fs, run, rlm]): Promise<string> {
  await using engine = await startEngine([reply, DONE, DONE], { extensions });
  await engine.ask("x");
  return engine.provider.requests[1]?.texts.at(-1) ?? "";
}

Deno.test("a block that uses functions of other tools and runtimes gets the call to write", async () => {
  const cases: readonly (readonly [string, string])[] = [
    ['await read_file("a.ts")', "await fs.readFile(path)"],
    ['await readFile("a.ts")', "await fs.readFile(path)"],
    ['const text = fs.readFileSync("a.ts", "utf8")', "await fs.readFile(path)"],
    ['await Deno.readTextFile("a.ts")', "await fs.readFile(path)"],
    ['const f = require("fs")', "await fs.readFile(path)"],
    ['import fs from "node:fs"\nfs.x', "await fs.readFile(path)"],
    ['const x = await import("fs/promises")', "await fs.readFile(path)"],
    ['await bash("ls")', "await shell.run(command)"],
    ['const { execSync } = require("child_process")', "await shell.run(command)"],
    ["const home = process.env.HOME", "await shell.run(command)"],
    ['await grep_search("x")', "await fs.grep(pattern)"],
    ['await str_replace("a", "b", "c")', "await fs.edit(path, {old, new})"],
    ["list_dir()", "await fs.listFiles()"],
    ['def f(x):\n    return open(x)\nprint(f("a"))', "this is Python: write TypeScript"],
    ["import os", "this is Python: write TypeScript"],
    ["for x in range(3):\n    print(x)", "this is Python: write TypeScript"],
    ["ls -la src", "this is a command line: write await shell.run(command)"],
    ["npm test", "this is a command line: write await shell.run(command)"],
  ];
  const shown = await errors(cases.map(([code]) => code));
  for (const [at, [code, hint]] of cases.entries()) {
    assert.ok(shown[at]?.endsWith(hint), `${code}: ${shown[at]}`);
    assert.ok(!shown[at]?.includes("\n"), shown[at]);
  }
});

Deno.test("the hint names only functions that are active, and is absent where it would mislead", async () => {
  const readOnly: Extension = {
    ...fs,
    readOnly: true,
    symbols: (fs.symbols ?? []).filter(({ name }) => name === "glob"),
  };
  const without = await errors(['await read_file("a.ts")', 'await bash("ls")', "npm test"], [readOnly]);
  for (const message of without) assert.doesNotMatch(message, /fs\.readFile|shell\.run/);
  const own = await errors([
    "function open(x) { return x.deep.er }\nopen({})",
    "const view = null\nview.run()",
    'throw new Error("read_file(x)")',
    "const list = [1]\nlist.open()",
    "const n = 1 +",
    "if (true) { oops",
    "const read_file = 1; read_file + 1",
  ]);
  for (const message of own) assert.doesNotMatch(message, /there are no tools|Python|command line/);
});

Deno.test("a block that reads a missing property of a text or a list learns it, if the error shows it", async () => {
  await withFolder(async (workspace) => {
    await Deno.writeTextFile(join(workspace, "a.ts"), "one two\n");
    const told: readonly (readonly [string, string])[] = [
      ['(await fs.readFile("a.ts")).content', "fs.readFile returns a string, which has no content"],
      ['(await fs.readFile("a.ts")).text.split("\\n")', "fs.readFile returns a string, which has no text"],
      [
        'const { content } = await fs.readFile("a.ts"); print(content)',
        "fs.readFile returns a string, which has no content",
      ],
      ['(await fs.glob("*")).files', "fs.glob returns a list, which has no files"],
      ['(await fs.grep("one", String("a.ts"))).matches?.length', "fs.grep returns a list, which has no matches"],
      ['const text = await fs.readFile("a.ts"); text.data', "text is a string, which has no data"],
      ["text?.lines.map((one) => one)", "text is a string, which has no lines"],
    ];
    const silent = [
      'const text = await fs.readFile("a.ts")',
      '(await fs.readFile("a.ts")).trim().length',
      "[{ lines: undefined }].map((text) => text.lines)[0]",
      "for (const text of [{ lines: 1 }]) print(text.lines, undefined)",
      "const own = { text: { lines: undefined } }; own.text.lines",
      'const size = text.length, rows = await fs.glob("*"); print(rows.at(3))',
      'text.lines ?? "none"',
    ];
    await using engine = await startEngine([], { extensions: [fs], workspace });
    for (const [blocks, wanted] of [...told.map(([code, hint]) => [[code], hint] as const), [silent, ""] as const]) {
      if (wanted.startsWith("text is")) engine.provider.push(replyJson('const text = await fs.readFile("a.ts")'));
      engine.provider.push(replyJson(blocks), DONE);
      await engine.ask("x");
      const shown = engine.context(engine.provider.requests.length - 1);
      if (wanted === "") assert.doesNotMatch(shown, /which has no/);
      else assert.ok(shown.includes(wanted), `${blocks[0]}: ${shown}`);
    }
  });
});

Deno.test("a reply that calls a tool gets the call to write", async () => {
  const cases: readonly (readonly [string, RegExp])[] = [
    ['{"tool": "read_file", "path": "a.ts"}', /instead of read_file, write await fs\.readFile\(path\)/],
    ['{"name": "bash", "arguments": {"command": "ls"}}', /instead of bash, write await shell\.run\(command\)/],
    ['<tool_call>{"name": "Bash", "arguments": {"command": "ls"}}</tool_call>', /write await shell\.run\(command\)/],
    ['<invoke name="Read"><parameter name="path">a</parameter></invoke>', /write await fs\.readFile\(path\)/],
    ["<read_file>\n<path>a.ts</path>\n</read_file>", /instead of read_file, write await fs\.readFile\(path\)/],
    ['read_file("a.ts")', /instead of read_file, write await fs\.readFile\(path\)/],
    ["I look first.\n\n```bash\nls -la\n```", /Vis does not run a fence of bash: write await shell\.run\(command\)/],
    ["```python\nprint(1)\n```", /Vis does not run a fence of Python: write TypeScript/],
  ];
  for (const [reply, wanted] of cases) assert.match(await after(reply), wanted, reply);
  const unread = await after(cases[0]?.[0] ?? "");
  assert.match(unread, /gave no usable reply: instead of read_file, write /, "the hint comes first");
  for (const [reply] of cases) assert.doesNotMatch(await after(reply, []), /fs\.readFile|shell\.run/, reply);
  assert.doesNotMatch(await after("The function run(x) of a.ts is fine."), /instead of/);
});

Deno.test("doc() finds functions, skills and parts of the sandbox by words, the best first, in few lines", async () => {
  await withFolder(async (workspace) => {
    await Deno.mkdir(join(workspace, ".vis/skills/release"), { recursive: true });
    await Deno.writeTextFile(
      join(workspace, ".vis/skills/release/SKILL.md"),
      "---\nname: release\ndescription: How a version is published.\n---\nTag it.\n",
    );
    const words = [
      "replace text in a file",
      "publish version",
      "skill release",
      "commands",
      "earlier history",
      "backup of the database",
      "serve/data#a-backup",
      "guide/scripts#exit-codes",
      "summarise chunks",
      "what is it for zzqqxx",
      "e",
    ];
    const blocks = words.map((one) => `await doc(${JSON.stringify(one)})`);
    await using engine = await startEngine([replyJson(blocks), DONE], {
      extensions: [fs, run, rlm, skills],
      workspace,
    });
    await engine.ask("x");
    const shown = engine.events.flatMap((event) =>
      event.type === "block_finished" ? [event.result.error?.message ?? event.result.preview] : []
    );
    const wanted = [
      /^"""\nNothing is called replace text in a file\. Found by its words:\nfs\.edit: Replaces text/,
      /skills\.read\("release"\): How a version is published/,
      /words:\nskills\.read\("release"\)/,
      /shell\.run|shell\.list/,
      /conversationHistory\(/,
      /doc\("serve\/[^]*\n\nserve\/\S+:\n#/,
      /^"""\nNothing is called serve\/data#a-backup\./,
      /^"""\n## Exit codes\n/,
      /rlm\.(?:map|reduce)Chunks/,
      /^Cannot describe what is it for zzqqxx: the sandbox has no.* nearest are varHistory, restoreVar, fs\.listFiles/,
      /^Cannot describe e: /,
    ];
    for (const [at, pattern] of wanted.entries()) {
      const text = shown[at]?.replaceAll("\\n", "\n").replaceAll('\\"', '"') ?? "";
      assert.match(text, pattern);
      assert.ok(text.length <= 4_000, text);
    }
  });
});
