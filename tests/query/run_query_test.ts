import assert from "node:assert/strict";
import { ConfigError, ProviderError } from "../../src/domain/errors.ts";
import { startEngine } from "../helpers/engine.ts";
import { final, replyJson } from "../helpers/scripted_provider.ts";

Deno.test("runQuery() answers from a variable that a block made", async () => {
  await using engine = await startEngine([
    replyJson("const n = [1, 2, 3].reduce((a, b) => a + b, 0)"),
    replyJson([], { final: "The sum is {{n}}" }),
  ]);
  const result = await engine.ask("sum of 1, 2 and 3?");
  assert.equal(result.answer, "The sum is 6");
  assert.deepEqual([result.status, result.reason, result.iterations], ["done", "answered", 2]);
  assert.match(engine.context(1), /<journal>[\s\S]*6[\s\S]*<\/journal>/);
  assert.match(engine.context(1), /const n = 6/);
  assert.equal(engine.events.at(-1)?.type, "final");
  assert.deepEqual(engine.events.map((event) => event.seq), engine.events.map((_, at) => at + 1));
});

Deno.test("runQuery() answers in one reply when the block and the final come together", async () => {
  await using engine = await startEngine([replyJson("const n = 6 * 7", { final: "{{n}}" })]);
  assert.equal((await engine.ask("6 × 7?")).answer, "42");
});

Deno.test("runQuery() sends the same first three messages in every call of a query", async () => {
  await using engine = await startEngine([
    replyJson("const a = 1", { thinking: "one" }),
    replyJson("throw new Error('no')"),
    replyJson([], { final: "done: {{a}}" }),
  ]);
  await engine.ask("count");
  const [first, ...others] = engine.provider.requests.map(({ texts }) => JSON.stringify(texts.slice(0, 3)));
  assert.equal(others.length, 2);
  for (const other of others) assert.equal(other, first);
});

Deno.test("runQuery() runs a reply of named fences as blocks without a note of a repair", async () => {
  await using engine = await startEngine([
    "Count first.\n```ts\nconst n = 20 + 1\n```\nThen double it.\n```ts\nconst twice = 2 * n\n```\n",
    "```\nconst plain = twice\n```",
    "```typescript\nawait answer(String(plain))\n```",
  ]);
  assert.equal((await engine.ask("go")).answer, "42");
  assert.doesNotMatch(engine.context(1), /repaired/);
  assert.match(engine.context(1), /Count first\.[^]*Then double it\./);
  assert.match(engine.context(2), /took fenced code as blocks/);
});

Deno.test("runQuery() shows in the next call why a reply in prose could not be used", async () => {
  await using engine = await startEngine(["I am sure it is fine.", replyJson("1 + 1", { final: "It is 2." })]);
  const result = await engine.ask("1 + 1?");
  assert.equal(result.status, "done");
  assert.match(engine.context(1), /<notes>[\s\S]*no usable reply[\s\S]*<\/notes>/);
  const stored = await engine.store.iterations(result.queryId);
  assert.deepEqual(stored.map(({ status }) => status), ["error", "done"]);
  assert.equal(stored[0]?.response, "I am sure it is fine.");
});

Deno.test("runQuery() reads a reply whose JSON is cut off", async () => {
  await using engine = await startEngine(['{"thinking":"x","code":[{"expr":"const k = 5"']);
  engine.provider.push(replyJson([], { final: "{{k}}" }));
  assert.equal((await engine.ask("five?")).answer, "5");
});

Deno.test("runQuery() ends a model that never finishes with its best answer and reason max_iterations", async () => {
  await using engine = await startEngine([
    ...["1", "2", "3", "4"].map((code) => replyJson(`const v${code} = ${code}`, { thinking: `step ${code}` })),
    replyJson([], { final: "Got as far as {{v4}}" }),
  ]);
  const result = await engine.ask("loop");
  assert.deepEqual([result.status, result.reason], ["error", "max_iterations"]);
  assert.equal(result.answer, "Got as far as 4");
  assert.match(engine.context(4), /last call/);
  assert.equal(engine.provider.remaining, 0);
});

Deno.test("runQuery() composes an answer when the last call gives none", async () => {
  await using engine = await startEngine([
    ...["1", "2", "3", "4"].map((code) => replyJson(`const v${code} = ${code}`, { thinking: `step ${code}` })),
    "no object here",
  ]);
  const result = await engine.ask("loop");
  assert.equal(result.reason, "max_iterations");
  assert.match(result.answer, /budget of 4 steps[\s\S]*step 4[\s\S]*Continue with 10 more steps, or/);
});

