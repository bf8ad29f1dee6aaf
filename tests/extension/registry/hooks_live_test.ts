import assert from "node:assert/strict";
import { ExtensionRegistry } from "../../../src/extension/registry/registry.ts";
import { type EnvironmentView, type Extension, fn, type NudgeContext, z } from "../../../src/extension/spec.ts";
import { createLog } from "../../../src/logging/log.ts";
import { startLogTable } from "../../../src/logging/log_table.ts";
import { openStore } from "../../../src/persistence/open_store.ts";
import { startEngine } from "../../helpers/engine.ts";
import { replyJson } from "../../helpers/scripted_provider.ts";
import { sample, twice, VIEW } from "../_sample.ts";

const END = replyJson([], { final: "That is all" });
const failing = (): never => {
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
    symbols: [fn("good", () => 1, options), fn("bad", failing, options)],
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

Deno.test("nudge() is told of no expressions after a strategy restart", async () => {
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
        { ...twice(failing, { onError: () => ({}) }), name: "fails" },
      ],
      prompt: "x",
    });
    registry.register(extension);
    registry.register(sample({ namespace: "test.b", activate: failing }));
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
