import { HostCallError } from "../../src/domain/errors.ts";
import type { ShownOutcome } from "../../src/domain/query/host_call.ts";
import {
  type EnvironmentView,
  type Extension,
  fn,
  type FunctionOptions,
  type HostFunction,
  type NudgeContext,
  z,
} from "../../src/extension/mod.ts";
import { ExtensionRegistry, invokeSymbol } from "../../src/extension/registry.ts";
import { createLog, startLogTable } from "../../src/logging/log.ts";
import { openStore } from "../../src/persistence/open_store.ts";
import { startEngine } from "../helpers/engine.ts";
import { replyJson } from "../helpers/scripted_provider.ts";
import { recordingLog, sample, twice, VIEW } from "./_sample.ts";
import assert from "node:assert/strict";

const double: HostFunction = (_env, n: number) => n * 2;
const failing: HostFunction = () => {
  throw new Error("Disk on fire");
};

interface Setup {
  readonly run?: HostFunction;
  readonly hooks?: Partial<FunctionOptions>;
  readonly args?: readonly unknown[];
  readonly env?: EnvironmentView;
}

function invoke({ run = double, hooks = {}, args = [4], env = VIEW }: Setup) {
  const { log, entries } = recordingLog();
  let time = 0;
  const told: ShownOutcome[] = [];
  const promise = invokeSymbol({
    told: (outcome) => told.push(outcome),
    extension: sample(),
    symbol: twice(run, hooks),
    env,
    args,
    log,
    now: () => time += 1,
  });
  return { promise, entries, told };
}

const call = async (setup: Setup): Promise<unknown> => await invoke(setup).promise;
const failure = async (setup: Setup): Promise<HostCallError> => {
  const error = await call(setup).then((value) => assert.fail(`resolved with ${value}`), (thrown: unknown) => thrown);
  assert.ok(error instanceof HostCallError, String(error));
  return error;
};

Deno.test("invokeSymbol() calls the function with env first and its result comes back", async () => {
  const seen: unknown[] = [];
  const run: HostFunction = (...all) => seen.push(...all);
  await call({ run });
  assert.deepEqual(seen, [VIEW, 4]);
  assert.equal(await call({}), 8);
  assert.equal(await call({ run: () => Promise.resolve(undefined) }), undefined);
});

Deno.test("before: args, fn and env override the inputs of the call", async () => {
  assert.equal(await call({ hooks: { before: () => ({ args: [21] }) } }), 42);
  assert.equal(await call({ hooks: { before: () => ({ fn: (_env, n) => n + 1 }) } }), 5);
  const env = { ...VIEW, conversationId: "other" };
  assert.equal(await call({ run: (given) => given.conversationId, hooks: { before: () => ({ env }) } }), "other");
});

Deno.test("before: missing keys keep the current value, and it gets env, fn and the raw args", async () => {
  let seen: unknown;
  const before: FunctionOptions["before"] = (input) => {
    seen = input;
    return {};
  };
  assert.equal(await call({ hooks: { before } }), 8);
  assert.deepEqual(seen, { env: VIEW, fn: double, args: [4] });
});

Deno.test("before: result short-circuits the function and after, also when it is undefined", async () => {
  const after = () => assert.fail("after ran");
  assert.equal(await call({ run: failing, hooks: { before: () => ({ result: "cached" }), after } }), "cached");
  assert.equal(await call({ run: failing, hooks: { before: () => ({ result: undefined }), after } }), undefined);
});

Deno.test("before: mends an argument list before it is checked", async () => {
  const before: FunctionOptions["before"] = ({ args }) => ({ args: args.map(Number) });
  assert.equal(await call({ args: ["4"], hooks: { before } }), 8);
});

Deno.test("before: its error is wrapped and does not reach onError", async () => {
  const onError = () => assert.fail("onError ran");
  const before = () => {
    throw new Error("No quota");
  };
  const error = await failure({ hooks: { before, onError } });
  assert.equal(error.message, "Cannot finish sample.twice: its before hook failed (no quota)");
  assert.deepEqual({ ...error.facts }, { namespace: "test.sample", symbol: "twice" });
});

