import assert from "node:assert/strict";
import { CallRegistry } from "../../../src/sandbox/host/_call_registry.ts";
import { decode, encode } from "../../../src/sandbox/codec/codec.ts";
import {
  type Frame,
  MAX_CALL_VALUES,
  MAX_RESULT_VALUES,
  ProtocolError,
  wireId,
} from "../../../src/sandbox/protocol.ts";

const frame = (header: Frame["header"]): Frame => ({ header, payload: encode([]) });
const call = (run: string, id = wireId()): Frame => frame({ t: "call", id, run, name: "f" });
const turn = (): Promise<void> => new Promise((done) => setTimeout(done, 0));

function registryOf(onCall: (options: { readonly signal: AbortSignal }) => Promise<unknown>) {
  const answered: unknown[] = [];
  const registry = new CallRegistry({ functions: ["f"], onCall, send: ({ id }) => answered.push(id) });
  return { registry, answered };
}

Deno.test("CallRegistry knows nothing of a query once the child is done with it", async () => {
  const { registry } = registryOf(() => Promise.resolve(1));
  for (let query = 0; query < 50; query++) {
    const run = wireId(), one = call(run);
    registry.beginRun(run, { iteration: 1, index: 0 });
    registry.receive(one);
    await turn();
    const forget = registry.endQuery();
    assert.equal(registry.callsOf(run).length, 1, "the child may still send what it has begun");
    assert.throws(() => registry.receive(one), ProtocolError, "an id counts once");
    registry.cancel(frame({ t: "cancel", id: one.header["id"] }));
    forget();
    assert.deepEqual(registry.callsOf(run), []);
    assert.throws(() => registry.receive(call(run)), /its block run \S+ is unknown/);
    assert.throws(() => registry.cancel(frame({ t: "cancel", id: one.header["id"] })), /knows no call with this id/);
  }
});

Deno.test("CallRegistry keeps calls that the end of a query left unanswered, and later runs", async () => {
  const held = Promise.withResolvers<number>();
  const { registry, answered } = registryOf(() => held.promise);
  const old = wireId(), open = call(old), next = wireId();
  registry.beginRun(old, { iteration: 1, index: 0 });
  registry.receive(open);
  const forget = registry.endQuery();
  registry.beginRun(next, { iteration: 1, index: 0 });
  const later = call(next);
  registry.receive(later);
  forget();
  registry.cancel(frame({ t: "cancel", id: open.header["id"] }));
  assert.throws(() => registry.receive(open), ProtocolError);
  held.resolve(1);
  await turn();
  assert.deepEqual(answered, [open.header["id"], later.header["id"]]);
  assert.deepEqual([registry.callsOf(old).length, registry.callsOf(next).length], [1, 1]);
  registry.endQuery()();
  assert.deepEqual([registry.callsOf(old), registry.callsOf(next)], [[], []]);
});

Deno.test("CallRegistry refuses a call of too many values before it builds them, and answers it", async () => {
  const answers: unknown[] = [];
  let called = 0;
  const registry = new CallRegistry({
    functions: ["f"],
    onCall: () => Promise.resolve(called++),
    send: ({ ok }, payload) => answers.push([ok, decode(payload)]),
  });
  const run = wireId();
  registry.beginRun(run, { iteration: 1, index: 0 });
  const send = (value: unknown): void =>
    registry.receive({ header: { t: "call", id: wireId(), run, name: "f" }, payload: encode([value]) });
  send(Array(MAX_CALL_VALUES + 1).fill(1));
  send(Array(1_000).fill(1));
  await turn();
  assert.equal(called, 1);
  assert.deepEqual(answers.map((one) => (one as unknown[])[0]).sort(), [false, true]);
});

Deno.test("CallRegistry lets in only as many large calls as fit into the heap, then the others", async () => {
  let open = 0, most = 0, answered = 0;
  const held: (() => void)[] = [];
  const registry = new CallRegistry({
    functions: ["f"],
    onCall: async () => {
      most = Math.max(most, ++open);
      await new Promise<void>((resolve) => held.push(resolve));
      open--;
    },
    send: () => answered++,
  });
  const run = wireId(), payload = encode(["x".repeat(16 << 20)]);
  registry.beginRun(run, { iteration: 1, index: 0 });
  for (let i = 0; i < 7; i++) registry.receive({ header: { t: "call", id: wireId(), run, name: "f" }, payload });
  for (let i = 0; i < 50 && answered < 7; i++) {
    await turn();
    held.shift()?.();
  }
  assert.deepEqual([answered, most], [7, 2]);
});

Deno.test("CallRegistry refuses a result of too many values", async () => {
  const answers: boolean[] = [];
  const registry = new CallRegistry({
    functions: ["f"],
    onCall: () => Promise.resolve(Array(MAX_RESULT_VALUES + 1).fill(1)),
    send: ({ ok }) => answers.push(ok === true),
  });
  const run = wireId();
  registry.beginRun(run, { iteration: 1, index: 0 });
  registry.receive(call(run));
  await turn();
  assert.deepEqual(answers, [false]);
});
