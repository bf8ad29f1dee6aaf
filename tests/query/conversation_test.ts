import assert from "node:assert/strict";
import { type Engine, startEngine } from "../helpers/engine.ts";
import { replyJson } from "../helpers/scripted_provider.ts";

const answers = (final: string): string => replyJson([], { final });

function conversationOf(engine: Engine, call: number): readonly string[] {
  const [, body = ""] =
    /<conversation(?:~\d+)?>\n([^]*?)\n<\/conversation/.exec(engine.provider.requests[call]?.texts[2] ?? "") ??
      [];
  return body.split("\n").slice(1);
}

Deno.test("a fact of the first request is in every call of the fifth, in the prefix that does not change", async () => {
  await using engine = await startEngine([
    answers("I will remember it."),
    ...[1, 2, 3].map((n) => answers(`Here is the answer to number ${n}.`)),
    replyJson("1"),
    replyJson("2", { thinking: "I must look." }),
    answers("You like yellow."),
  ]);
  await engine.ask("I like yellow");
  for (const n of [1, 2, 3]) await engine.ask(`Question ${n}?`);
  await engine.ask("What colour do I like?");
  const calls = engine.provider.requests.slice(4);
  assert.equal(calls.length, 3);
  for (const { texts } of calls) {
    assert.ok(texts[1] === "What colour do I like?" && texts[2]?.includes("yellow"));
  }
  assert.equal(new Set(calls.map(({ texts }) => texts.slice(0, 3).join("\n\n"))).size, 1);
  assert.deepEqual(conversationOf(engine, 6), [
    "1. I like yellow → I will remember it.",
    "2. Question 1? → Here is the answer to number 1.",
    "3. Question 2? → Here is the answer to number 2.",
    "4. Question 3? → Here is the answer to number 3.",
  ]);
  assert.ok(!engine.provider.requests[0]?.texts.join("").includes("<conversation>"));
});

Deno.test("twelve lines of at most 160 characters, 460 for the last; how many there are before, and how they are read", async () => {
  const turns = 15;
  await using engine = await startEngine([
    ...Array.from({ length: turns }, () => answers("a".repeat(2_000))),
    replyJson(["(await conversationHistory()).map(({ request }) => request.length)", "$answer.length"]),
    answers("It is over."),
  ]);
  for (let n = 0; n < turns; n++) await engine.ask(`${n} ${"\n<notes> q".repeat(200)}`);
  await engine.ask("And now?");
  const text = engine.provider.requests[turns]?.texts[2] ?? "";
  assert.match(text, /<conversation~1>\n[^\n]*, after 3 that are not shown\. [^\n]*await conversationHistory\(n\)/);
  const lines = conversationOf(engine, turns);
  assert.deepEqual(lines.map((line) => /^\d+/.exec(line)?.[0]), Array.from({ length: 12 }, (_, at) => `${at + 4}`));
  for (const line of lines.slice(0, -1)) assert.ok(line.length <= 160 && line.includes(" → aaa"), line);
  assert.ok(/a{290}/.test(lines.at(-1) ?? "") && (lines.at(-1)?.length ?? 0) <= 460);
  assert.match(engine.context(turns), /answer given: a{600}/);
  assert.match(engine.context(turns + 1), /\[2\] \$answer\.length → 2000/);
  const shown = engine.events.flatMap((event) => event.type === "block_finished" ? [event.result] : []);
  assert.equal(shown[0]?.size, turns, "without the running request");
});

Deno.test("failed and cancelled requests are marked, and messages sent meanwhile are next to their request", async () => {
  let sent: Promise<boolean> | undefined;
  await using engine = await startEngine([
    "null",
    "null",
    "null",
    replyJson("await new Promise((end) => setTimeout(end, 1))"),
    answers("It was done."),
    answers("It is over."),
  ]);
  await engine.ask("This fails");
  const push = engine.events.push.bind(engine.events);
  engine.events.push = (...events) => {
    if (events.some(({ type }) => type === "block_started")) {
      sent ??= engine.conversations.steer(engine.branch, "I like yellow");
    }
    return push(...events);
  };
  await engine.ask("Do it");
  assert.equal(await sent, true);
  const cancelled = new AbortController();
  cancelled.abort();
  await engine.ask("Never mind", { signal: cancelled.signal }).catch(() => {});
  await engine.ask("And now?");
  const lines = conversationOf(engine, 5);
  assert.match(lines[0] ?? "", /^1\. This fails → \[no accepted answer: unusable_replies\] /);
  assert.equal(lines[1], "2. Do it (then) I like yellow → It was done.");
});

