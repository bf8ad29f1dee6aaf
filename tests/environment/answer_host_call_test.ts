import assert from "node:assert/strict";
import { CallOutput, diffsIn } from "../../src/environment/answer_host_call.ts";
import { BlockTally } from "../../src/domain/query/host_call.ts";
import type { QueryEvent } from "../../src/domain/query/query_schemas.ts";
import { type EnvironmentView, fn, z } from "../../src/extension/mod.ts";
import { startEngine } from "../helpers/engine.ts";
import { HandClock } from "../helpers/hand_clock.ts";
import { replyJson } from "../helpers/scripted_provider.ts";
import { sample } from "../extension/_sample.ts";

Deno.test("diffsIn() keeps removals and moves, which have no lines", () => {
  const diffs = ["--- a/x.ts\n+++ /dev/null\n", "--- a/x.ts\n+++ b/src/x.ts\n"];
  assert.deepEqual(diffsIn(diffs), { diffs });
  assert.deepEqual(diffsIn([]), {});
});

Deno.test("diffsIn() is bounded, since events carry it", () => {
  const large = "+line\n".repeat(10_000);
  const { diffs = [] } = diffsIn([large, large]);
  assert.deepEqual(diffs.map(({ length }) => length < 17_000), [true, true]);
  assert.match(diffs[0] ?? "", /\+line\n…\n$/);
  const many = Array.from({ length: 30 }, (_, at) => `--- a/${at}\n+++ b/${at}\n@@ -1 +1 @@\n-x\n+y\n`);
  const some = diffsIn(many).diffs ?? [];
  assert.deepEqual([some.length, some[19], some[29]], [30, many[19], "--- a/29\n+++ b/29\n…\n"]);
  const names = Array.from(
    { length: 2_000 },
    (_, at) => `--- a/${at}\n+++ b/${"n".repeat(200)}\n@@ -1 +1 @@\n`,
  );
  assert.ok((diffsIn(names).diffs ?? []).join("").length < 90_000);
});

function printing() {
  const clock = new HandClock();
  const sent: string[] = [];
  const output = new CallOutput((text) => void sent.push(text), clock);
  const print = (text: string): void => output.add(new TextEncoder().encode(text));
  const pass = async (ms: number): Promise<void> => {
    clock.pass(ms);
    await Promise.resolve();
    await Promise.resolve();
  };
  return { output, print, pass, sent };
}

Deno.test("CallOutput sends the last lines after a second, then five times a second, and nothing after the end", async () => {
  const { output, print, pass, sent } = printing();
  print("one\n");
  await pass(999);
  assert.deepEqual(sent, []);
  print("two\n");
  await pass(1);
  assert.deepEqual(sent, ["one\ntwo"]);
  await pass(10_000);
  assert.equal(sent.length, 1, "nothing new was printed");
  for (let line = 1; line <= 9; line++) print(`line ${line}\n`);
  await pass(0);
  assert.deepEqual(sent.splice(0), ["one\ntwo", "line 5\nline 6\nline 7\nline 8\nline 9"]);
  print("more\n");
  await pass(199);
  assert.deepEqual(sent, []);
  await pass(1);
  assert.equal(sent.length, 1);
  print("late\n");
  output.end();
  await pass(10_000);
  assert.equal(sent.length, 1);
});

Deno.test("CallOutput sends text as a terminal would show it, and little of it", async () => {
  const of = async (...texts: readonly string[]): Promise<string | undefined> => {
    const { print, pass, sent } = printing();
    for (const text of texts) print(text);
    await pass(1_000);
    return sent[0];
  };
  assert.equal(await of("10 %\r20 %\r30 %"), "30 %");
  assert.equal(await of("done\r\nnext\r\n"), "done\nnext");
  assert.equal(await of("\x1b[1;32mok\x1b[0m \x1b]0;title\x07here\x1b[K"), "ok here");
  const large = await of("é".repeat(10_000), "x".repeat(3_000), "\nend");
  assert.match(large ?? "", /^[éx]{150,200}…?[^]*\nend$/);
  assert.ok((large ?? "").length < 1_200);
  assert.doesNotMatch(await of("漢".repeat(3_000)) ?? "", /\ufffd/);
});

