import assert from "node:assert/strict";
import rlm from "../../extensions/rlm/mod.ts";
import type { QueryResult } from "../../src/domain/query/query_schemas.ts";
import { type Engine, type EngineOptions, startEngine } from "../helpers/engine.ts";
import {
  countTask,
  type EvalTask,
  hintTask,
  hopTask,
  needleTask,
  pairTask,
  treeTask,
} from "../helpers/evaluation/eval_data.ts";
import { evalReply } from "../helpers/evaluation/eval_reply.ts";
import { rowsSum } from "../helpers/rows_sum.ts";
import { type ScriptedProvider, scriptedProvider } from "../helpers/scripted_provider.ts";
import { runs } from "../helpers/long_part.ts";

function evalProvider(): ScriptedProvider {
  return scriptedProvider([], { otherwise: ({ texts }) => evalReply(texts) });
}

function start(options: EngineOptions = {}): Promise<Engine> {
  return startEngine([], { extensions: [rlm], provider: evalProvider(), ...options });
}

function play(engine: Engine, task: EvalTask): Promise<QueryResult> {
  const bytes = new TextEncoder().encode(task.context);
  const pieces = async function* () {
    yield await Promise.resolve(bytes);
  };
  return engine.conversations.ask(engine.branch, task.request, {
    signal: new AbortController().signal,
    emit: (event) => engine.events.push(event),
    ...(task.context === "" ? {} : { context: { label: "context", json: task.json, pieces: pieces() } }),
  });
}

for (const at of [0.5, 0, 1].slice(0, runs(1, 3))) {
  Deno.test(`evaluation: a needle at ${at * 100} % of small and large texts, with requests of one size`, async () => {
    const requests: number[] = [];
    for (const chars of [2 ** 13, 2 ** 21]) {
      await using engine = await start();
      const task = needleTask(chars, at);
      const result = await play(engine, task);
      assert.ok(task.isRight(result.answer), result.answer);
      assert.equal(result.iterations, 2);
      for (const { metadata } of await engine.store.iterations(result.queryId)) {
        requests.push(Number(metadata["requestBytes"]));
      }
    }
    const [small1 = 0, small2 = 0, large1 = 0, large2 = 0] = requests;
    assert.ok(Math.abs(small1 - large1) <= 200 && Math.abs(small2 - large2) <= 200, requests.join());
  });
}

Deno.test("evaluation: facts that only a model finds, over chunks; counted questions; pairs longer than any limit", async () => {
  for (const task of [hintTask(200_000), countTask(1_500), pairTask(1_500, 300)]) {
    await using engine = await start();
    const result = await play(engine, task);
    assert.ok(task.isRight(result.answer), `${task.request} ${result.answer.slice(0, 300)}`);
    assert.equal(result.status, "done");
    assert.equal((await rowsSum(engine.store, result.queryId)).usage.calls, result.usage.calls);
  }
});

Deno.test("evaluation: the answer of the pairs is larger than a journal, the requests are not", async () => {
  await using engine = await start();
  const result = await play(engine, pairTask(1_500, 300));
  assert.ok(result.answer.length > 50_000);
  const iterations = await engine.store.iterations(result.queryId);
  assert.ok(iterations.every(({ metadata }) => Number(metadata["requestBytes"]) < 12_000));
});

Deno.test("evaluation: three facts in a row through documents", async () => {
  await using engine = await start();
  const task = hopTask(1_000);
  const result = await play(engine, task);
  assert.ok(task.isRight(result.answer), result.answer);
  assert.equal(result.iterations, 4);
});

Deno.test("evaluation: a tree of queries adds up, in its answer and in its ledger", async () => {
  await using engine = await start();
  const task = treeTask(1);
  const result = await play(engine, task);
  assert.ok(task.isRight(result.answer), result.answer);
  const sum = await rowsSum(engine.store, result.queryId);
  assert.deepEqual([sum.queries, sum.plainCalls], [5, 4]);
  assert.deepEqual(sum.usage, result.usage);
});

Deno.test("evaluation: a limit of tokens holds through the tree and the ledger is the sum of its rows", async () => {
  const provider = evalProvider();
  const tokens = 12_000;
  await using engine = await start({
    provider,
    settings: { depth: 2, limits: { costUsd: null, tokens, wallMs: null } },
  });
  const result = await play(engine, treeTask(2));
  const sum = await rowsSum(engine.store, result.queryId);
  assert.deepEqual(sum.usage, result.usage);
  const spent = sum.usage.input + sum.usage.output;
  const largest = Math.max(...provider.requests.map(({ bytes }) => bytes / 3));
  assert.ok(spent >= tokens * 0.8 && spent <= tokens + largest, `${spent} of ${tokens}`);
});

Deno.test("evaluation: requests do not grow over many iterations", async () => {
  await using engine = await start();
  const result = await engine.ask("Make 60 texts of 4096 bytes, one per iteration, and keep a list of their numbers.");
  assert.equal(result.answer, "Made 60 texts.");
  const bytes = (await engine.store.iterations(result.queryId)).map(({ metadata }) => Number(metadata["requestBytes"]));
  assert.ok(Math.max(...bytes.slice(20)) <= (bytes[19] ?? 0) * 1.1, bytes.join());
});