Deno.test("runQuery() lets requestMoreIterations() extend the budget, up to the ceiling", async () => {
  await using engine = await startEngine([
    replyJson("await requestMoreIterations(10)"),
    ...Array.from({ length: 5 }, (_, at) => replyJson(`const w${at} = ${at}`)),
    replyJson([], { final: "{{w4}}" }),
  ], { settings: { ceiling: 7 } });
  const result = await engine.ask("long");
  assert.deepEqual([result.answer, result.iterations], ["4", 7]);
  assert.match(engine.context(1), /granted: 3, budget: 7/);
  assert.match(engine.context(1), /^\[iter 2\/7\]/);
});

Deno.test("runQuery() extends the budget while blocks bring something new, before the model sees its end", async () => {
  await using engine = await startEngine([
    ...Array.from({ length: 10 }, (_, at) => replyJson(`const part${at} = ${at} * 10`)),
    replyJson([], { final: "{{part9}}" }),
  ], { settings: { ceiling: 40, extending: true } });
  const result = await engine.ask("long");
  assert.deepEqual([result.reason, result.answer, result.iterations], ["answered", "90", 11]);
  const headers = [1, 2, 3, 6, 10].map((call) => engine.context(call).split("\n", 1)[0]);
  assert.deepEqual(headers, ["[iter 2/4]", "[iter 3/8]", "[iter 4/8]", "[iter 7/12]", "[iter 11/16]"]);
  for (let call = 0; call <= 10; call++) assert.doesNotMatch(engine.context(call), /left after this one/);
});

Deno.test("runQuery() extends no budget for repetitions, errors and replies without blocks, and none above its ceiling", async () => {
  const settings = { ceiling: 40, extending: true };
  for (const code of ["1 + 1", "throw new Error('no')"]) {
    await using engine = await startEngine([...Array(4).fill(replyJson(["1 + 1", code])), "no object"], { settings });
    const { reason, iterations } = await engine.ask("again");
    assert.deepEqual([reason, iterations], ["max_iterations", 5], code);
    assert.match(engine.context(3), /No iteration is left after this one\. Blocks with new results add more/);
  }
  await using engine = await startEngine([
    ...Array.from({ length: 9 }, (_, at) => replyJson(`const part${at} = ${at} * 10`)),
    replyJson([], { final: "{{part8}} so far" }),
  ], { settings: { ceiling: 9, extending: true } });
  const { reason, answer } = await engine.ask("long");
  assert.deepEqual([reason, answer], ["max_iterations", "80 so far"]);
  assert.match(engine.context(8), /^\[iter 9\/9\]/);
  assert.match(engine.context(8), /No iteration is left after this one\. The budget is at its ceiling/);
});

Deno.test("runQuery() extends no budget for reading the same lines again in other pieces", async () => {
  const source = "Array.from({ length: 80 }, (_, at) => `const value${at} = compute(${at});`)";
  await using engine = await startEngine([
    replyJson(`const lines = ${source}; lines.join("\\n")`),
    ...Array.from({ length: 30 }, (_, at) => replyJson(`lines.slice(${at}, ${at + 40}).join("\\n")`)),
  ], { settings: { ceiling: 40, extending: true } });
  const { reason, iterations } = await engine.ask("Read it");
  assert.deepEqual([reason, iterations], ["max_iterations", 5]);
  assert.doesNotMatch(engine.context(1), /only what was shown before/);
  assert.match(engine.context(2), /\[system_nudge\] Your last blocks showed only what was shown before/);
});

Deno.test("runQuery() extends a budget that was almost used up by failures once blocks bring something new", async () => {
  await using engine = await startEngine([
    ...Array(3).fill(replyJson("1 + 1")),
    ...Array.from({ length: 4 }, (_, at) => replyJson(`const part${at} = ${at} * 10`)),
    replyJson([], { final: "{{part3}}" }),
  ], { settings: { ceiling: 40, extending: true } });
  assert.deepEqual([(await engine.ask("long")).answer, engine.context(4).slice(0, 10)], ["30", "[iter 5/8]"]);
});

Deno.test("runQuery() shows why a final was refused, also when blocks ran", async () => {
  await using engine = await startEngine([
    replyJson(["const ok = 1", "throw new Error('broken')"], { final: "All good" }),
    replyJson("const fixed = 2", { final: "{{fixed}}" }),
  ]);
  const result = await engine.ask("try");
  assert.equal(result.answer, "2");
  assert.match(engine.context(1), /refused[\s\S]*broken/);
  assert.match(engine.context(1), /<journal>[\s\S]*const ok = 1/);
});

