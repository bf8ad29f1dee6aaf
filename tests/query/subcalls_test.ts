import assert from "node:assert/strict";
import rlm from "../../extensions/rlm/mod.ts";
import { ProviderError } from "../../src/domain/errors.ts";
import { addUsage, NO_USAGE } from "../../src/domain/query/model_call.ts";
import type { Usage } from "../../src/domain/query/query_schemas.ts";
import type { StoredQuery } from "../../src/domain/query/stored_query.ts";
import type { Store } from "../../src/persistence/store.ts";
import type { Provider } from "../../src/providers/provider.ts";
import { type Engine, type EngineOptions, startEngine } from "../helpers/engine.ts";
import { runs } from "../helpers/long_part.ts";
import { oracleProvider, type OracleScript } from "../helpers/oracle_provider.ts";
import { replyJson } from "../helpers/scripted_provider.ts";

function start(script: OracleScript, options: EngineOptions = {}): Promise<Engine> {
  return startEngine([], { extensions: [rlm], provider: oracleProvider(script), ...options });
}

function once(code: string): string {
  return replyJson(`await answer(await (async () => { ${code} })())`);
}

interface Sums {
  usage: Usage;
  queries: number;
  plain: number;
}

async function sumOfRows(store: Store, query: StoredQuery, sums: Sums): Promise<Sums> {
  sums.queries++;
  const iterations = await store.iterations(query.queryId);
  for (const { iterationId } of iterations) {
    for (const call of await store.subCalls(iterationId)) {
      sums.plain++;
      sums.usage = addUsage(sums.usage, call.usage);
    }
    for (const child of await store.subQueries(iterationId)) await sumOfRows(store, child, sums);
  }
  return sums;
}

Deno.test("rlm.ask() gives the text of one reply and keeps it below the iteration", async () => {
  await using engine = await start({
    iteration: () => once("return await rlm.ask('Capital of France?', { system: 'One word.' })"),
    plain: (prompt) => ({ text: `<think>hm</think>\nParis for ${prompt}`, usage: { input: 10, output: 2 } }),
  });
  const result = await engine.ask("ask");
  assert.equal(result.answer, "Paris for Capital of France?");
  const [iteration] = await engine.store.iterations(result.queryId);
  const [call, ...rest] = await engine.store.subCalls(iteration!.iterationId);
  assert.deepEqual([call?.prompt, call?.usage.input, rest.length], ["Capital of France?", 10, 0]);
  assert.equal(result.usage.calls, 2);
});

Deno.test("rlm.ask() answers the same call from the cache, also while it is under way", async () => {
  let calls = 0;
  await using engine = await start({
    iteration: () => once("const a = await rlm.askAll(['x', 'x', 'y']); return [...a, await rlm.ask('x')].join()"),
    plain: (prompt) => `${prompt}${++calls}`,
  });
  const { answer } = await engine.ask("ask");
  assert.match(answer, /^x(\d),x\1,y\d,x\1$/);
  assert.equal(calls, 2);
});

Deno.test("rlm.askAll() keeps the order, and a failed slot is a value", async () => {
  await using engine = await start({
    iteration: () => once("return JSON.stringify(await rlm.askAll(['a', 'bad', 'c']))"),
    plain: (prompt) =>
      prompt === "bad"
        ? new ProviderError("Cannot answer this", { code: "refused", retryable: false })
        : { text: prompt.toUpperCase(), delayMs: prompt === "a" ? 20 : 0 },
  });
  const { answer } = await engine.ask("ask");
  assert.deepEqual(JSON.parse(answer), ["A", { error: "Cannot answer this" }, "C"]);
});

Deno.test("8 model calls run at a time, even if more are requested", async () => {
  let open = 0, most = 0;
  const oracle = oracleProvider({
    iteration: () =>
      once("const all = await rlm.askAll(Array.from({length: 30}, (_, i) => 'q' + i)); return all.join()"),
    plain: (prompt) => ({ text: prompt, delayMs: 3 }),
  });
  const provider: Provider = {
    name: oracle.name,
    defaultModel: oracle.defaultModel,
    models: (options) => oracle.models(options),
    capabilities: (model) => oracle.capabilities(model),
    async *stream(request) {
      most = Math.max(most, ++open);
      try {
        yield* oracle.stream(request);
      } finally {
        open--;
      }
    },
  };
  await using engine = await startEngine([], { extensions: [rlm], provider });
  const { answer } = await engine.ask("ask");
  assert.equal(answer, Array.from({ length: 30 }, (_, i) => `q${i}`).join());
  assert.equal(most, 8);
});