Deno.test("CallOutput sends the tests of TAP without their details", async () => {
  const { print, pass, sent } = printing();
  const shownAfter = async (text: string): Promise<string | undefined> => {
    print(text);
    await pass(1_000);
    return sent.at(-1);
  };
  const details = "  ---\n  duration_ms: 0.5\n  type: 'test'\n  ...\n";
  const failure = `  ---\n  error: |-\n    one is not two\n${"    at line\n".repeat(9)}  ...\n`;
  assert.equal(
    await shownAfter(`TAP version 13\n# Subtest: adds\nok 1 - adds\n${details}`),
    "TAP version 13\nok 1 - adds",
  );
  assert.equal(
    await shownAfter(`# Subtest: fails\nnot ok 2 - fails\n${failure}# Subtest: in a suite\n    # Subtest: waits\n`),
    "TAP version 13\nok 1 - adds\nnot ok 2 - fails\n    # Subtest: waits",
  );
  const nested = `    ok 1 - waits\n${
    details.replaceAll(/^/gm, "    ").trimEnd()
  }\n    1..1\nok 3 - in a suite\n  ---\n  duration_ms: 2`;
  assert.equal(
    await shownAfter(nested),
    "ok 1 - adds\nnot ok 2 - fails\n    ok 1 - waits\n    1..1\nok 3 - in a suite",
  );
  assert.equal(
    await shownAfter(`\n  ...\n1..3\n# tests 3\n# pass 2\n# fail 1\n# duration_ms 7\n`),
    "1..3\n# tests 3\n# pass 2\n# fail 1\n# duration_ms 7",
  );
  const tail = printing();
  tail.print(`    at line\n${"    at line\n".repeat(900)}  ...\nok 9 - after a long failure\n`);
  await tail.pass(1_000);
  assert.deepEqual(tail.sent, ["ok 9 - after a long failure"]);
});

Deno.test("CallOutput sends the lines of other output as they are", async () => {
  for (const text of ["ok  \tpkg/a\t0.5s\n---\na: 1", "a:\n  ---\n  b: 2\n  ...\nend", "ok 1 file\n---\nkept"]) {
    const { print, pass, sent } = printing();
    print(`${text}\n`);
    await pass(1_000);
    assert.deepEqual(sent, [text]);
  }
});

Deno.test("a call shows its output to observers", async () => {
  const seen = Promise.withResolvers<string>();
  const printer = sample({
    namespace: "test.printer",
    symbols: [
      fn("print", async ({ showOutput }: EnvironmentView) => {
        showOutput?.(new TextEncoder().encode("built 3 of 9\n"));
        return await seen.promise;
      }, { doc: "Prints.", untimed: true, args: z.tuple([]), returns: "string" }),
    ],
  });
  await using engine = await startEngine([replyJson("answer(await printer.print())")], { extensions: [printer] });
  const watching = await engine.conversations.ask(engine.branch, "x", {
    signal: new AbortController().signal,
    showsOutput: true,
    emit: (event) => event.type === "call_output" && seen.resolve(`${event.block}: ${event.output}`),
  });
  assert.equal(watching.answer, "0: built 3 of 9");
});

