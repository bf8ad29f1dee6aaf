import assert from "node:assert/strict";
import { encode } from "../../../src/sandbox/codec/codec.ts";
import { CallRegistry } from "../../../src/sandbox/host/_call_registry.ts";
import { ActiveRun, BlockOutput } from "../../../src/sandbox/host/open_sandbox.ts";
import { wireId } from "../../../src/sandbox/protocol.ts";
import { until } from "../../helpers/until.ts";

const pause = (ms: number): Promise<void> => new Promise((done) => setTimeout(done, ms));

Deno.test("ActiveRun counts no time in which the child waits for a call with its own deadline, and all other", async () => {
  const signals: AbortSignal[] = [];
  const { promise: answer, resolve } = Promise.withResolvers<void>();
  const calls = new CallRegistry({
    functions: ["rlm.run", "fs.read"],
    untimed: ["rlm.run"],
    onCall: ({ name, signal }) => {
      signals.push(signal);
      return name === "rlm.run" ? answer : new Promise(() => {});
    },
    send: () => {},
  });
  const run = wireId();
  calls.beginRun(run, { iteration: 1, index: 0 });
  const active = new ActiveRun({
    id: run,
    block: { code: "x", iteration: 1, index: 0, deadlineMs: 150 },
    graceMs: 20,
    memoryBytes: 1 << 28,
    output: new BlockOutput(100, undefined),
    calls,
    due: () => {},
    cancel: () => {},
    kill: () => {},
  });
  try {
    for (const name of ["rlm.run", "fs.read"]) {
      calls.receive({ header: { t: "call", id: wireId(), run, name }, payload: encode([]) });
    }
    active.waited(0, { goesOn: true });
    await pause(300);
    assert.deepEqual(signals.map(({ aborted }) => aborted), [false, false]);
    assert.ok(calls.untimedMs >= 250);
    resolve();
    await until(() => signals[1]?.aborted === true);
    const before = calls.untimedMs;
    await pause(20);
    assert.equal(calls.untimedMs, before);
  } finally {
    active.end();
    calls.close();
  }
});

Deno.test("ActiveRun kills the child of a run that overstays, unless its foreign code has ended", async () => {
  const killed: string[] = [];
  const calls = new CallRegistry({ functions: [], onCall: () => Promise.resolve(), send: () => {} });
  const begin = (name: string): ActiveRun => {
    const id = wireId();
    calls.beginRun(id, { iteration: 1, index: 0 });
    return new ActiveRun({
      id,
      block: { code: "x", iteration: 1, index: 0, deadlineMs: 20 },
      graceMs: 10,
      memoryBytes: 1 << 28,
      output: new BlockOutput(100, undefined),
      calls,
      due: () => {},
      cancel: () => {},
      kill: () => killed.push(name),
    });
  };
  const runs = ["stuck", "settled", "paused without a call"].map(begin);
  try {
    runs[1]?.settled();
    runs[2]?.waited(1000, { goesOn: true });
    await until(() => killed.length === 2);
    assert.deepEqual(killed, ["stuck", "paused without a call"]);
  } finally {
    for (const run of runs) run.end();
    calls.close();
  }
});
