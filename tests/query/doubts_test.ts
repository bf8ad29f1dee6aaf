import assert from "node:assert/strict";
import fs from "../../extensions/fs/mod.ts";
import type { AskOptions } from "../../src/conversation/ask_options.ts";
import rlm from "../../extensions/rlm/mod.ts";
import { defineExtension, fn, z } from "../../src/extension/mod.ts";
import { type Engine, startEngine } from "../helpers/engine.ts";
import { replyJson, type ScriptedReply } from "../helpers/scripted_provider.ts";
import { withFolder } from "../helpers/with_folder.ts";

interface Ended {
  readonly code: number | null;
  readonly text?: string;
}

const shell = defineExtension({
  namespace: "test.shell",
  alias: { ns: "test.shell", alias: "shell" },
  doc: "Commands.",
  version: "1.0.0",
  symbols: [
    fn("run", (_env, _command: string, ended: Ended) => ended, {
      doc: "Runs.",
      args: z.tuple([z.string(), z.looseObject({ code: z.number().nullable() })]),
      returns: "{code}",
      action: { doing: "running", done: "ran", things: "commands" },
      outcome: ({ code, text = "" }: Ended) => ({ text, exitCode: code, ok: code === 0 && text === "" }),
    }),
  ],
});

async function ask(request: string, replies: readonly ScriptedReply[]) {
  let asked = { answer: "", confidence: "", notes: [] as readonly string[], calls: 0, told: "" };
  await withFolder(async (workspace) => {
    await Deno.writeTextFile(`${workspace}/a.ts`, "export const a = 1;\n");
    await using engine = await startEngine(replies, { extensions: [fs, shell, rlm], workspace });
    const { answer, reason, confidence, notes } = await engine.ask(request);
    assert.equal(reason, "answered");
    const calls = engine.provider.requests.length;
    const told = calls < 2 ? "" : /Your final answer was refused: (.*)/.exec(engine.context(1))?.[1] ?? "";
    asked = { answer, confidence: `${confidence}`, notes, calls, told };
  });
  return asked;
}

Deno.test("an answer next to a failed command is refused once, with the command and its exit code", async () => {
  const run = (ended: Ended) =>
    replyJson(`await shell.run("npm test", ${JSON.stringify(ended)})`, { final: "It works" });
  const asked = await ask("Do the tests pass?", [run({ code: 1 }), replyJson([], { final: "One test fails" })]);
  assert.deepEqual([asked.answer, asked.calls], ["One test fails", 2]);
  assert.equal(asked.told, "npm test ended with code 1; you have not seen its output");

  const again = await ask("Do the tests pass?", [run({ code: 1 }), run({ code: 1 })]);
  assert.deepEqual([again.answer, again.confidence, again.calls], ["It works", "high", 2]);
  assert.equal((await ask("Do the tests pass?", [run({ code: 0 })])).calls, 1);
  const killed = await ask("Run it", [run({ code: null, text: "timed out" }), replyJson([], { final: "It hung" })]);
  assert.equal(killed.told, "npm test: timed out; you have not seen its output");
});

Deno.test("a command that failed and then succeeded in the same reply refuses nothing, nor does an answer from a value", async () => {
  const [failed, passed] = ["{ code: 1 }", "{ code: 0 }"];
  const fixed = replyJson(`await shell.run("make", ${failed}); await shell.run("make", ${passed})`, {
    final: "It builds",
  });
  assert.equal((await ask("Build", [fixed])).calls, 1);
  const found = replyJson(`const found = await shell.run("grep x a.ts", ${failed})`, {
    final: "Exit code: {{found.code}}",
  });
  assert.equal((await ask("Is x there?", [found])).answer, "Exit code: 1");
});

