import assert from "node:assert/strict";
import fs from "../../extensions/fs/mod.ts";
import rlm from "../../extensions/rlm/mod.ts";
import { SessionUpdates } from "../../src/channels/acp/session_updates.ts";
import { conversationText } from "../../src/channels/cli/commands/show_conversation.ts";
import { Progress, Trace } from "../../src/channels/cli/query_command.ts";
import { progressView } from "../../src/channels/telegram/answer_messages.ts";
import { StepEntry, storedStep } from "../../src/channels/tui/entries/step_entry.ts";
import { DEFAULT_PREFS } from "../../src/channels/tui/prefs.ts";
import { makeTheme } from "../../src/channels/tui/text/theme.ts";
import { storedEvents } from "../../src/conversation/stored_events.ts";
import { callsText } from "../../src/domain/query/host_call.ts";
import { blockLine, QueryProgress, type StepBlock } from "../../src/domain/query/query_progress.ts";
import type { QueryEvent } from "../../src/domain/query/query_schemas.ts";
import { defineExtension, fn, z } from "../../src/extension/mod.ts";
import { LiveStep } from "../../src/page/store/turn.ts";
import { fakeIo } from "../channels/cli/_fakes.ts";
import { madeText } from "../helpers/archive_of.ts";
import { startEngine } from "../helpers/engine.ts";
import { replyJson } from "../helpers/scripted_provider.ts";
import { withFolder } from "../helpers/with_folder.ts";

const commands = defineExtension({
  namespace: "test.commands",
  alias: { ns: "test.commands", alias: "commands" },
  doc: "Commands.",
  version: "1.0.0",
  symbols: [
    fn("run", (_env, command: string) => ({ output: command.slice(5) }), {
      doc: "Runs.",
      args: z.tuple([z.string()]),
      returns: "{output}",
      action: { doing: "running", done: "ran", things: "commands" },
      outcome: ({ output }: { readonly output: string }) => output,
    }),
    fn("fail", (_env, output: string) => ({ output }), {
      doc: "Fails.",
      args: z.tuple([z.string()]),
      returns: "{output}",
      action: { doing: "running", done: "ran", things: "commands" },
      outcome: ({ output }: { readonly output: string }) => ({ text: "exit code 1", ok: false, output }),
    }),
    fn("quiet", () => 1, { doc: "Says nothing.", args: z.tuple([]), returns: "number" }),
  ],
});

Deno.test("an observer reads the work of each block: files, commands and their results, else its code", async () => {
  await withFolder(async (workspace) => {
    for (const name of ["a.ts", "b.ts"]) await Deno.writeTextFile(`${workspace}/${name}`, "one\n");
    await using engine = await startEngine([
      replyJson([
        'const all = await fs.readFiles("*.ts"); await fs.edit("a.ts", { old: "one", new: "two" })',
        'await commands.run("echo 12 passed"); await commands.quiet()',
        "all.length + 1",
        'await fs.readFile("none.ts")',
        "await vars()",
      ]),
      replyJson([], { final: "All was read: {{all.length}}" }),
    ], { extensions: [fs, commands], workspace });
    const progress = new QueryProgress();
    const blocks: (readonly StepBlock[])[] = [];
    const doing: string[] = [];
    await engine.ask("Look");
    for (const event of engine.events) {
      progress.take(event);
      if (event.type === "host_call" && event.phase === "start") doing.push(progress.doing);
      if (event.type === "iteration_finished") blocks.push(progress.step?.blocks ?? []);
    }
    assert.deepEqual(blocks[0]?.map((block) => callsText(blockLine(block).lines)), [
      "read *.ts · 2 files, edited a.ts",
      "ran echo 12 passed · 12 passed, called commands.quiet",
      "all.length + 1 → 3",
      "✗ reading none.ts failed",
      callsText(blockLine(blocks[0]?.[4] ?? assert.fail()).lines),
    ]);
    assert.match(callsText(blockLine(blocks[0]?.[4] ?? assert.fail()).lines), /^await vars\(\) → /);
    assert.deepEqual(doing, [
      "reading *.ts",
      "editing a.ts",
      "running echo 12 passed",
      "calling commands.quiet",
      "reading none.ts",
      "running code",
    ]);
  });
});

const FAILING = [
  'await commands.fail("1 test failed\\nin a_test.ts\\u001b[31m")',
  'const found = await fs.readFile("none.ts").catch(() => null)',
  'await fs.edit("a.ts", { old: "one", new: "two" })',
  'for (let n = 0; n < 120; n++) await fs.readFile("f" + n + ".ts")',
];