Deno.test("rlm.run() forks exactly the variables it names, including the running block's", async () => {
  await using engine = await start({
    iteration: ({ asked, context }) => {
      if (asked !== "start") {
        assert.match(context, /const part = \[ 1, 2, 3 \]/);
        return replyJson("answer(double(part.reduce((a, b) => a + b, 0)) + ':' + typeof secret)");
      }
      return replyJson([
        "const secret = 1\nfunction double(n) { return n * 2 }",
        "const part = [1, 2, 3]; const got = await rlm.run('sum it', { vars: ['part', 'double'] }); part.push(got); part",
      ], { final: "{{got}}" });
    },
  });
  const result = await engine.ask("start");
  assert.equal(result.answer, "12:undefined");
  const names = (await engine.store.variables(engine.branch.branchId)).map(({ name }) => name);
  assert.ok(names.includes("got"));
});

Deno.test("rlm.run() forks functions, classes and instances as they are in the running block", async () => {
  await using engine = await start({
    iteration: ({ asked }) => {
      if (asked !== "start") {
        return replyJson(
          "answer([changed(), added(2), arrow(), new Made().name, one.n, one.twice(), typeof unused, typeof url].join())",
        );
      }
      return replyJson([
        'const changed = () => "old"\nlet added = 1\nclass Counted { n = 1\ntwice() { return this.n * 2 } }\nlet one = new Counted()',
        [
          'changed = () => "new"',
          "const factor = 10, unused = 1",
          "added = function times(n) { return n * factor }",
          'function arrow() { return inner() + new URL("http://a.example/b").pathname }',
          'const inner = () => "inner"',
          "class Base { name = Base.label\nstatic label = 'base' }",
          "class Made extends Base {}",
          "one.n = 4",
          "const got = await rlm.run('use them', { vars: ['changed', 'added', 'arrow', 'Made', 'one'] })",
        ].join("\n"),
      ], { final: "{{got}}" });
    },
  });
  assert.equal((await engine.ask("start")).answer, "new,20,inner/b,base,4,8,undefined,undefined");
});

Deno.test("rlm.run() explains which function of the running block it cannot fork", async () => {
  await using engine = await start({
    iteration: () =>
      replyJson(
        "const make = () => { let n = 0; return () => n++ }\nconst next = make()\nlet why = ''\n" +
          "try { await rlm.run('x', { vars: ['next'] }) } catch (error) { why = error.message }\nanswer(why)",
      ),
  });
  assert.match(
    (await engine.ask("start")).answer,
    /^Cannot hand next to a sub-query: it is a function that a call made, whose captured values Vis cannot keep/,
  );
});

Deno.test("a sub-query has rows of its own below the iteration that called", async () => {
  await using engine = await start({
    iteration: ({ asked }) => asked === "start" ? once("return await rlm.run('small task')") : once("return 7"),
  });
  const result = await engine.ask("start");
  assert.equal(result.answer, "7");
  const [iteration] = await engine.store.iterations(result.queryId);
  const [child, ...others] = await engine.store.subQueries(iteration!.iterationId);
  assert.deepEqual([child?.text, child?.answer, child?.depth, others.length], ["small task", "7", 1, 0]);
  assert.equal((await engine.store.iterations(child!.queryId)).length, 1);
  assert.deepEqual((await engine.store.queries(engine.branch.branchId)).map(({ queryId }) => queryId), [
    result.queryId,
  ]);
  const own = engine.events.filter((event) => event.queryId === child!.queryId);
  assert.deepEqual([own[0]?.type, own.at(-1)?.type], ["started", "final"]);
  assert.ok(own.every((event) => event.parentQueryId === result.queryId));
  assert.equal(engine.events.at(-1)?.queryId, result.queryId);
});

Deno.test("a tree of sub-queries with a fan-out of 2 ends, and the ledger is the sum of all rows", async () => {
  const deepest = runs(2, 3);
  await using engine = await start({
    iteration: ({ asked }) => {
      const depth = Number(/^depth (\d)/.exec(asked)?.[1]);
      if (depth === deepest) return once(`return (await rlm.ask('leaf of ${asked}')).length > 0 ? 1 : 0`);
      return once(
        `const all = await rlm.runAll(['a','b'].map((x) => 'depth ${depth + 1} ${asked.slice(8)}' + x));
         return all.reduce((sum, one) => sum + Number(one), 0)`,
      );
    },
    plain: () => ({ text: "yes", usage: { input: 7, output: 3 } }),
    capabilities: { price: { input: 1, output: 1, cached: 1 } },
  }, { settings: { depth: deepest, budget: 2 } });
  const result = await engine.ask("depth 0 ");
  const leaves = 2 ** deepest, queries = 2 * leaves - 1;
  assert.equal(result.answer, String(leaves));
  const root = await engine.store.query(result.queryId);
  const sums = await sumOfRows(engine.store, root!, { usage: NO_USAGE, queries: 0, plain: 0 });
  assert.deepEqual([sums.queries, sums.plain], [queries, leaves]);
  assert.equal(result.usage.calls, queries + leaves);
  assert.equal(sums.usage.input, leaves * 7);
  assert.ok(Math.abs((result.costUsd ?? 0) - (result.usage.input + result.usage.output) / 1e6) < 1e-9);
});

