import assert from "node:assert/strict";
import { Idempotency } from "../../../src/channels/http/repeated_requests.ts";
import { final } from "../../helpers/scripted_provider.ts";
import { sseEvents } from "../../helpers/wires/sse_events.ts";
import { withDatabase } from "../../helpers/with_database.ts";
import { allEvents, SSE, startRig } from "./_rig.ts";

const KEY = { "idempotency-key": "abc" };

Deno.test("Idempotency a key of an earlier server answers with its query, and with 422 for another body", async () => {
  await withDatabase(async (path) => {
    const place = { id: "", queryId: "" };
    {
      await using rig = await startRig([final("once")], { engine: { path } });
      place.id = await rig.conversation();
      const done = await (await rig.post(`/api/v1/conversations/${place.id}/messages`, { request: "x" }, KEY)).json();
      place.queryId = done.queryId;
    }
    await using rig = await startRig([], { engine: { path } });
    const at = `/api/v1/conversations/${place.id}/messages`;
    const again = await (await rig.post(at, { request: "x" }, KEY)).json();
    assert.deepEqual([again.queryId, again.answer], [place.queryId, "once"]);
    const events = await allEvents(await rig.post(at, { request: "x" }, { ...KEY, ...SSE }));
    assert.deepEqual([events[0]?.id, events.at(-1)?.event], ["r1", "final"]);
    assert.equal((await rig.post(at, { request: "y" }, KEY)).status, 422);
    assert.equal(rig.engine.provider.requests.length, 0);
  });
});

Deno.test("Idempotency the key of a retry that made a branch is found after a restart, although the name means that branch now", async () => {
  await withDatabase(async (path) => {
    const place = { id: "", first: "", again: "" };
    {
      await using rig = await startRig([final("one"), final("two"), final("one again")], { engine: { path } });
      place.id = await rig.conversation();
      const at = `/api/v1/conversations/${place.id}`;
      place.first = (await (await rig.post(`${at}/messages`, { request: "x" })).json()).queryId;
      await (await rig.post(`${at}/messages`, { request: "y" })).text();
      const retried = await (await rig.post(`${at}/retry`, { queryId: place.first }, KEY)).json();
      assert.equal(retried.answer, "one again");
      place.again = retried.queryId;
    }
    await using rig = await startRig([], { engine: { path } });
    const at = `/api/v1/conversations/${place.id}`;
    const found = await (await rig.post(`${at}/retry`, { queryId: place.first }, KEY)).json();
    assert.deepEqual([found.queryId, found.answer], [place.again, "one again"]);
  });
});

Deno.test("Idempotency the key of a run that was replaced since answers with that run", async () => {
  await withDatabase(async (path) => {
    const place = { id: "" };
    {
      await using rig = await startRig([final("bad"), final("good")], { engine: { path } });
      place.id = await rig.conversation();
      const at = `/api/v1/conversations/${place.id}`;
      const { queryId } = await (await rig.post(`${at}/messages`, { request: "x" }, KEY)).json();
      await (await rig.post(`${at}/retry`, { queryId })).text();
    }
    await using rig = await startRig([], { engine: { path } });
    const found = await rig.post(`/api/v1/conversations/${place.id}/messages`, { request: "x" }, KEY);
    assert.equal((await found.json()).answer, "bad");
  });
});

Deno.test("Idempotency a refused request can be repeated with its key", async () => {
  const refused = Promise.withResolvers<void>();
  await using rig = await startRig([{ text: final("a"), after: refused.promise }, final("b")]);
  const at = `/api/v1/conversations/${await rig.conversation()}/messages`;
  const first = sseEvents(await rig.post(at, { request: "x" }, SSE));
  await first.next();
  assert.equal((await rig.post(at, { request: "y" }, KEY)).status, 409);
  refused.resolve();
  await Array.fromAsync(first);
  assert.equal((await (await rig.post(at, { request: "y" }, KEY)).json()).answer, "b");
});

Deno.test("Idempotency a clock that jumps a day makes no key new, and the database decides its meaning", async () => {
  const clock = { own: 0 };
  const once = new Idempotency(() => clock.own);
  let begun = 0;
  const stored = { row: null as { readonly queryId: string; readonly fingerprint: string } | null };
  const ask = () =>
    once.once("k", {
      conversation: { branchId: "b", conversationId: "c" },
      what: "send",
      body: "x",
      stored: () => Promise.resolve(stored.row),
      work: (key) => {
        const queryId = `q${++begun}`;
        stored.row = { queryId, fingerprint: key?.fingerprint ?? "" };
        return Promise.resolve({ queryId });
      },
    });
  assert.deepEqual(await ask(), { queryId: "q1" });
  stored.row = { fingerprint: "", ...stored.row, queryId: "continued elsewhere" };
  assert.deepEqual(await ask(), { queryId: "continued elsewhere" });
  stored.row = null; // By the database's clock, the day of the row is over.
  assert.deepEqual(await ask(), { queryId: "continued elsewhere" });
  assert.equal(begun, 1);
  clock.own += 24 * 3_600_000;
  assert.deepEqual(await ask(), { queryId: "q2" });
});
