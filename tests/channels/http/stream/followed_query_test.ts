import assert from "node:assert/strict";
import { replyJson } from "../../../helpers/scripted_provider.ts";
import { sseEvents } from "../../../helpers/wires/sse_events.ts";
import { SSE, startRig } from "../_rig.ts";

Deno.test("FollowedQuery rebuilds what a running query no longer keeps, and goes on with what it does next", async () => {
  const code = `"${"x".repeat(3_000)}".length`;
  await using rig = await startRig([
    { text: replyJson(code, { thinking: "Long" }), chunk: 1 },
    { text: replyJson([], { final: "never" }), delayMs: 60_000 },
  ]);
  const id = await rig.conversation();
  const at = `/api/v1/conversations/${id}`;
  const first = sseEvents(await rig.post(`${at}/messages`, { request: "x" }, SSE));
  const started = (await first.next()).value;
  for await (const { event } of first) if (event === "iteration_finished") break;
  const path = `${at}/queries/${started?.data.queryId}/events`;
  const following = sseEvents(await rig.ask(path, { headers: { "last-event-id": "5" } }));
  const { value: head } = await following.next();
  assert.ok(head);
  const cancelled = await rig.post(`${at}/cancel`);
  assert.deepEqual(await cancelled.json(), { cancelled: 1 });
  const events = [head, ...await Array.fromAsync(following)];
  const rebuilt = events.filter(({ id }) => id.startsWith("r"));
  assert.deepEqual(rebuilt.map(({ event }) => event), [
    ...["started", "thinking", "block_started", "block_finished", "iteration_finished"],
  ]);
  const [block] = events.filter(({ data }) => data.type === "block_started");
  assert.equal(block?.data.type === "block_started" && block.data.code, code);
  assert.equal(events.filter(({ event }) => event === "started").length, 1);
  assert.equal(events.at(-1)?.event, "cancelled");
  assert.equal(events.filter(({ event }) => event === "cancelled").length, 1);
});