Deno.test("a sub-query below the deepest depth is refused with an alternative, and its prompt says so", async () => {
  const prompts = new Map<string, string>();
  await using engine = await start({
    iteration: ({ asked, texts }) =>
      prompts.set(asked, texts.join("\n")) && asked === "start" ? once("return await rlm.run('one')") : once(
        "try { return await rlm.run('two') } catch (error) { return error.message }",
      ),
  });
  const { answer } = await engine.ask("start");
  assert.match(answer, /^Cannot run a sub-query at depth 2: the limit is 1/);
  assert.doesNotMatch(prompts.get("start") ?? "", /cannot run sub-queries/);
  assert.match(prompts.get("one") ?? "", /cannot run sub-queries/);
  assert.match(prompts.get("start") ?? "", /rlm\.run\(task[^]*More \(doc\): askAll, runAll, chunk/);
  assert.match(prompts.get("one") ?? "", /rlm\.ask\(prompt[^]*rlm\.askAll\(/);
  assert.doesNotMatch(prompts.get("one") ?? "", /rlm\.run|runAll/);
});

Deno.test("the limit of sub-calls holds over the whole tree and costs no answer", async () => {
  await using engine = await start({
    iteration: () =>
      once("const all = await rlm.askAll(['a','b','c','d','e']); return all.filter((x) => x.error).length"),
    plain: (prompt) => prompt,
  }, { settings: { limits: { costUsd: null, tokens: null, wallMs: null, subcalls: 3 } } });
  const result = await engine.ask("start");
  assert.deepEqual([result.status, result.answer], ["done", "2"]);
});

Deno.test("parallel calls cannot each spend the rest", async () => {
  let calls = 0;
  await using engine = await start({
    iteration: () =>
      once("return (await rlm.askAll(Array.from({length: 40}, (_, i) => 'p' + i))).filter((x) => !x.error).length"),
    plain: (prompt) => {
      calls++;
      return { text: prompt, delayMs: 2, usage: { input: 100, output: 100 } };
    },
  }, { settings: { limits: { costUsd: null, tokens: 8_000, wallMs: null } } });
  const result = await engine.ask("start");
  assert.ok(result.usage.input + result.usage.output < 8_000 + 2 * 200, JSON.stringify(result.usage));
  assert.ok(calls > 5 && calls < 40, String(calls));
  assert.equal(result.status, "done", "the answer of the reply that crossed the limit is kept");
});

Deno.test("cancelling reaches every child and its model calls, and all end interrupted", async () => {
  const controller = new AbortController();
  let waiting = 0;
  const provider = oracleProvider({
    iteration: ({ asked }) => {
      if (asked === "start") return once("return await rlm.runAll(['a', 'b', 'c'])");
      if (++waiting === 3) setTimeout(() => controller.abort(), 5);
      return { text: once("return 1"), delayMs: 60_000 };
    },
  });
  await using engine = await start({ iteration: () => "" }, { provider });
  const result = await engine.ask("start", { signal: controller.signal });
  assert.deepEqual([result.status, result.reason], ["interrupted", "cancelled"]);
  const [iteration] = await engine.store.iterations(result.queryId);
  const children = await engine.store.subQueries(iteration!.iterationId);
  assert.deepEqual(children.map(({ running, reason }) => [running, reason]), Array(3).fill([false, "cancelled"]));
  assert.ok(provider.aborted >= 3);
});

Deno.test("a sub-query that no code awaits ends with its parent, before its result", async () => {
  await using engine = await start({
    iteration: ({ asked }) =>
      asked === "start"
        ? replyJson(
          "void rlm.run('slow').catch(() => {}); await new Promise((done) => setTimeout(done, 300)); answer('first')",
        )
        : { text: once("return 1"), delayMs: 60_000 },
  });
  const result = await engine.ask("start");
  assert.equal(result.answer, "first");
  const [iteration] = await engine.store.iterations(result.queryId);
  const [child] = await engine.store.subQueries(iteration!.iterationId);
  assert.deepEqual([child?.running, child?.reason], [false, "cancelled"]);
});

Deno.test("a child without an answer is an error with its reason, in a list a value", async () => {
  await using engine = await start({
    iteration: ({ asked, context }) => {
      if (asked !== "start") return context.includes("last call") ? "" : replyJson("1 + 1");
      return once("return JSON.stringify(await rlm.runAll(['never'], { maxIterations: 1 }))");
    },
  });
  const [slot] = JSON.parse((await engine.ask("start")).answer);
  assert.match(
    slot.error,
    /^Cannot finish the sub-query: it ended without an answer \(max_iterations\); its last text is "No answer within the budget of 1 step\./,
  );
});

Deno.test("a sub-query whose sandbox is killed continues, or ends with a reason; the parent is not affected", async () => {
  await using engine = await start({
    iteration: ({ asked, context }) => {
      if (asked === "start") {
        return replyJson("const kept = 5; const got = await rlm.run('grow'); answer(got + kept)");
      }
      return context.includes("<journal>")
        ? once("return 'alive '")
        : replyJson("const big = []; for (;;) big.push(new Array(1e6).fill(1.5))");
    },
  }, { limits: { memoryBytes: 192 << 20 } });
  assert.equal((await engine.ask("start")).answer, "alive 5");
});

Deno.test("vars that cannot be handed on are refused by name", async () => {
  await using engine = await start({
    iteration: () => once("try { await rlm.run('x', { vars: ['nothere'] }) } catch (error) { return error.message }"),
  });
  assert.match(
    (await engine.ask("start")).answer,
    /^Cannot hand nothere to a sub-query: no variable has this name$/,
  );
});

Deno.test("a sub-query that is refused uses up no sub-call", async () => {
  await using engine = await start({
    iteration: () =>
      once(
        "for (const vars of [['nothere'], ['nothere']]) await rlm.run('x', { vars }).catch(() => {}); return await rlm.ask('hi')",
      ),
    plain: () => "answered",
  }, { settings: { limits: { costUsd: null, tokens: null, wallMs: null, subcalls: 1 } } });
  assert.equal((await engine.ask("start")).answer, "answered");
});

Deno.test("rlm.ask() takes a model by name", async () => {
  const provider = oracleProvider({
    iteration: () => once("return await rlm.ask('hello', { model: 'small' })"),
    plain: () => "hi",
  });
  await using engine = await start({ iteration: () => "" }, { provider });
  assert.equal((await engine.ask("start")).answer, "hi");
  assert.deepEqual(provider.requests.map(({ model }) => model), ["script", "small"]);
});

Deno.test("rlm.ask() returns an answer without the thinking of any model, and fails if only thinking arrived", async () => {
  const replies: Readonly<Record<string, string>> = {
    harmony: "<|channel|>analysis<|message|>Hm.<|end|><|start|>assistant<|channel|>final<|message|>Paris",
    gemma: "<|channel>thought\nHm.<channel|>Paris",
    template: "Hm.\n</think>\n\nParis",
    mentions: "Use <think> and </think> around it.",
    cut: "<think>Hm, Paris",
    thoughts: "<think>Hm.</think>",
    long: "Paris is",
  };
  await using engine = await start({
    iteration: () =>
      once(
        "const all = {}; for (const name of " + JSON.stringify(Object.keys(replies)) +
          ") all[name] = await rlm.ask(name).catch((error) => error.message); return JSON.stringify(all)",
      ),
    plain: (prompt) => ({ text: replies[prompt] ?? "", ...(prompt === "long" ? { finish: "length" } : {}) }),
  });
  const { answer, queryId } = await engine.ask("ask");
  const { cut, thoughts, long, ...others } = JSON.parse(answer);
  assert.deepEqual(others, { harmony: "Paris", gemma: "Paris", template: "Paris", mentions: replies.mentions });
  assert.match(cut, /Cannot use the reply: the model script did not end its thinking, and sent no answer/);
  assert.match(thoughts, /Cannot use the reply: the model .* sent thinking and no answer/);
  assert.match(long, /Cannot use the reply: the model script cut it at its length limit after 8 characters/);
  const [iteration] = await engine.store.iterations(queryId);
  const calls = await engine.store.subCalls(iteration!.iterationId);
  assert.deepEqual(calls.map(({ reply, error }) => (reply === null) !== (error === null)), calls.map(() => true));
  assert.equal(calls.length, Object.keys(replies).length);
});
