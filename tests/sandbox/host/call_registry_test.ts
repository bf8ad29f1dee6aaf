import assert from "node:assert/strict";
import { CallRegistry } from "../../../src/sandbox/host/_call_registry.ts";
import { encode } from "../../../src/sandbox/codec/codec.ts";
import { type Frame, ProtocolError, wireId } from "../../../src/sandbox/protocol.ts";

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
    registry.beginRun(run, 0);
    registry.receive(one);
    await turn();
    const forget = registry.endQuery();
    assert.equal(registry.callsOf(run).length, 1, "the child may still send what it has begun");
    assert.throws(() => registry.receive(one), ProtocolError, "an id counts once");
    registry.cancel(frame({ t: "cancel", id: one.header["id"] }));
    forget();
    assert.deepEqual(registry.callsOf(run), []);
    assert.throws(() => registry.receive(call(run)), /unknown run/);
    assert.throws(() => registry.cancel(frame({ t: "cancel", id: one.header["id"] })), /not made/);
  }
});

Deno.test("CallRegistry keeps what the end of a query left unanswered, and the runs that came after it", async () => {
  const held = Promise.withResolvers<number>();
  const { registry, answered } = registryOf(() => held.promise);
  const old = wireId(), open = call(old), next = wireId();
  registry.beginRun(old, 0);
  registry.receive(open);
  const forget = registry.endQuery();
  registry.beginRun(next, 0);
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