Deno.test("a call that was under way when the user cancelled counts as cancelled, not as failed", async () => {
  const waiter = sample({
    namespace: "test.waiter",
    symbols: [
      fn("wait", async ({ signal }: EnvironmentView) => {
        signal?.throwIfAborted();
        await new Promise((_, reject) => signal?.addEventListener("abort", () => reject(signal.reason)));
      }, {
        doc: "Waits.",
        untimed: true,
        action: { doing: "running", done: "ran", things: "commands", named: 0 },
        args: z.tuple([]),
        returns: "void",
      }),
    ],
  });
  await using engine = await startEngine([replyJson("await waiter.wait()")], { extensions: [waiter] });
  const controller = new AbortController();
  const ends: BlockTally[] = [];
  const { work } = await engine.conversations.ask(engine.branch, "x", {
    signal: controller.signal,
    emit: (event) => {
      if (event.type !== "host_call") return;
      if (event.phase === "start") controller.abort();
      else ends.push(BlockTally.of([event]));
    },
  });
  assert.deepEqual(ends.map(({ text }) => text), ["ran · cancelled"]);
  assert.equal(work?.text, "ran · cancelled", "it may have changed something");
});

Deno.test("the summary below the answer names a call that failed and did not succeed later", async () => {
  let refuses = true;
  const maker = sample({
    namespace: "test.maker",
    symbols: [
      fn("make", () => {
        if (refuses) throw new Error("Cannot make it: the hook lint failed");
      }, {
        doc: "Makes.",
        tellsFailure: true,
        action: { doing: "making", done: "made", things: "times", named: 0 },
        args: z.tuple([]),
        returns: "void",
      }),
    ],
  });
  const block = "try { await maker.make() } catch {}";
  const replies = [replyJson(block), replyJson([], { final: "I made it." })];
  await using engine = await startEngine([...replies, ...replies], { extensions: [maker] });
  const summary = async (): Promise<string | undefined> => {
    const { signal } = new AbortController();
    return (await engine.conversations.ask(engine.branch, "make it", { signal, emit: () => {} })).work?.text;
  };
  assert.equal(await summary(), "✗ maker.make (Cannot make it: the hook lint failed)");
  refuses = false;
  assert.equal(await summary(), "made");
});

Deno.test("the output of a cancelled call stays, for the user and for the next request", async () => {
  const builder = sample({
    namespace: "test.builder",
    symbols: [
      fn("build", async ({ signal, showOutput }: EnvironmentView) => {
        showOutput?.(new TextEncoder().encode(Array.from({ length: 30 }, (_, at) => `step ${at}\n`).join("")));
        await new Promise((_, reject) =>
          // A program ends some time after its block.
          signal?.addEventListener("abort", () => setTimeout(reject, 100, signal.reason))
        );
      }, {
        doc: "Builds.",
        untimed: true,
        action: { doing: "building", done: "built", things: "times", named: 0 },
        args: z.tuple([]),
        returns: "void",
      }),
    ],
  });
  const replies = [replyJson(["print('begun'); await builder.build()"]), replyJson([], { final: "Twelve steps ran" })];
  await using engine = await startEngine(replies, { extensions: [builder] });
  const controller = new AbortController();
  const ends: BlockTally[] = [];
  const { queryId } = await engine.conversations.ask(engine.branch, "x", {
    signal: controller.signal,
    showsOutput: true,
    emit: (event) => {
      if (event.type === "call_output") controller.abort();
      else if (event.type === "host_call" && event.phase === "end") ends.push(BlockTally.of([event]));
    },
  });
  const kept = ["…", ...Array.from({ length: 20 }, (_, at) => `step ${at + 10}`)].join("\n");
  assert.deepEqual(ends.map(({ text, output }) => [text, output]), [["built · cancelled", kept]]);
  const [{ blocks = [] } = {}] = await engine.store.iterations(queryId);
  assert.equal(blocks[0]?.result.calls[0]?.output, kept, "it is stored");
  await engine.ask("y");
  assert.match(
    engine.provider.requests.at(-1)?.context ?? "",
    /printed until then: begun\n +…\n +step 10\n[^]* step 29\n/,
  );
});

