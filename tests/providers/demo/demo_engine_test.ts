import assert from "node:assert/strict";
import { join } from "node:path";
import fs from "../../../extensions/fs/mod.ts";
import { demoProvider } from "../../../src/providers/demo/demo.ts";
import type { ModelRequest, Provider } from "../../../src/providers/provider.ts";
import { type Engine, startEngine } from "../../helpers/engine.ts";
import { evalReply } from "../../helpers/evaluation/eval_reply.ts";
import { scriptedProvider } from "../../helpers/scripted_provider.ts";

function evalProvider(): Provider {
  return scriptedProvider([], { otherwise: ({ texts }) => evalReply(texts) });
}

/** Policies under the real engine, counting the bytes that they are asked with. */
async function withDemo(
  files: Readonly<Record<string, string>>,
  body: (rig: { readonly engine: Engine; readonly bytes: number[]; readonly workspace: string }) => Promise<void>,
  played: Provider = demoProvider(),
): Promise<void> {
  const workspace = await Deno.realPath(await Deno.makeTempDir());
  for (const [path, text] of Object.entries(files)) {
    await Deno.mkdir(join(workspace, path, ".."), { recursive: true });
    await Deno.writeTextFile(join(workspace, path), text);
  }
  const bytes: number[] = [];
  const provider: Provider = {
    name: played.name,
    defaultModel: played.defaultModel,
    models: (options) => played.models(options),
    capabilities: (model) => played.capabilities(model),
    stream: (request: ModelRequest) => {
      const texts = request.messages.map(({ text }) => text).join("");
      bytes.push(new TextEncoder().encode(texts).byteLength);
      return played.stream(request);
    },
  };
  const engine = await startEngine([], { provider, workspace, extensions: [fs] });
  try {
    await body({ engine, bytes, workspace });
  } finally {
    await engine.close();
    await Deno.remove(workspace, { recursive: true });
  }
}

const SALES = "day,amount\nmon,1200\ntue,800\nwed,950\n";

Deno.test("demoProvider() counts, mends, defines, reuses and edits under the real engine", async () => {
  const files = { "a.md": "TODO one\nTODO two\n", "b/c.ts": "const rate = 0.9;\n// TODO three\n", "sales.csv": SALES };
  await withDemo(files, async ({ engine, workspace }) => {
    const counted = await engine.ask("Which files here mention TODO, and how often?");
    assert.match(counted.answer, /^TODO is mentioned 3 times in 2 files:\n- a\.md: 2\n- b\/c\.ts: 1/);
    assert.equal(counted.iterations, 2);
    const once = await engine.ask("Which files here mention three, and how often?");
    assert.match(once.answer, /^three is mentioned 1 time in 1 file:\n- b\/c\.ts: 1/);
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

Deno.test("the policies of the evaluation: reads a file per iteration in requests that do not grow", async () => {
  const files = Object.fromEntries(
    Array.from({ length: 20 }, (_, at) => [`files/${at + 1}.txt`, "abc\n".repeat(1024)]),
  );
  await withDemo(files, async ({ engine, bytes }) => {
    const result = await engine.ask("Read 20 files named files/#.txt, one per iteration.");
    assert.equal(result.answer, "Read 20 files with 81920 characters.");
    assert.equal(result.iterations, 21);
    const [third = 0, last = 0] = [bytes[2], bytes[19]];
    assert.ok(last <= third * 1.15, `${last} bytes after ${third}`);
    const at = bytes.length;
    const once = await engine.ask("Read 20 files named files/#.txt, all in one block.");
    assert.equal(once.answer, "Read 20 files with 81920 characters.");
    assert.equal(bytes.length - at, 2);
  }, evalProvider());
});

Deno.test("the policies of the evaluation: grows a list over many iterations", async () => {
  await withDemo({}, async ({ engine }) => {
    const result = await engine.ask(
      "Make 12 texts of 4096 bytes, one per iteration, and keep a list of their numbers.",
    );
    assert.equal(result.answer, "Made 12 texts.");
    assert.equal(result.iterations, 13);
  }, evalProvider());
});

Deno.test("demoProvider() lists, counts, calculates and explains what is there", async () => {
  const files = { "README.md": "# Till\n\nA cash register.\n", "src/a.ts": "export function total() {}\n" };
  await withDemo(files, async ({ engine }) => {
    const cases: readonly (readonly [string, RegExp])[] = [
      ["List the files in this folder.", /^2 files:\n- README\.md\n- src\/a\.ts/],
      ["How many files and lines are there?", /^2 files with 4 lines:\n- \.\w+: 1\n- \.\w+: 1/],
      ["What is 12 * 34 + 5?", /^12 \* 34 \+ 5 = 413$/],
      ["What does this project do?", /has 2 files\. Its README\.md begins:\n\n# Till/],
      ["Explain src/a.ts", /^src\/a\.ts has 2 lines\. It defines:[^]*- total[^]*export function total/],
      ["Explain src/missing.ts", /^The demo could not do that: /],
      ["Write a poem", /^This is the demo/],
    ];
    for (const [request, answer] of cases) {
      const result = await engine.ask(request);
      assert.match(result.answer, answer, request);
      assert.equal(result.status, "done", request);
    }
  });
});