async function writeFiles(workspace: string): Promise<void> {
  await Deno.writeTextFile(`${workspace}/a.ts`, "one\n");
  for (let n = 0; n < 120; n++) await Deno.writeTextFile(`${workspace}/f${n}.ts`, "one\n");
}

Deno.test("a call that failed is marked, with the end of its output, although its block had a result", async () => {
  await withFolder(async (workspace) => {
    await writeFiles(workspace);
    await using engine = await startEngine([replyJson(FAILING), replyJson([], { final: "All was read" })], {
      extensions: [fs, commands],
      workspace,
    });
    const progress = new QueryProgress();
    let blocks: readonly StepBlock[] = [];
    await engine.ask("Look");
    for (const event of engine.events) {
      progress.take(event);
      if (event.type === "iteration_finished" && event.iteration === 1) blocks = progress.step?.blocks ?? [];
    }
    assert.deepEqual(
      blocks.map((block) => [callsText(blockLine(block).lines), blockLine(block).ok, block.result?.ok]),
      [
        ["✗ ran 1 test failed in a_test.ts\\u001b[31m · exit code 1", false, true],
        ["✗ reading none.ts failed", false, true],
        ["edited a.ts", true, true],
        ["read 120 files", true, true],
      ],
    );
    assert.equal(blocks[0]?.tally.output, "1 test failed\nin a_test.ts");
  });
});

Deno.test("a conversation that is opened again looks as it did live, and an import of it too", async () => {
  await withFolder(async (workspace) => {
    await writeFiles(workspace);
    await using engine = await startEngine([replyJson(FAILING), replyJson([], { final: "All was read" })], {
      extensions: [fs, commands],
      workspace,
    });
    await engine.ask("Look");
    const { conversations } = engine;
    const drawn = (step: ConstructorParameters<typeof StepEntry>[0]): string => {
      const theme = makeTheme({ color: false, dark: null });
      return new StepEntry(
        { ...step, ms: 0 },
        () => ({ theme, prefs: DEFAULT_PREFS, whole: false, undone: new Set<string>() }),
      ).lines(100)
        .join("\n");
    };
    const events: readonly QueryEvent[] = engine.events;
    const progress = new QueryProgress();
    let live = "";
    for (const event of events) {
      progress.take(event);
      if (event.type === "iteration_finished" && event.iteration === 1 && progress.step) live = drawn(progress.step);
    }
    assert.match(live, /✗ ran 1 test failed[^]*✗ reading none\.ts failed[^]*- one[^]*\+ two[^]*✓ read 120 files/);

    const { branch } = engine;
    const text = await madeText(branch, { conversations, format: "json" });
    const { ids } = await conversations.records.import(text, { workspace, trust: () => Promise.resolve() });
    const copy = await engine.store.findConversation(ids.get(branch.branchId) ?? "none");
    for (const shown of [branch, copy ?? assert.fail()]) {
      const [query] = await conversations.queries(shown);
      const iterations = await conversations.iterations(query?.queryId ?? assert.fail());
      assert.equal(drawn(storedStep(iterations[0] ?? assert.fail())), live);
      const again = new QueryProgress();
      const rebuilt = storedEvents(query ?? assert.fail(), iterations);
      for (const event of rebuilt) {
        again.take(event);
        if (event.type === "iteration_finished" && event.iteration === 1 && again.step) {
          assert.equal(drawn(again.step), live);
        }
      }
      for (const format of ["md", "html"] as const) {
        const page = await madeText(shown, { conversations, format });
        assert.match(page, /✗ ran 1 test failed in a.*exit code 1[^]*✗ reading none\.ts failed[^]*\+two/);
      }
    }
  });
});

