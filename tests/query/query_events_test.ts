import assert from "node:assert/strict";
import { z } from "zod";
import type { QueryEvent } from "../../src/domain/query/query_schemas.ts";
import { type Extension, fn } from "../../src/extension/mod.ts";
import { startEngine } from "../helpers/engine.ts";
import { replyJson } from "../helpers/scripted_provider.ts";

/** Returns the types in order, with the repeated ones of a stream as one, and with their iteration. */
function outline(events: readonly QueryEvent[]): string[] {
  return events.map(({ type, iteration }) => iteration === null ? type : `${iteration} ${type}`)
    .filter((line, at, all) => line !== all[at - 1]);
}

const clock: Extension = {
  namespace: "test.clock",
  alias: { ns: "test.clock", alias: "clock" },
  doc: "Time.",
  version: "1.0.0",
  symbols: [
    fn("now", () => 7, { doc: "Now.", args: z.tuple([]), returns: "number" }),
    fn("fail", () => {
      throw new Error("no time");
    }, { doc: "Fails.", args: z.tuple([]), returns: "number" }),
  ],
};

Deno.test("QueryEvent the events of a query come in the order in which it works", async () => {
  await using engine = await startEngine([
    replyJson(["const a = await clock.now()", "1 + 1"], { thinking: "ask the clock" }),
    "prose",
    replyJson([], { thinking: "say it", final: "It is {{a}}" }),
  ], { extensions: [clock], settings: { budget: 20 } });
  const result = await engine.ask("time?");
  assert.deepEqual(outline(engine.events), [
    ...["started", "1 iteration_started", "1 thinking", "1 code", "1 usage"],
    ...["1 block_started", "1 host_call", "1 block_finished", "1 block_started", "1 block_finished"],
    ...["1 iteration_finished", "2 iteration_started", "2 usage", "2 iteration_finished"],
    ...["3 iteration_started", "3 thinking", "3 answer_draft", "3 usage", "3 iteration_finished", "3 answer_delta"],
    "final",
  ]);
  const finished = engine.events.filter((event) => event.type === "iteration_finished");
  assert.deepEqual(finished.map(({ outcome }) => outcome), ["executed", "failed", "final"]);
  assert.match(finished[1]?.reason ?? "", /JSON|object|reply/i);
  const [first, last] = [engine.events[0], engine.events.at(-1)];
  assert.ok(first?.type === "started" && last?.type === "final");
  assert.deepEqual([first.conversationId, first.request, first.model], [
    engine.branch.conversationId,
    "time?",
    "script",
  ]);
  assert.deepEqual(last.result, result);
  assert.ok(engine.events.every(({ queryId }) => queryId === result.queryId));
});

Deno.test("QueryEvent the deltas of a stream make up the whole text", async () => {
  const code = 'const text = "a\\n\\"b\\" żółw 🐢"\ntext.length';
  await using engine = await startEngine([{
    text: replyJson([code, "2"], { thinking: "first\nsecond 🐢" }),
    chunk: 3,
  }]);
  engine.provider.push(replyJson([], { final: "That is all" }));
  await engine.ask("x");
  const first = engine.events.filter(({ iteration }) => iteration === 1);
  const thinking = first.flatMap((event) => event.type === "thinking" ? [event.delta] : []).join("");
  const block = (at: number): string =>
    first.flatMap((event) => event.type === "code" && event.block === at ? [event.delta] : []).join("");
  assert.deepEqual([thinking, block(0), block(1)], ["first\nsecond 🐢", code, "2"]);
  const started = first.flatMap((event) => event.type === "block_started" ? [[event.block, event.code]] : []);
  assert.deepEqual(started, [[0, code], [1, "2"]]);
});

Deno.test("QueryEvent native reasoning wins over the thinking of the reply", async () => {
  await using engine = await startEngine([{
    text: replyJson([], { thinking: "mine", final: "An answer" }),
    reasoning: "native",
  }]);
  await engine.ask("x");
  const thinking = engine.events.flatMap((event) => event.type === "thinking" ? [event.delta] : []);
  assert.equal(thinking.join(""), "native");
});