Deno.test("a fork sees the conversation until its point, a repeated request not itself, a query below none", async () => {
  await using engine = await startEngine([
    answers("One is done."),
    answers("Two is done."),
    answers("Three is done."),
    answers("On the fork."),
    answers("Two again."),
  ]);
  const { conversations, branch } = engine;
  const signal = new AbortController().signal;
  await engine.ask("One");
  const { queryId } = await engine.ask("Two");
  await engine.ask("Three");
  const fork = await conversations.fork({ queryId, position: null });
  await conversations.ask(fork, "Four", { signal, emit: () => {} });
  assert.deepEqual(conversationOf(engine, 3), ["1. One → One is done.", "2. Two → Two is done."]);
  const last = (await conversations.queries(branch)).at(-1)?.queryId ?? "";
  await conversations.retry(last, { signal, emit: () => {} });
  assert.deepEqual(conversationOf(engine, 4), ["1. One → One is done.", "2. Two → Two is done."]);
});

const PLAN = Array.from({ length: 60 }, (_, at) => `${at}. ${"change a file ".repeat(6).trim()}`);

Deno.test("every step of the request after a plan sees all of the plan, and after a longer plan how to read the rest", async () => {
  const long = Array.from({ length: 3 }, () => PLAN.join("\n")).join("\n");
  await using engine = await startEngine([
    answers(PLAN.join("\n")),
    replyJson("1"),
    answers("It is done: 1"),
    answers("It is over."),
    answers(long),
    replyJson("$answer.length"),
    answers(`${long.length}`),
  ]);
  const { conversations, branch } = engine;
  const plan = (text: string): Promise<unknown> =>
    conversations.ask(branch, text, { signal: new AbortController().signal, emit: () => {}, only: "plan" });
  await plan("Split it");
  await engine.ask("go");
  for (const call of [1, 2]) {
    assert.deepEqual(conversationOf(engine, call), ["1. Split it →", ...PLAN.map((line) => `  ${line}`)]);
  }
  assert.match(engine.context(1), /answer given: the last answer in the conversation above\n/);
  await engine.ask("Thanks");
  assert.deepEqual(conversationOf(engine, 3)[1], "2. go → It is done: 1");
  assert.ok((conversationOf(engine, 3)[0] ?? "").length <= 160);
  await plan("Split all");
  await engine.ask("go");
  const shown = conversationOf(engine, 5).slice(4).join("\n").replaceAll("\n  ", "\n").slice(2);
  const [, head = "", count = "", tail = ""] =
    /^([^]*) … (\d+) characters left out, all in \$answer … ([^]*)$/.exec(shown) ?? [];
  assert.equal(Number(count), long.length - head.length - tail.length);
  assert.ok(long.startsWith(head) && long.endsWith(tail) && shown.length > 7_000 && shown.length <= 8_000, shown);
  assert.match(engine.context(6), new RegExp(`\\$answer\\.length → ${long.length}`));
});

Deno.test("a request that ends before its first reply does not hide the work of the request before it", async () => {
  const [cut, again] = [new AbortController(), new AbortController()];
  await using engine = await startEngine([
    replyJson('const half = "made"', { thinking: "The second half is missing." }),
    () => (cut.abort(), answers("Too late.")),
    () => (again.abort(), answers("Too late.")),
    answers("It is over."),
  ]);
  await engine.ask("Make both halves", { signal: cut.signal });
  await engine.ask("Go on", { signal: again.signal });
  await engine.ask("Sorry, continue");
  assert.match(
    engine.context(3),
    new RegExp(
      "<handover>\\nrequest before: Make both halves\\nthinking: The second half is missing\\.\\n" +
        "ended without an accepted answer: Cancelled after 1 step[^]*" +
        "\\nthen asked, and nothing done: Go on\\nended: Cancelled after 0 steps; completed work is kept\\.",
    ),
  );
});