Deno.test("a command that fails is marked as failed on every surface while it runs", async () => {
  await withFolder(async (workspace) => {
    const replies = [replyJson('await commands.fail("1 test failed")'), replyJson([], { final: "It was tried" })];
    await using engine = await startEngine(replies, { extensions: [commands], workspace });
    await engine.ask("Try");
    const events = engine.events.filter(({ iteration }) => iteration === null || iteration === 1);
    const run = (verbose: boolean): string => {
      const io = fakeIo();
      const progress = new Progress(io, { verbose });
      for (const event of events) progress.show(event);
      return io.err;
    };
    assert.match(run(false), /✗ ran 1 test failed · exit code 1 .*\n +1 test failed\n/);
    assert.match(run(true), /✗ ran 1 test failed · exit code 1\n +1 test failed\n/);
    const lines: string[] = [];
    const trace = new Trace({ stderrColor: false }, (line) => lines.push(line));
    for (const event of events) trace.show(event);
    assert.match(lines.join("\n"), /commands\.fail ✗ \d+ ms · exit code 1/);
    const updates = new SessionUpdates(workspace);
    const last = events.flatMap((event) => updates.take(event) ?? []).at(-1);
    assert.ok(last?.sessionUpdate === "tool_call_update");
    assert.deepEqual([last.status, last.title], ["failed", "✗ ran 1 test failed · exit code 1"]);
    assert.match(JSON.stringify(last.content?.[0]), /ran 1 test failed · exit code 1\\n1 test failed/);
    const progress = new QueryProgress();
    let live: LiveStep | null = null;
    for (const event of events.slice(0, -2)) {
      progress.take(event);
      if (progress.step !== null) (live ??= new LiveStep(progress.step)).take(event, progress);
    }
    assert.match(progressView(progress, 1_000), /\n✗ ran 1 test failed · exit code 1/);
    assert.deepEqual(live?.shown.blocks.map(({ tally }) => [tally.failed, tally.output]), [[true, "1 test failed"]]);
  });
});

Deno.test("a block with calls that succeeded and failed has a line for each mark on every surface", async () => {
  await withFolder(async (workspace) => {
    const replies = [
      replyJson('await commands.run("echo ok"); await commands.fail("1 test failed")'),
      replyJson('await commands.run("echo ok"); throw new TypeError("no")'),
      replyJson([], { final: "It was tried" }),
    ];
    await using engine = await startEngine(replies, { extensions: [commands], workspace });
    const { work } = await engine.ask("Try");
    assert.equal(work?.did, "✓ ran echo ok, ✗ ran 1 test failed · exit code 1");
    const { conversations, branch } = engine;
    const failed = /✓ ran echo ok[^✗]*\n[^✗]*✗ ran 1 test failed · exit code 1 \(\d+ ms\)\n/;
    const threw = /✓ ran echo ok[^✗]*\n[^✗]*✗ TypeError: no \(\d+ ms\)\n/;
    const shown = conversationText(await conversations.recording(branch), { first: 1 });
    for (const text of [shown, await madeText(branch, { conversations, format: "md" })]) {
      assert.match(text, failed);
      assert.match(text, threw);
    }
    assert.match(
      await madeText(branch, { conversations, format: "html" }),
      /<p class="end ok">✓ ran echo ok · .*<\/p><p class="end bad">✗ ran 1 test failed · exit code 1 <small>\d+ ms/,
    );
    const updates = new SessionUpdates(workspace);
    const titles = engine.events.flatMap((event) => {
      const update = updates.take(event);
      return update?.sessionUpdate === "tool_call_update" ? [update.title ?? ""] : [];
    });
    assert.match(titles[0] ?? "", /^✓ ran echo ok.*, ✗ ran 1 test failed · exit code 1$/);
    const progress = new QueryProgress();
    const views = engine.events.map((event) => {
      progress.take(event);
      return progressView(progress, 0);
    });
    assert.ok(views.some((view) => view.endsWith("\n✗ ran 1 test failed · exit code 1")));
    assert.ok(views.some((view) => view.endsWith("\n✗ TypeError: no")));
  });
});

Deno.test("sub-queries of a step are shown again, also without an answer", async () => {
  await using engine = await startEngine([
    replyJson(
      'const both = [await rlm.run("Say one"), await rlm.run("Say nothing", {maxIterations: 1}).catch(String)]',
    ),
    replyJson([], { final: "One" }),
    ...Array.from({ length: 3 }, () => replyJson(["const x = 1"])),
    replyJson([], { final: "It was tried: {{both.length}}" }),
  ], { extensions: [rlm] });
  await engine.ask("Delegate");
  const progress = new QueryProgress();
  let live: unknown[] = [];
  for (const event of engine.events) {
    progress.take(event);
    if (event.type === "iteration_finished" && event.parentQueryId === undefined && event.iteration === 1) {
      live = [...progress.step?.children ?? []];
    }
  }
  const [query] = await engine.conversations.queries(engine.branch);
  const [first] = await engine.conversations.iterations(query?.queryId ?? assert.fail());
  assert.equal(live.length, 2);
  assert.deepEqual(storedStep(first ?? assert.fail()).children, live);
  assert.deepEqual(storedStep(first ?? assert.fail()).children.map(({ task, done }) => [task, done?.ok]), [
    ["Say one", true],
    ["Say nothing", false],
  ]);
});
