import assert from "node:assert/strict";
import { LiveRun, Runs } from "../../../src/channels/http/live_runs.ts";
import type { QueryEvent, QueryEventBody, QueryResult } from "../../../src/domain/query/query_schemas.ts";

function running() {
  let emit: (event: QueryEvent) => void = () => {};
  const end = Promise.withResolvers<QueryResult>();
  const run = new LiveRun((options) => {
    emit = options.emit;
    return end.promise;
  });
  let seq = 0;
  const send = (body: QueryEventBody): void => emit({ ...body, seq: ++seq, at: 0, queryId: "q", iteration: 1 });
  return { run, send, end: () => end.resolve({} as QueryResult) };
}

const piece = (length: number): QueryEventBody => ({ type: "thinking", delta: "x".repeat(length) });

Deno.test("Run keeps its newest events, and half a million characters of their texts", async () => {
  const { run, send } = running();
  for (let at = 0; at < 1_200; at++) send(piece(10));
  assert.deepEqual([run.oldest, run.newest], [201, 1_200]);
  for (let at = 0; at < 5; at++) send(piece(200_000));
  assert.deepEqual([run.oldest, run.newest], [1_204, 1_205]);
  send(piece(900_000));
  assert.deepEqual([run.oldest, (await run.events().next()).value?.number], [1_206, 1_206]);
});

Deno.test("Run keeps little once it has ended and another begins", async () => {
  const { run, send, end } = running();
  for (let at = 0; at < 100; at++) send(piece(5_000));
  run.rest();
  assert.equal(run.oldest, 1);
  end();
  await run.ended;
  await Promise.resolve();
  run.rest();
  assert.deepEqual([run.oldest, run.newest], [61, 100]);
});

Deno.test("Run keeps only the newest output of a running command", async () => {
  const { run, send } = running();
  send(piece(10));
  for (let at = 0; at < 3_000; at++) send({ type: "call_output", block: 0, output: `line ${at}` });
  send(piece(10));
  assert.deepEqual([run.oldest, run.newest], [1, 3_002]);
  const events = run.events(), numbers: (number | undefined)[] = [];
  for (let at = 0; at < 3; at++) numbers.push((await events.next()).value?.number);
  assert.deepEqual(numbers, [1, 3_001, 3_002]);
});

Deno.test("in a shared database, Runs also reaches a process that is no node", async () => {
  const of = (found: number) => ({
    cancel: () => Promise.resolve(found),
    questions: () => Promise.resolve(Array.from({ length: found }, () => ({ id: `${found}` }))),
    answer: () => Promise.resolve(found > 0),
    isBusy: () => Promise.resolve(found > 0),
  });
  const through = (node: number, other: number) => {
    const parts = { shared: of(node), elsewhere: of(other), onEvent: () => {} };
    return new Runs({} as never, parts as never);
  };
  for (const [node, other, found] of [[0, 1, 1], [2, 1, 2], [0, 0, 0]] as const) {
    const runs = through(node, other);
    assert.equal(await runs.cancel("c"), found);
    assert.equal(await runs.runsIn("c"), node > 0);
    assert.deepEqual((await runs.questions("c")).map(({ id }) => id), Array.from({ length: found }, () => `${found}`));
    assert.equal(await runs.answer("c", "q", { decision: "once" } as never), found > 0);
  }
});