Deno.test("answer() in a block finishes the query and a later exception does not undo it", async () => {
  await using engine = await startEngine([
    replyJson(['await answer({ rows: [1, 2] }, { type: "text" }); throw new Error("late")']),
  ]);
  const result = await engine.ask("rows");
  assert.deepEqual([result.status, JSON.parse(result.answer)], ["done", { rows: [1, 2] }]);
});

Deno.test("answer() the first one of a reply wins", async () => {
  await using engine = await startEngine([
    replyJson(["await answer('one')", "await answer('two')"], { final: "three" }),
  ]);
  assert.equal((await engine.ask("which")).answer, "one");
});

Deno.test("runQuery() restarts after five errors in a row and gives up after three restarts", async () => {
  const fails = Array.from({ length: 20 }, (_, at) => replyJson(`throw new Error("fault ${at}")`));
  await using engine = await startEngine([...fails, replyJson([], { final: "best I have" })], {
    settings: { budget: 20 },
  });
  const result = await engine.ask("fail");
  assert.deepEqual([result.status, result.reason, result.answer], ["error", "error_budget", "best I have"]);
  assert.match(engine.context(5), /another approach[\s\S]*fault 0[\s\S]*fault 2/);
  assert.doesNotMatch(engine.context(5), /<journal>/);
  assert.equal(engine.provider.requests.length, 21);
});

Deno.test("runQuery() ends with reason provider when the key is refused, with the provider's words", async () => {
  const error = new ProviderError("The server refused the key: check VIS_API_KEY", { code: "auth", retryable: false });
  await using engine = await startEngine([error]);
  const result = await engine.ask("hi");
  assert.deepEqual([result.status, result.reason], ["error", "provider"]);
  assert.match(result.answer, /VIS_API_KEY/);
  assert.equal((await engine.store.query(result.queryId))?.status, "error");
});

Deno.test("runQuery() feeds a refused call back and continues", async () => {
  const error = new ProviderError("The provider refused: too rude", { code: "refused", retryable: false });
  await using engine = await startEngine([error, replyJson([], { final: "Sorry for that" })]);
  assert.equal((await engine.ask("hi")).answer, "Sorry for that");
  assert.match(engine.context(1), /too rude/);
});

Deno.test("runQuery() ends when the same call error comes three times in a row", async () => {
  const error = new ProviderError("The server refused the request: bad field", {
    code: "server",
    retryable: false,
    status: 400,
  });
  await using engine = await startEngine([error, error, error, replyJson([], { final: "too late" })]);
  const result = await engine.ask("hi");
  assert.deepEqual([result.reason, engine.provider.requests.length], ["provider", 3]);
  assert.match(result.answer, /bad field/);
  assert.match(engine.context(1), /bad field/);
});

Deno.test("runQuery() keeps finished work when it is cancelled during a model call", async () => {
  const controller = new AbortController();
  await using engine = await startEngine([
    replyJson("const kept = 7"),
    () => {
      queueMicrotask(() => controller.abort());
      return { text: "never", delayMs: 60_000 };
    },
  ]);
  const result = await engine.ask("slow", { signal: controller.signal });
  assert.deepEqual([result.status, result.reason], ["interrupted", "cancelled"]);
  assert.deepEqual(
    (await engine.store.variables(engine.branch.branchId)).map(({ name }) => name).includes("kept"),
    true,
  );
  assert.equal(engine.events.at(-1)?.type, "cancelled");
});

Deno.test("runQuery() stops a running block when it is cancelled", async () => {
  const controller = new AbortController();
  await using engine = await startEngine([replyJson("const before = 1; await new Promise(() => {})")]);
  const running = engine.ask("wait", { signal: controller.signal });
  while (!engine.events.some(({ type }) => type === "block_started")) await new Promise((go) => setTimeout(go, 5));
  controller.abort();
  assert.equal((await running).reason, "cancelled");
});

Deno.test("runQuery() hands the query before over and keeps variables, functions and classes", async () => {
  await using engine = await startEngine([
    replyJson(
      "class Pair { constructor(public a: number) {} twice() { return this.a * 2 } }\nfunction inc(x: number) { return x + 1 }\nconst pair = new Pair(4)",
      {
        thinking: "make things",
        final: "made {{pair.a}}",
      },
    ),
    replyJson("const out = inc(pair.twice())", { final: "{{out}}" }),
  ]);
  await engine.ask("make");
  assert.equal((await engine.ask("use")).answer, "9");
  assert.match(engine.context(1), /make things/);
  assert.match(engine.context(1), /made 4/);
});

