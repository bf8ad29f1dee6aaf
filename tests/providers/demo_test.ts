import assert from "node:assert/strict";
import { join } from "node:path";
import fs from "../../extensions/fs/mod.ts";
import { Cancelled } from "../../src/domain/errors.ts";
import { demoProvider } from "../../src/providers/demo.ts";
import { UNKNOWN_MODEL } from "../../src/providers/provider.ts";
import { type Engine, startEngine } from "../helpers/engine.ts";

async function withDemo(
  files: Readonly<Record<string, string>>,
  body: (rig: { readonly engine: Engine; readonly workspace: string }) => Promise<void>,
): Promise<void> {
  const workspace = await Deno.realPath(await Deno.makeTempDir());
  for (const [path, text] of Object.entries(files)) {
    await Deno.mkdir(join(workspace, path, ".."), { recursive: true });
    await Deno.writeTextFile(join(workspace, path), text);
  }
  const engine = await startEngine([], { provider: demoProvider(), workspace, extensions: [fs] });
  try {
    await body({ engine, workspace });
  } finally {
    await engine.close();
    await Deno.remove(workspace, { recursive: true });
  }
}

Deno.test("demoProvider() describes itself, needs no network, and can be cancelled before and during a reply", async () => {
  const provider = demoProvider();
  const abort = new AbortController();
  assert.deepEqual([provider.name, provider.defaultModel], ["demo", "scripted"]);
  assert.deepEqual(await provider.models({ signal: abort.signal }), ["scripted"]);
  assert.deepEqual({ ...provider.capabilities("scripted"), price: null }, UNKNOWN_MODEL);
  const messages = ["s", "Write a poem", "f", "[iter 1/4]"].map((text) => ({ role: "user" as const, text }));
  const request = { model: "scripted", reasoning: "quick", signal: abort.signal, messages } as const;
  await assert.rejects(async () => {
    for await (const _event of provider.stream(request)) abort.abort();
  }, Cancelled);
  await assert.rejects(provider.stream(request)[Symbol.asyncIterator]().next(), Cancelled);
  await assert.rejects(provider.models({ signal: abort.signal }), Cancelled);
});

Deno.test("demoProvider() counts, mends, defines, reuses and edits under the real engine", async () => {
  const files = {
    "a.md": "TODO one\nTODO two\n",
    "b/c.ts": "const rate = 0.9;\n// TODO three\n",
    "sales.csv": "day,amount\nmon,1200\ntue,800\nwed,950\n",
  };
  await withDemo(files, async ({ engine, workspace }) => {
    const counted = await engine.ask("Which files here mention TODO, and how often?");
    assert.match(counted.answer, /^TODO is mentioned 3 times in 2 files:\n- a\.md: 2\n- b\/c\.ts: 1/);
    assert.equal(counted.iterations, 2);
    const once = await engine.ask("Which files here mention three, and how often?");
    assert.match(once.answer, /^three is mentioned 1 time in 1 file:\n- b\/c\.ts: 1/);
    const never = await engine.ask("Which files here mention four, and how often?");
    assert.equal(never.answer, "No file mentions four.");
    const mean = await engine.ask("What is the mean of the amounts in sales.csv?");
    assert.match(mean.answer, /^The mean of the 3 amounts is 983\.33/);
    assert.equal(mean.iterations, 2);
    const defined = await engine.ask("Define a function that formats cents as euros, and show 123456 cents with it.");
    assert.equal(defined.answer, "euros(123456) gives €1,234.56.");
    const reused = await engine.ask("Use the function from before: what is 98765 cents in euros?");
    assert.equal(reused.answer, "98765 cents are €987.65.");
    const edited = await engine.ask("In b/c.ts the rate must be 0.85 instead of 0.9: edit it and show the diff.");
    assert.match(edited.answer, /-const rate = 0\.9;\n\+const rate = 0\.85;/);
    assert.match(await Deno.readTextFile(join(workspace, "b/c.ts")), /0\.85/);
  });
});

Deno.test("demoProvider() lists, counts, calculates and explains the context", async () => {
  const files = { "README.md": "# Till\n\nA cash register.\n", "src/a.ts": "export function total() {}\n" };
  await withDemo(files, async ({ engine }) => {
    const cases: readonly (readonly [string, RegExp])[] = [
      ["List the files in this folder.", /^2 files:\n- README\.md\n- src\/a\.ts/],
      ["How many files and lines are there?", /^2 files with 4 lines:\n- \.\w+: 1\n- \.\w+: 1/],
      ["What is 12 * 34 + 5?", /^12 \* 34 \+ 5 = 413$/],
      ["What does this project do?", /has 2 files\. Its README\.md begins:\n\n# Till/],
      ["Explain src/a.ts", /^src\/a\.ts has 2 lines\. It defines:[^]*- total[^]*export function total/],
      ["Explain src/missing.ts", /^The demo could not do that: ERROR .*src\/missing\.ts/],
      ["In src/missing.ts it must be 2 instead of 1", /^The demo could not do that: ERROR .*src\/missing\.ts/],
      ["Use the function from before: what is 5 cents in euros?", /^The demo could not do that: ERROR .*euros/],
      ["Find the access code in context.", /^The demo could not do that: ERROR .*context/],
      ["What is the mean of the amounts in missing.csv?", /^The demo could not do that: ERROR /],
      [
        "Write a poem",
        /^This is the demo: it plays scripted replies and is not a model\. [^]*- What is 12 \* 34[^]*\/model[^]*vis auth login/,
      ],
    ];
    for (const [request, answer] of cases) {
      const result = await engine.ask(request);
      assert.match(result.answer, answer, request);
      assert.equal(result.status, "done", request);
    }
  });
});

Deno.test("demoProvider() offers requests that work in a folder with one file of one line", async () => {
  await withDemo({ "notes.md": "TODO one" }, async ({ engine }) => {
    const { answer } = await engine.ask("Write a poem");
    const offered = [...answer.matchAll(/^- (.*)$/gm)].map(([, request = ""]) => request);
    assert.ok(offered.length > 4);
    const answers: string[] = [];
    for (const request of [...offered, "Explain notes.md"]) answers.push((await engine.ask(request)).answer);
    assert.doesNotMatch(answers.join("\n"), /could not|\b1 (?:files|lines)/);
    assert.match(answers.join("\n"), /^1 file with 1 line:[^]*This folder has 1 file\.[^]*notes\.md has 1 line\./m);
  });
});
