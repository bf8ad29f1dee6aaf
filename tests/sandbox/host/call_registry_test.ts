import assert from "node:assert/strict";
import { CallRegistry } from "../../../src/sandbox/host/_call_registry.ts";
import { encode } from "../../../src/sandbox/codec/codec.ts";
import { type Frame, ProtocolError, wireId } from "../../../src/sandbox/protocol.ts";

const frame = (header: Frame["header"]): Frame => ({ header, payload: encode([]) });
const call = (run: string, id = wireId()): Frame => frame({ t: "call", id, run, name: "f" });
const turn = (): Promise<void> => new Promise((done) => setTimeout(done, 0));

function deskOf(onCall: (options: { readonly signal: AbortSignal }) => Promise<unknown>) {
  const answered: unknown[] = [];
  const desk = new CallRegistry({ functions: ["f"], onCall, send: ({ id }) => answered.push(id) });
  return { desk, answered };
}

Deno.test("CallDesk knows nothing of a query once the child is done with it", async () => {
  const { desk } = deskOf(() => Promise.resolve(1));
  for (let query = 0; query < 50; query++) {
    const run = wireId(), one = call(run);
    desk.beginRun(run, 0);
    desk.receive(one);
    await turn();
    const forget = desk.endQuery();
    assert.equal(desk.callsOf(run).length, 1, "the child may still send what it has begun");
    assert.throws(() => desk.receive(one), ProtocolError, "an id counts once");
    desk.cancel(frame({ t: "cancel", id: one.header["id"] }));
    forget();
    assert.deepEqual(desk.callsOf(run), []);
    assert.throws(() => desk.receive(call(run)), /unknown run/);
    assert.throws(() => desk.cancel(frame({ t: "cancel", id: one.header["id"] })), /not made/);
  }
});

Deno.test("CallDesk keeps what the end of a query left unanswered, and the runs that came after it", async () => {
  const held = Promise.withResolvers<number>();
  const { desk, answered } = deskOf(() => held.promise);
  const old = wireId(), open = call(old), next = wireId();
  desk.beginRun(old, 0);
  desk.receive(open);
  const forget = desk.endQuery();
  desk.beginRun(next, 0);
  const later = call(next);
  desk.receive(later);
  forget();
  desk.cancel(frame({ t: "cancel", id: open.header["id"] }));
  assert.throws(() => desk.receive(open), ProtocolError);
  held.resolve(1);
  await turn();
  assert.deepEqual(answered, [open.header["id"], later.header["id"]]);
  assert.deepEqual([desk.callsOf(old).length, desk.callsOf(next).length], [1, 1]);
  desk.endQuery()();
  assert.deepEqual([desk.callsOf(old), desk.callsOf(next)], [[], []]);
});