/** Its function asks the user before it does anything. */
const ASKING = sample({
  namespace: "test.asking",
  symbols: [
    fn(
      "open",
      async ({ approve }: EnvironmentView) => await approve?.({ what: "open doors", why: "", scope: "doors" }),
      {
        doc: "Opens.",
        untimed: true,
        action: { doing: "opening", done: "opened", things: "doors", named: 0 },
        args: z.tuple([]),
        returns: "unknown",
      },
    ),
  ],
});

Deno.test("the time of a call does not include the time in which its question was open", async () => {
  await using engine = await startEngine([replyJson("answer(await asking.open())")], { extensions: [ASKING] });
  const real = performance.now.bind(performance);
  const times: number[] = [];
  try {
    await engine.conversations.ask(engine.branch, "x", {
      signal: new AbortController().signal,
      emit: (event) => event.type === "host_call" && event.name === "asking.open" && times.push(event.ms ?? 0),
      approve: () => {
        performance.now = () => real() + 3_600_000; // the user took an hour
        return Promise.resolve({ decision: "once", reason: "" });
      },
    });
  } finally {
    performance.now = real;
  }
  assert.equal(times.length, 2);
  assert.ok(Math.abs(times[1]!) < 1_800_000, `${times[1]} ms`);
});

Deno.test("a call that was cancelled at its question did nothing", async () => {
  await using engine = await startEngine([replyJson("answer(await asking.open())")], { extensions: [ASKING] });
  const controller = new AbortController();
  const ends: BlockTally[] = [];
  const { work } = await engine.conversations.ask(engine.branch, "x", {
    signal: controller.signal,
    emit: (event) => event.type === "host_call" && event.phase === "end" && ends.push(BlockTally.of([event])),
    approve: (_, signal) => {
      controller.abort();
      return Promise.reject(signal.reason);
    },
  });
  assert.equal(work?.text, "");
  assert.deepEqual(ends.map(({ text, refused }) => [text, refused]), [["opening: refused", true]]);
});

Deno.test("a foreign result with a diff is no change of a file, until its function reports the change", async () => {
  const diff = "--- a/main.c\n+++ b/main.c\n@@ -1 +1 @@\n-a\n+b\n";
  const foreign = sample({
    namespace: "test.foreign",
    symbols: [
      fn("get", () => ({ diff }), { doc: "Gets.", args: z.tuple([]), returns: "object" }),
      fn("report", (env: EnvironmentView) => env.changedFile?.(diff), {
        doc: "Reports.",
        args: z.tuple([]),
        returns: "void",
      }),
    ],
  });
  for (const [call, files] of [["get", 0], ["report", 1]] as const) {
    await using engine = await startEngine([replyJson(`await foreign.${call}(); answer("done")`)], {
      extensions: [foreign],
    });
    assert.equal((await engine.ask("x")).work?.files ?? 0, files, call);
  }
});

Deno.test("the reason of a failed call stays, also if its block caught the error", async () => {
  const get = (): never => {
    throw new Error("Cannot push main:\nthe remote refuses it");
  };
  const failing = sample({
    namespace: "test.foreign",
    symbols: [fn("get", get, { doc: "Gets.", args: z.tuple([]), returns: "object" })],
  });
  await using engine = await startEngine([
    replyJson("await foreign.get().catch(() => {})", { final: "The remote refuses it" }),
  ], {
    extensions: [failing],
  });
  const ends: BlockTally[] = [];
  const emit = (event: QueryEvent): void =>
    event.type === "host_call" && event.phase === "end" ? void ends.push(BlockTally.of([event])) : undefined;
  const { queryId } = await engine.conversations.ask(engine.branch, "x", {
    signal: new AbortController().signal,
    emit,
  });
  const [row] = await engine.conversations.iterations(queryId);
  const stored = BlockTally.of(row?.blocks[0]?.result.calls ?? []);
  for (const { text, reason, output } of [...ends, stored]) {
    assert.deepEqual([text, reason, output], [
      "calling foreign.get failed",
      "Cannot push main: the remote refuses it",
      "",
    ]);
  }
});