Deno.test("after: result replaces, an empty object keeps, and it sees the checked arguments", async () => {
  assert.equal(await call({ hooks: { after: ({ result }) => ({ result: [result] }) } }).then(String), "8");
  assert.equal(await call({ hooks: { after: () => ({}) } }), 8);
  assert.equal(await call({ hooks: { after: () => ({ result: undefined }) } }), undefined);
  const args = z.tuple([z.number().default(5)]);
  assert.deepEqual(await call({ args: [], hooks: { args, after: (input) => ({ result: input.args }) } }), [5]);
});

Deno.test("after: env, fn and args that it returns change nothing any more", async () => {
  const changed = { env: { ...VIEW, depth: 9 }, fn: failing, args: ["x"] };
  assert.equal(await call({ hooks: { after: () => changed } }), 8);
  assert.equal(await call({ hooks: { after: () => ({ ...changed, result: 9 }) } }), 9);
});

Deno.test("after: its error is wrapped and does not reach onError", async () => {
  const onError = () => assert.fail("onError ran");
  const after = () => Promise.reject(new TypeError("Broken"));
  assert.match((await failure({ hooks: { after, onError } })).message, /sample\.twice: its after hook failed \(Broken/);
});

Deno.test("onError: result is a fallback, and after runs on it", async () => {
  const onError: FunctionOptions["onError"] = ({ error }) => ({ result: error instanceof Error && error.message });
  assert.equal(await call({ run: failing, hooks: { onError } }), "Disk on fire");
  const after: FunctionOptions["after"] = ({ result }) => ({ result: `after ${result}` });
  assert.equal(await call({ run: failing, hooks: { onError, after } }), "after Disk on fire");
});

Deno.test("onError: error is thrown in place of the first one", async () => {
  const onError = () => ({ error: new Error("Use another disk") });
  assert.equal((await failure({ run: failing, hooks: { onError } })).message, "Use another disk");
});

Deno.test("onError: args retry once, and are checked", async () => {
  const tried: number[] = [];
  const run: HostFunction = (_env, n: number) => {
    tried.push(n);
    if (n === 4) throw new Error("Four");
    return n;
  };
  assert.equal(await call({ run, hooks: { onError: () => ({ args: [5] }) } }), 5);
  assert.deepEqual(tried, [4, 5]);
  assert.match((await failure({ run, hooks: { onError: () => ({ args: ["x"] }) } })).message, /argument 1/);
});

Deno.test("onError: fn retries with the same arguments, and after runs on its result", async () => {
  const hooks: Partial<FunctionOptions> = {
    onError: () => ({ fn: double }),
    after: ({ result }) => ({ result: `${result}!` }),
  };
  assert.equal(await call({ run: failing, hooks }), "8!");
});

Deno.test("onError: a second failure propagates and the hook is not asked again", async () => {
  let asked = 0;
  const run: HostFunction = (_env, n: number) => {
    throw new Error(`Failed with ${n}`);
  };
  const onError = () => {
    asked++;
    return { args: [5] };
  };
  assert.equal((await failure({ run, hooks: { onError } })).message, "Failed with 5");
  assert.equal(asked, 1);
});

Deno.test("onError: nothing of these rethrows, env alone too", async () => {
  assert.equal((await failure({ run: failing, hooks: { onError: () => ({}) } })).message, "Disk on fire");
  assert.equal((await failure({ run: failing, hooks: { onError: () => ({ env: VIEW }) } })).message, "Disk on fire");
});

Deno.test("onError: throwing the very error it got is no failure of the hook", async () => {
  const onError: FunctionOptions["onError"] = ({ error }) => {
    throw error;
  };
  assert.equal((await failure({ run: failing, hooks: { onError } })).message, "Disk on fire");
  const other = () => {
    throw new Error("Worse");
  };
  assert.match((await failure({ run: failing, hooks: { onError: other } })).message, /its onError hook failed \(Worse/);
});

for (
  const [name, returned] of [["null", null], ["a string", "x"], ["an array", [1]], ["undefined", undefined]] as const
) {
  for (const hook of ["before", "after", "onError"] as const) {
    Deno.test(`${hook}: returning ${name} is an error that names hook and symbol`, async () => {
      const run = hook === "onError" ? failing : double;
      const error = await failure({ run, hooks: { [hook]: () => returned } });
      assert.match(error.message, new RegExp(`sample\\.twice: its ${hook} hook returned .*; it must return an object`));
    });
  }
}

Deno.test("a function that throws no message is named with the kind of value", async () => {
  for (
    const [thrown, kind] of [[new Error(), "an error"], [{}, "an object"], [[1], "an array"], [7, "a number"]] as const
  ) {
    const run: HostFunction = () => {
      throw thrown;
    };
    assert.equal((await failure({ run })).message, `Cannot finish sample.twice: it threw ${kind} without a message`);
  }
});

Deno.test("before: keys of a wrong type are an error of the hook", async () => {
  for (const changes of [{ args: "x" }, { fn: 1 }, { env: "e" }]) {
    const before = () => Promise.resolve(changes);
    assert.match(
      (await failure({ hooks: { before } })).message,
      /its before hook returned an object whose env, fn or args is of a wrong type;/,
    );
  }
});

Deno.test("arguments: a wrong list is answered with reason and signature, and onError is not asked", async () => {
  const onError = () => assert.fail("onError ran");
  const message = async (args: unknown[]): Promise<string> => (await failure({ args, hooks: { onError } })).message;
  const usage = "usage: sample.twice(n: number): Promise<number>";
  assert.equal(
    await message(["x"]),
    `Cannot call sample.twice: argument 1 must be a number; ${usage}`,
  );
  for (const args of [[], [1, 2], [null]]) assert.ok((await message(args)).endsWith(usage));
});

Deno.test("arguments: of several types, the reason concerns the given one", async () => {
  const edit = z.strictObject({ old: z.string(), all: z.boolean().optional() });
  const args = z.tuple([z.union([z.string(), z.array(z.string())]), z.union([edit, z.array(edit)])]);
  const reason = async (...given: unknown[]): Promise<string> => {
    const { message } = await failure({ args: given, hooks: { args } });
    return /^Cannot call sample\.twice: (.*); usage:/.exec(message)?.[1] ?? message;
  };
  assert.equal(await reason({}, { old: "x" }), "argument 1 must be text or a list");
  assert.equal(await reason("a", { old: "x", whole: true }), "argument 2 has the unknown key whole");
  assert.equal(await reason("a", [{ old: 1 }]), "argument 2.0.old must be text");
});

Deno.test("errors: names, hints and causes survive, stacks do not", async () => {
  const run: HostFunction = () => {
    throw Object.assign(new RangeError("Too many"), { hint: "Ask for fewer" });
  };
  const error = await failure({ run });
  assert.equal(error.message, "Too many");
  assert.equal(error.facts.hint, "Ask for fewer");
  assert.ok(error.cause instanceof RangeError);
  assert.ok(!error.message.includes("hooks_test.ts"));
});

Deno.test("errors: a thrown value that is not an Error still has a message", async () => {
  for (const thrown of ["text", null, undefined, 7, {}]) {
    const run: HostFunction = () => {
      throw thrown;
    };
    assert.notEqual((await failure({ run })).message, "");
  }
});

Deno.test("errors: an aborted call has an error with that reason", async () => {
  const signal = AbortSignal.abort();
  const run: HostFunction = (env) => env.signal?.throwIfAborted();
  assert.equal(
    (await failure({ run, env: { ...VIEW, signal } })).message,
    "Cannot finish sample.twice: its block or request ended first",
  );
});

Deno.test("log: start, hooks and end debug, a throw and onError warn, each with ms where it took time", async () => {
  const hooks = { before: () => ({}), after: () => ({}) };
  const good = invoke({ hooks });
  await good.promise;
  const phases = good.entries.map(({ level, data }) => `${level} ${data["phase"]}`);
  assert.deepEqual(phases, ["debug start", "debug before", "debug after", "debug end"]);
  assert.deepEqual(good.entries.at(-1)?.data, {
    ext: "test.sample",
    sym: "twice",
    phase: "end",
    ms: 5,
    conversationId: "con-1",
  });
  const bad = invoke({ run: failing, hooks: { onError: () => ({}) } });
  await assert.rejects(bad.promise);
  const said = bad.entries.map(({ level, data }) => `${level} ${data["phase"]}`);
  assert.deepEqual(said, ["debug start", "warn onError", "debug onError", "warn throw"]);
});

Deno.test("invokeSymbol() reports a call that threw only with tellsFailure", async () => {
  for (const tellsFailure of [true, false]) {
    const bad = invoke({ run: failing, hooks: { tellsFailure } });
    await assert.rejects(bad.promise);
    assert.deepEqual(bad.told, tellsFailure ? [{ text: "", ok: false, unfinished: true }] : []);
  }
});

Deno.test("invokeSymbol() reports the result of a call, with the end of its output if it failed", async () => {
  const told = async (outcome: FunctionOptions["outcome"]): Promise<ShownOutcome | undefined> => {
    const asked = invoke({ hooks: { ...(outcome ? { outcome } : {}) } });
    assert.equal(await asked.promise, 8);
    return asked.told[0];
  };
  assert.equal(await told(undefined), undefined);
  assert.deepEqual(await told((n: number) => `${n} rows`), { text: "8 rows", ok: true, output: "" });
  assert.deepEqual(await told(() => ({ text: "fine", output: "much" })), { text: "fine", ok: true, output: "" });
  const failed = async (output: string | readonly string[]) =>
    (await told(() => ({ text: "bad\nly", ok: false, output })))?.output;
  assert.deepEqual(await told(() => ({ text: "bad\nly", ok: false })), { text: "bad ly", ok: false, output: "" });
  const progress = "Get 10%\rGet 20%\rGot 100%\r\n\u001b[31mfailed\u001b[0m\u202e\n\n";
  assert.equal(await failed(progress), "Got 100%\nfailed\\u202e");
  const lines = Array.from({ length: 30 }, (_, at) => `line ${at}`);
  assert.equal(await failed(lines.join("\n")), ["… 22 more lines", ...lines.slice(22)].join("\n"));
  assert.equal(
    await failed([lines.join("\n"), "oops\n"]),
    ["… 23 more lines", ...lines.slice(23), "oops"].join("\n"),
  );
  const halves = ["… 26 more lines", ...lines.slice(26), "… 26 more lines", ...lines.slice(26)];
  assert.equal(await failed([lines.join("\n"), lines.join("\n")]), halves.join("\n"));
  assert.match(await failed("x".repeat(1e6)) ?? "", /^x{150,200}….{0,30}$/);
  const thrown = await told(() => {
    throw new Error("Cannot say");
  });
  assert.equal(thrown, undefined);
});

Deno.test("invokeSymbol() reports the lines of an output that name a failure, each with the lines below it", async () => {
  const failed = async (lines: readonly string[]) => {
    const asked = invoke({ hooks: { outcome: () => ({ text: "bad", ok: false, output: lines.join("\n") }) } });
    await asked.promise;
    return asked.told[0]?.output?.split("\n");
  };
  const passed = Array.from({ length: 40 }, (_, at) => `ok ${at} throws TypeError: no`);
  const blocks = [
    ["not ok 145 title", "  ---", "    expected: 1", "    actual: 2", "  ..."],
    ["  ✗ adds", "    1 !== 2"],
    ["FAIL src/a.test.ts", "  AssertionError: 1 !== 2"],
    ["src/a.ts(1,2): error TS2304: Cannot find name", "  1 | x"],
    ["error[E0308]: mismatched types", " --> src/lib.rs:5:9"],
    ["thread 'adds' panicked at src/lib.rs:5:9:", "assertion failed"],
    ["Traceback (most recent call last):", '  File "a.py", line 1', "ValueError: x"],
    ["npm error code ERESOLVE", "npm error could not resolve"],
  ];
  for (const block of blocks) {
    assert.deepEqual(await failed([...passed, ...block, ...passed]), [
      "… 40 more lines",
      ...block,
      "… 40 more lines",
    ]);
  }
  const long = ["not ok 1", ...Array.from({ length: 50 }, (_, at) => `  line ${at}`)];
  const shown = await failed([...long, ...long]);
  assert.deepEqual(shown?.slice(0, 10), [...long.slice(0, 9), "… 42 more lines"]);
  assert.deepEqual(shown.slice(10), [...long.slice(0, 3), "… 40 more lines", ...long.slice(-8)]);
  const titles = Array.from({ length: 10 }, (_, at) => `not ok ${at} title`);
  const each = titles.flatMap((title) => [title, ...long.slice(1, 21), ...passed.slice(0, 5)]);
  const named = await failed([...each, ...passed]);
  const detailed = titles.slice(0, 4).flatMap((title) => [title, ...long.slice(1, 3)]);
  assert.deepEqual(named?.filter((line) => !line.startsWith("… ")), [...detailed, ...titles.slice(4, 8)]);
  assert.match(named.at(-1) ?? "", /^… \d+ more lines with 2 more failed tests$/);
  const twice = ["✖ adds (1ms)", "  1 !== 2", "✖ failing tests:", "✖ adds (1ms)", "  1 !== 2"];
  assert.deepEqual(await failed([...twice, ...passed]), [...twice.slice(0, 2), "… 43 more lines"]);
  assert.deepEqual(await failed(["not ok 1 # TODO later", ...passed]), ["… 33 more lines", ...passed.slice(-8)]);
});

Deno.test("a failed test of TAP is shown with its group and its place, and no passed test beside it", async () => {
  const failed = async (lines: readonly string[]) => {
    const asked = invoke({ hooks: { outcome: () => ({ text: "bad", ok: false, output: lines.join("\n") }) } });
    await asked.promise;
    return asked.told[0]?.output?.split("\n");
  };
  const of = (name: string, line: number) => [
    ...[`# ${name}`, "ok 1 should be equal", `not ok ${line} should be equal`, "  ---", "    operator: equal"],
    ...["    expected: 1", "    actual: 2", `    at: Test.<anonymous> (/w/test/a.js:${line}:4)`, "    stack: |-"],
    ...["      Error: should be equal", "          at Test.assert (/w/node_modules/tape/a.js:1:2)", "  ..."],
  ];
  const passed = ["# other", "ok 8 should be equal", "# last", "ok 9 should be equal"];
  const shown = await failed(["TAP version 13", ...of("dash", 3), ...of("short", 5), ...passed, "", "# fail  2"]);
  assert.deepEqual(shown, [
    "… 1 more line",
    "# dash",
    "… 1 more line",
    ...of("dash", 3).slice(2, 11),
    "… 1 more line",
    "# short",
    "… 1 more line",
    ...of("short", 5).slice(2, 4),
    "… 1 more line",
    ...of("short", 5).slice(5, 8),
    "… 8 more lines",
    "# fail  2",
  ]);
  const text = ["not ok 3 - b", "  error: |-", "    + actual - expected", "    [", "    +  a: 1", "    -  a: 2"];
  const many = [...of("dash", 3), ...of("short", 5), ...text, "  expected:", "    a: 2", "ok 4"];
  const values = (await failed(many))?.filter((line) => /expected|actual|a: \d/.test(line));
  assert.deepEqual(values, ["    expected: 1", "    actual: 2", "    expected: 1", "    actual: 2", ...text.slice(4)]);
  const below = [
    "  operator: equal",
    "  expected: |-",
    "    'a-b'",
    "  actual: |-",
    "    'a--b'",
    "  stack: |-",
    "    e",
  ];
  assert.deepEqual(await failed(["a", "b", "c"].flatMap((name) => [`not ok ${name}`, ...below])), [
    ...["not ok a", ...below.slice(0, 5), "… 2 more lines"],
    ...["not ok b", "… 1 more line", ...below.slice(1, 5), "… 2 more lines", "not ok c", ...below],
  ]);
  const node = ["# Subtest: adds", "not ok 1 - adds", "  ---", "  location: '/w/a.js:1:1'", "  ...", "ok 2 - b"];
  assert.deepEqual(await failed(node), ["… 1 more line", ...node.slice(1, 5), "… 1 more line"]);
  const tail = ["ok 7 a", "ok 8 b", "", "# fail  18"];
  assert.deepEqual(await failed(tail), ["… 2 more lines", "# fail  18"]);
});

const END = replyJson([], { final: "That is all" });
const throwing = (): never => {
  throw new Error("Disk on fire");
};

Deno.test("hooks get the live environment with the keys of the query", async () => {
  const seen: string[] = [];
  const see = (hook: string) => ({ env }: { readonly env: EnvironmentView }) => {
    const { maxIterations, currentIterationId, signal, ask, store } = env;
    const there = [currentIterationId, signal, ask, store].every((one) => one !== undefined && one !== null);
    seen.push(`${hook} ${maxIterations} ${there}`);
    return {};
  };
  const hooks = { before: see("before"), after: see("after"), onError: see("onError") };
  const options = { ...hooks, doc: "Does.", args: z.tuple([]), returns: "number" };
  const extension = sample({
    namespace: "test.a",
    symbols: [fn("good", () => 1, options), fn("bad", throwing, options)],
  });
  await using engine = await startEngine([
    replyJson(["await a.good()", "await requestMoreIterations(3); await a.good()", "await a.bad()"]),
    END,
  ], { extensions: [extension] });
  await engine.ask("x");
  assert.deepEqual(seen, [
    "before 4 true",
    "after 4 true",
    "before 7 true",
    "after 7 true",
    "before 7 true",
    "onError 7 true",
  ]);
});

Deno.test("nudge() gets every key of its context, iteration by iteration", async () => {
  const seen: Omit<NudgeContext, "environment">[] = [];
  const environments: string[] = [];
  const nudge = ({ environment: { maxIterations, currentIterationId }, ...rest }: NudgeContext): null => {
    environments.push(`${maxIterations} ${currentIterationId === null}`);
    seen.push(rest);
    return null;
  };
  await using engine = await startEngine([
    replyJson(["const n = 1; console.log('out'); console.error('err'); n", "missing()"]),
    replyJson("await requestMoreIterations(2)"),
    END,
  ], { extensions: [sample({ namespace: "test.a", nudge })] });
  await engine.ask("x");
  const [first, second, third] = seen;
  assert.deepEqual(first, {
    iteration: 0,
    currentMaxIterations: 4,
    prevExpressions: null,
    prevIteration: -1,
    userVarCount: 0,
  });
  assert.deepEqual([second?.iteration, second?.prevIteration, second?.userVarCount], [1, 0, 1]);
  const [good, bad] = second?.prevExpressions ?? [];
  const { executionTimeMs = -1, code, ...facts } = good ?? {};
  assert.ok(executionTimeMs >= 0);
  assert.match(code ?? "", /const n = 1/);
  assert.deepEqual(facts, {
    result: 1,
    preview: "1",
    stdout: "out\n",
    stderr: "err\n",
    timedOut: false,
    repaired: false,
  });
  assert.match(bad?.error ?? "", /^ReferenceError: missing is not defined/);
  assert.deepEqual([third?.iteration, third?.currentMaxIterations, third?.prevIteration], [2, 6, 1]);
  assert.deepEqual(environments, ["4 true", "4 false", "6 false"]);
});

Deno.test("nudge() gets no expressions after a strategy restart", async () => {
  const seen: string[] = [];
  const nudge = ({ iteration, prevExpressions, prevIteration }: NudgeContext): null => {
    seen.push(`${iteration} ${prevExpressions?.length ?? null} ${prevIteration}`);
    return null;
  };
  const failed = replyJson("missing()");
  await using engine = await startEngine([failed, failed, failed, failed, failed, replyJson("1"), END], {
    extensions: [sample({ namespace: "test.a", nudge })],
  });
  await engine.ask("x");
  assert.equal(seen[0], "0 null -1");
  assert.match(seen[1] ?? "", / 1 \d$/);
  assert.match(seen[5] ?? "", / null -1$/);
  assert.match(seen[6] ?? "", / 1 \d$/);
});

Deno.test("the log table has each function with its time, each throw and each onError, under the conversation", async () => {
  const store = await openStore({ path: ":memory:" });
  const table = startLogTable({ write: (entries) => store.log(...entries), delayMs: 1 });
  const { conversationId } = await store.createConversation({ title: "t", channel: "test", workspace: "/nowhere" });
  try {
    const registry = new ExtensionRegistry({ log: createLog("extension") });
    const extension: Extension = sample({
      namespace: "test.a",
      symbols: [
        twice((_env, n) => Number(n) * 2),
        { ...twice(throwing, { onError: () => ({}) }), name: "fails" },
      ],
      prompt: "x",
    });
    registry.register(extension);
    registry.register(sample({ namespace: "test.b", activate: throwing }));
    const env = { ...VIEW, conversationId };
    const active = await registry.activate(env);
    const options = { env, signal: new AbortController().signal };
    for (let n = 0; n < 3; n++) await active.call("a.twice", [n], options);
    await assert.rejects(active.call("a.fails", [1], options));
    await table.close();
    const rows = await store.logs({ limit: 100, conversationId });
    const told = rows.map(({ level, event, data }) =>
      `${level} ${event} ${data?.["ext"]} ${data?.["sym"]} ${data?.["phase"]} ${typeof data?.["ms"]}`
    );
    assert.deepEqual(told, [
      "error extension.failed test.b undefined activate undefined",
      "info extension.call test.a twice end number",
      "warn extension.call test.a fails onError undefined",
      "warn extension.call test.a fails throw number",
    ]);
    assert.deepEqual([rows[1]?.data?.["calls"], rows[3]?.data?.["error"]], [3, "Disk on fire"]);
    assert.equal(rows[0]?.data?.["error"], "Disk on fire");
  } finally {
    await store.close();
  }
});