Deno.test("QueryEvent a host call has a start and an end, which shows whether it succeeded", async () => {
  await using engine = await startEngine([
    replyJson(["await Promise.all([clock.now(), clock.now()])", "await clock.fail()"]),
    replyJson([], { final: "That is all" }),
  ], { extensions: [clock] });
  await engine.ask("x");
  const calls = engine.events.filter((event) => event.type === "host_call");
  const of = (block: number): string[] =>
    calls.filter((call) => call.block === block).map(({ name, phase, ok }) => `${name} ${phase} ${ok ?? ""}`.trim());
  assert.deepEqual(of(0).toSorted(), [...Array(2).fill("clock.now end true"), ...Array(2).fill("clock.now start")]);
  assert.equal(of(0)[0], "clock.now start");
  assert.deepEqual(of(1), ["clock.fail start", "clock.fail end false"]);
  assert.ok(calls.every(({ phase, ms }) => phase === "start" ? ms === undefined : typeof ms === "number"));
});

Deno.test("QueryEvent an answer is a draft until it is accepted, and a refused one stays a draft", async () => {
  await using engine = await startEngine([
    replyJson("throw new Error('no')", { final: "Too early" }),
    replyJson([], { final: "In time" }),
  ]);
  await engine.ask("x");
  const deltas = engine.events.flatMap((event) => event.type === "answer_delta" ? [event.delta] : []);
  assert.deepEqual(deltas, ["In time"]);
  const drafts = (iteration: number): string =>
    engine.events.flatMap((event) =>
      event.type === "answer_draft" && event.iteration === iteration ? [event.delta] : []
    ).join("");
  assert.deepEqual([drafts(1), drafts(2)], ["Too early", "In time"]);
  const outcomes = engine.events.flatMap((event) => event.type === "iteration_finished" ? [event.outcome] : []);
  assert.deepEqual(outcomes, ["failed", "final"]);
});

Deno.test("QueryEvent a failing query ends with failed, and a cancelled one with cancelled", async () => {
  await using failing = await startEngine(Array(3).fill(replyJson("1")), { settings: { budget: 1 } });
  const failed = await failing.ask("x");
  assert.deepEqual(failing.events.at(-1), {
    ...failing.events.at(-1),
    type: "failed",
    iteration: null,
    result: failed,
  });

  const controller = new AbortController();
  await using stopping = await startEngine([replyJson("await new Promise(() => {})")]);
  const running = stopping.ask("x", { signal: controller.signal });
  while (!stopping.events.some(({ type }) => type === "block_started")) await new Promise((go) => setTimeout(go, 2));
  controller.abort();
  const cancelled = await running;
  assert.deepEqual(outline(stopping.events).slice(-2), ["1 block_finished", "cancelled"]);
  const last = stopping.events.at(-1);
  assert.ok(last?.type === "cancelled");
  assert.deepEqual(last.result, cancelled);
});

Deno.test("QueryEvent a nudge is an event of the iteration that shows it", async () => {
  await using engine = await startEngine([replyJson("1"), replyJson("2"), replyJson([], { final: "That is all" })], {
    settings: { budget: 3 },
  });
  await engine.ask("x");
  const nudge = engine.events.find(({ type }) => type === "nudge");
  assert.ok(nudge?.type === "nudge" && nudge.lines.length > 0);
  const context = engine.context((nudge.iteration ?? 0) - 1);
  for (const line of nudge.lines) assert.ok(context.includes(line), line);
});

Deno.test("QueryEvent a channel that throws does not disturb the query", async () => {
  await using engine = await startEngine([replyJson("const n = 1", { final: "{{n}}" })]);
  const result = await engine.conversations.ask(engine.branch, "x", {
    signal: new AbortController().signal,
    emit: () => {
      throw new Error("the screen is gone");
    },
  });
  assert.deepEqual([result.status, result.answer], ["done", "1"]);
});