Deno.test("a claim of work by a request that changed nothing and ran nothing is refused once, with the facts", async () => {
  const lie = replyJson([], { final: "I fixed the failing test in a.ts." });
  const honest = replyJson([], { final: "a.ts has no test that fails." });
  for (const first of [lie, replyJson('await fs.readFile("a.ts")', { final: "Fixed, 1 passed." })]) {
    const asked = await ask("Fix the failing test", [first, honest]);
    assert.equal(asked.answer, "a.ts has no test that fails.");
    assert.match(asked.told, /^So far no file was changed and no command ran, but the answer says: "/);
  }
  const again = await ask("Fix the failing test", [lie, lie]);
  assert.deepEqual([again.answer, again.calls], ["I fixed the failing test in a.ts.", 2]);
  assert.equal((await ask("Fix the failing test", [honest])).calls, 1);
});

Deno.test("a claim is supported by a change of a file, by a command, and by the work of a sub-query", async () => {
  const final = "I fixed the failing test in a.ts.";
  const edit = `await fs.edit("a.ts", { old: "a = 1", new: "a = 2" })`;
  const supported = [
    [replyJson(edit, { final })],
    [replyJson(edit), replyJson([], { final })],
    [replyJson(`await shell.run("make", { code: 0 })`, { final })],
    [replyJson(`await rlm.run("Fix it")`), replyJson(edit, { final: "It is done: a is 2" }), replyJson([], { final })],
  ];
  for (const replies of supported) {
    const asked = await ask("Fix the failing test", replies);
    assert.deepEqual([asked.answer, asked.calls], [final, replies.length]);
  }
});

Deno.test("a report is an answer after work that succeeded, and a command alone answers no question", async () => {
  const done = replyJson([], { final: "Done." });
  const edit = replyJson(`await fs.edit("a.ts", { old: "a = 1", new: "a = 2" })`);
  const run = (code: number) => replyJson(`await shell.run("make", { code: ${code} })`);
  const tried = `try { await fs.edit("a.ts", { old: "absent", new: "x" }) } catch { "no" }`;
  const rows: readonly (readonly [string, ScriptedReply, boolean])[] = [
    ["Set a to 2", edit, true],
    ["Can you set a to 2?", edit, true],
    ["Build it", run(0), true],
    ["Build it", run(1), false],
    ["What does make print?", run(0), false],
    ["Set a to 2", replyJson('await fs.readFile("a.ts")'), false],
    ["Set a to 2", replyJson(tried), false],
  ];
  for (const [request, reply, isAnswer] of rows) {
    const { answer, calls } = await ask(request, [reply, done, replyJson([], { final: "It is 2" })]);
    assert.deepEqual([answer, calls], isAnswer ? ["Done.", 2] : ["It is 2", 3], request);
  }
});

Deno.test("an answer to a follow-up may be about earlier work", async () => {
  await withFolder(async (workspace) => {
    const final = "I fixed the failing test in a.ts.";
    const replies = [replyJson(`await fs.writeFile("a.ts", "1")`, { final }), replyJson([], { final })];
    await using engine = await startEngine(replies, { extensions: [fs], workspace });
    await engine.ask("Fix the failing test");
    assert.equal((await engine.ask("Tell me again")).answer, final);
    assert.equal(engine.provider.requests.length, 2);
  });
});

Deno.test("a claim is refused once in a later request too, in another process and on a fork, while the conversation did nothing", async () => {
  await withFolder(async (workspace) => {
    await Deno.writeTextFile(`${workspace}/a.ts`, "export const a = 1;\n");
    const lie = replyJson([], { final: "I fixed the failing test in a.ts." });
    const honest = replyJson([], { final: "a.ts has no test that fails." });
    const options = { path: `${workspace}/vis.db`, workspace, extensions: [fs, shell] };
    const refusals = (engine: Engine) =>
      engine.provider.requests.filter(({ context }) => /answer was refused: So far/.test(context));
    {
      const replies = [replyJson("1 + 1", { final: "One: a.ts" }), lie, honest];
      await using engine = await startEngine(replies, options);
      assert.deepEqual((await engine.ask("How many files are there?")).notes, []);
      const { answer, notes } = await engine.ask("Fix the failing test");
      assert.deepEqual([answer, notes], ["a.ts has no test that fails.", ["no file changed, no command ran"]]);
      assert.equal(refusals(engine).length, 1);
    }
    const run = replyJson(`await shell.run("npm test", { code: 0 })`);
    const told = replyJson([], { final: "I ran the tests in the last request: all passed." });
    const later = replyJson([], { final: "I fixed the failing test in a.ts and ran the tests." });
    await using engine = await startEngine([lie, honest, lie, honest, run, told, told, later], options);
    assert.equal((await engine.ask("Fix it anyway")).answer, "a.ts has no test that fails.");
    assert.equal(refusals(engine).length, 1);
    const [first] = await engine.conversations.queries(engine.branch);
    assert.ok(first);
    const signal = new AbortController().signal;
    const forked = await engine.conversations.ask({ queryId: first.queryId, position: 0 }, "Fix the test", {
      signal,
      emit: () => {},
    });
    assert.equal(forked.answer, "a.ts has no test that fails.");
    assert.equal(refusals(engine).length, 2);
    await engine.ask("Run the tests");
    assert.deepEqual((await engine.ask("Did you run the tests?")).notes, []);
    assert.equal(
      (await engine.ask("Fix the failing test")).answer,
      "I fixed the failing test in a.ts and ran the tests.",
    );
    assert.equal(refusals(engine).length, 2);
  });
});

Deno.test("an answer to a later request may be about a text of the conversation", async () => {
  await withFolder(async (workspace) => {
    const first = replyJson([], { final: "```ts\nfunction foo() {}\n```" });
    const final = "I renamed the function to bar.";
    await using engine = await startEngine([first, replyJson([], { final })], { workspace });
    await engine.ask("How would you write it?");
    assert.equal((await engine.ask("Rename the function")).answer, final);
    assert.equal(engine.provider.requests.length, 2);
  });
});

Deno.test("the last call accepts any answer: nothing could follow a refusal", async () => {
  await withFolder(async (workspace) => {
    const final = "I fixed the failing test in a.ts.";
    const replies = [replyJson("1"), replyJson([], { final })];
    await using engine = await startEngine(replies, { extensions: [fs], workspace, settings: { budget: 1 } });
    const { answer, reason } = await engine.ask("Fix the failing test");
    assert.deepEqual([answer, reason], [final, "max_iterations"]);
  });
});

Deno.test("an answer has the confidence that the model gave it, and none if it gave none", async () => {
  const reply = (final: object) => JSON.stringify({ final });
  assert.equal((await ask("Why?", [reply({ answer: "Because a is 1" })])).confidence, "null");
  assert.equal((await ask("Why?", [reply({ answer: "Because a is 1", confidence: "medium" })])).confidence, "medium");
  const broken = JSON.stringify({ code: [{ expr: "no()" }], final: { answer: "Because a is 1" } });
  assert.equal((await ask("Why?", [replyJson("1"), broken, broken])).confidence, "low");
});

Deno.test("the result names changed files and run commands, also when it is read again", async () => {
  await withFolder(async (workspace) => {
    await Deno.writeTextFile(`${workspace}/a.ts`, "export const a = 1;\n");
    const work =
      `await fs.edit("a.ts", { old: "a = 1", new: "a = 2" }); await shell.run("npm test", { code: 1, text: "exit code 1" })`;
    const replies = [replyJson(work), replyJson([], { final: "One test fails" })];
    await using engine = await startEngine(replies, { extensions: [fs, shell], workspace });
    const result = await engine.ask("Fix the failing test");
    const text = "1 file changed +1 −1 (a.ts), ✗ npm test (exit code 1)";
    assert.deepEqual(result.work, {
      ...{
        files: 1,
        added: 1,
        removed: 1,
        changed: "1 file changed +1 −1 (a.ts)",
        others: [],
        text,
        did: "✓ edited a.ts, ✗ ran npm test · exit code 1",
      },
      commands: [{ command: "npm test", exitCode: 1, outcome: "exit code 1" }],
    });
    assert.deepEqual(result.notes, [text]);
    assert.deepEqual((await engine.store.query(result.queryId))?.work, result.work);
  });
});

Deno.test("a forked query names the work of its iterations until the fork, with the queries below them", async () => {
  await withFolder(async (workspace) => {
    await Deno.writeTextFile(`${workspace}/a.ts`, "export const a = 1;\n");
    const replies = [
      replyJson([`await shell.run("npm test", { code: 1, text: "exit code 1" })`, `await rlm.run("Fix it")`]),
      replyJson(`await fs.edit("a.ts", { old: "a = 1", new: "a = 2" })`, { final: "a is 2" }),
      replyJson(`await fs.writeFile("b.ts", "1")`, { final: "It is fixed" }),
    ];
    await using engine = await startEngine([...replies, replyJson([], { final: "Yes" })], {
      extensions: [fs, shell, rlm],
      workspace,
    });
    const { queryId } = await engine.ask("Fix the failing test");
    const { signal } = new AbortController();
    const later = await engine.conversations.ask({ queryId, position: 0 }, "Is it good?", { signal, emit: () => {} });
    const { branchId = "" } = await engine.store.query(later.queryId) ?? {};
    const [forked] = await engine.conversations.queries(await engine.conversations.byId(branchId));
    const text = "1 file changed +1 −1 (a.ts), ✗ npm test (exit code 1)";
    assert.equal(forked?.work?.text, text);
    assert.deepEqual(forked?.notes, ["Forked after step 1", text]);
  });
});

Deno.test("a request for work that did nothing has a note below the answer, and a question has none", async () => {
  const none = "no file changed, no command ran";
  const done = replyJson([], { final: "The test is green now" });
  assert.deepEqual((await ask("Fix the failing test", [done])).notes, [none]);
  assert.deepEqual((await ask("Which test is the slowest?", [done])).notes, []);
});

Deno.test("findings of a review with missing files are refused once, and marked if the model repeats them", async () => {
  await withFolder(async (workspace) => {
    await Deno.writeTextFile(`${workspace}/a.ts`, "export const a = 1;\n");
    await Deno.writeFile(`${workspace}/logo.png`, Uint8Array.of(0x89, 0x50, 0, 1, 2, 0));
    const schema = {
      type: "object",
      properties: { findings: { type: "array", items: { type: "object" } }, summary: { type: "string" } },
    };
    const data = (file: string) => ({ findings: [{ file, line: 1, severity: "low" }], summary: "One" });
    const markdown = (file: string) => `### ${file}:1 low A fault\n\nIt is not checked.`;
    const request = "Review the uncommitted changes of this repository, staged, unstaged and untracked.";
    const given = "diff --git a/old.ts b/old.ts\n--- a/old.ts\n+++ /dev/null\n";
    const asked = async (texts: readonly string[], options: Partial<AskOptions>) => {
      const replies = texts.map((final) => replyJson([], { final }));
      await using engine = await startEngine(replies, { extensions: [fs], workspace });
      const pieces = ReadableStream.from([new TextEncoder().encode(given)]);
      const result = await engine.conversations.ask(engine.branch, request, {
        ...{ signal: new AbortController().signal, emit: () => {}, only: "review" },
        context: { pieces, label: "given", json: false, encoding: "utf-8" },
        ...options,
      });
      const calls = engine.provider.requests.length;
      const told = calls < 2 ? "" : /Your final answer was refused: (.*)/.exec(engine.context(1))?.[1] ?? "";
      return { ...result, calls, told };
    };
    for (
      const [write, options] of [
        [markdown, {}],
        [(file: string) => JSON.stringify(data(file)), { responseSchema: schema }],
      ] as const
    ) {
      const corrected = await asked([write("src/b.ts"), write("a.ts")], options);
      assert.deepEqual([corrected.calls, corrected.notes], [2, []]);
      assert.match(corrected.told, /^The workspace has no file src\/b\.ts, which a finding names; correct the path/);
      assert.match(corrected.answer, /a\.ts/);
      const repeated = await asked([write("src/b.ts"), write("src/b.ts")], options);
      assert.deepEqual([repeated.calls, repeated.notes], [2, [
        "The workspace has no file src/b.ts, which a finding names",
      ]]);
      for (const file of ["a.ts", "old.ts", "logo.png"]) {
        assert.equal((await asked([write(file)], options)).calls, 1, file);
      }
    }
    assert.equal((await asked([markdown("src/b.ts")], { only: undefined })).calls, 1, "only in a review");
  });
});