Deno.test("runQuery() restores the variables after a block that had to be killed", async () => {
  await using engine = await startEngine([
    replyJson("const keep = { n: 1 }\nfunction plus() { return keep.n + 1 }"),
    replyJson("(function f() { Promise.resolve().then(f) })()"),
    replyJson("const after = plus()", { final: "{{after}}" }),
  ], { settings: { deadlines: { defaultMs: 300, minMs: 100, maxMs: 300 } } });
  const result = await engine.ask("spin");
  assert.equal(result.answer, "2");
});

Deno.test("runQuery() ends in a terminal status when something unforeseen throws", async () => {
  await using engine = await startEngine([replyJson("1")], {
    openSandbox: () => Promise.reject(new TypeError("no sandbox today")),
  });
  await assert.rejects(engine.ask("hi"), /no sandbox today/);
  const [query] = await engine.store.queries(engine.branch.branchId);
  assert.deepEqual([query?.status, query?.reason, query?.running], ["error", "defect", false]);
  assert.equal(engine.logged.some(({ event }) => event === "query_defect"), true);
});

Deno.test("runQuery() ends with reason configuration when a required wall does not hold", async () => {
  await using engine = await startEngine([replyJson("1")], {
    openSandbox: () => Promise.reject(new ConfigError("Cannot run blocks: kernel")),
  });
  await assert.rejects(engine.ask("hi"), ConfigError);
  const [query] = await engine.store.queries(engine.branch.branchId);
  assert.deepEqual([query?.status, query?.reason, query?.answer], [
    "error",
    "configuration",
    "Cannot run blocks: kernel",
  ]);
});

Deno.test("runQuery() calls no model if no sandbox can be started, and a living one is enough", async () => {
  let fault = "Cannot make a folder";
  const trySandbox = (): void => {
    if (fault !== "") throw new ConfigError(fault);
  };
  await using engine = await startEngine([replyJson("const a = 1"), final("1"), final("2")], { trySandbox });
  await assert.rejects(engine.ask("one"), { name: "ConfigError", message: "Cannot make a folder" });
  assert.equal(engine.provider.requests.length, 0);
  const [query] = await engine.store.queries(engine.branch.branchId);
  assert.deepEqual([query?.running, query?.reason], [false, "configuration"]);
  fault = "";
  assert.equal((await engine.ask("one")).answer, "1");
  fault = "Cannot make a folder";
  assert.equal((await engine.ask("two")).answer, "2");
});

Deno.test("runQuery() needs no sandbox for an answer that can only be itself", async () => {
  await using engine = await startEngine([replyJson([], { final: "Hello { name }" })], {
    openSandbox: () => Promise.reject(new TypeError("no sandbox today")),
  });
  assert.equal((await engine.ask("hi")).answer, "Hello { name }");
});

Deno.test("runQuery() stops at a token limit and keeps an answer that crosses it", async () => {
  const limits = { costUsd: null, tokens: 10, wallMs: null };
  await using stopped = await startEngine([replyJson("const a = 1")], { settings: { limits } });
  assert.equal((await stopped.ask("x")).reason, "limit_tokens");
  await using crossed = await startEngine([replyJson([], { final: "in time" })], { settings: { limits } });
  assert.equal((await crossed.ask("x")).answer, "in time");
});

Deno.test("runQuery() shows a long request head and tail and binds all of it to $query", async () => {
  const request = `start ${"x".repeat(1_000_000)} end`;
  await using engine = await startEngine([replyJson("const size = $query.length", { final: "{{size}}" })]);
  assert.equal((await engine.ask(request)).answer, String(request.length));
  const asked = engine.provider.requests[0]?.texts[1] ?? "";
  assert.ok(asked.length < 25_000 && asked.startsWith("start") && asked.endsWith("end"));
});

Deno.test("each iteration begins with an event that has the used part of the budget, which never exceeds it", async () => {
  const bad = { text: "{" };
  const replies = [bad, bad, replyJson("requestMoreIterations(2)"), replyJson("2"), replyJson("3"), replyJson("4")];
  await using engine = await startEngine([...replies, replyJson([], { final: "Best: 4" })], {
    settings: { budget: 2 },
  });
  await engine.ask("count");
  const told = engine.events.filter((event) => event.type === "iteration_started");
  assert.deepEqual(told.map(({ iteration, used, budget }) => [iteration, `${used}/${budget}`]), [
    ...[[1, "1/2"], [2, "1/2"], [3, "1/2"]],
    ...[[4, "2/4"], [5, "3/4"], [6, "4/4"], [7, "4/4"]],
  ]);
});
