import assert from "node:assert/strict";
import { EventSource } from "eventsource";
import { z } from "zod";
import { textStream } from "../../../src/channels/http/followed_query.ts";
import { QueryEventSchema } from "../../../src/domain/query/query_schemas.ts";
import { final, replyJson } from "../../helpers/scripted_provider.ts";
import { sseEvents } from "../../helpers/wires/sse_events.ts";
import { allEvents, type Rig, SSE, startRig, TOKEN } from "./_rig.ts";

Deno.test("FollowedQuery rebuilds events that a running query no longer keeps, and continues with its next ones", async () => {
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

Deno.test("textStream() sends signs of life until the first text, then ends with the texts", async () => {
  const { promise: said, resolve } = Promise.withResolvers<string>();
  const stream = textStream(
    (async function* () {
      yield await said;
      yield "b";
    })(),
    { heartbeatMs: 1, alive: "." },
  );
  const decoder = new TextDecoder();
  let text = "";
  for await (const bytes of stream) {
    text += decoder.decode(bytes);
    if (text === "...") resolve("a");
  }
  assert.match(text, /^\.{3,}a\.*b$/);
});

Deno.test("textStream() fails as its texts do, and leaves no timer", async () => {
  const stream = textStream(
    (async function* () {
      yield "a";
      throw new Error("It broke");
    })(),
    { heartbeatMs: 60_000, alive: "." },
  );
  await assert.rejects(new Response(stream).text(), /It broke/);
});

type Fetch = NonNullable<ConstructorParameters<typeof EventSource>[1]>["fetch"];

/** The package's documentation sends headers this way. */
const withToken: Fetch = (input, init) =>
  fetch(input, { ...init, headers: { ...init?.headers, authorization: `Bearer ${TOKEN}` } });

async function ended(rig: Rig): Promise<string> {
  const at = `${rig.url}api/v1/conversations/${await rig.conversation()}`;
  const { queryId } = await (await rig.post(`${new URL(at).pathname}/messages`, { request: "x" })).json();
  return `${at}/queries/${queryId}/events`;
}

Deno.test("eventsource: every event has its name, and after the end the server stops it by 204", async () => {
  await using rig = await startRig([replyJson("1 + 1", { thinking: "Adding them" }), final("It is 2")]);
  const statuses: number[] = [];
  const source = new EventSource(await ended(rig), {
    fetch: async (input, init) => {
      const response = await withToken(input, init);
      statuses.push(response.status);
      return response;
    },
  });
  const seen: string[] = [];
  for (const type of ["started", "thinking", "block_started", "iteration_finished", "final"]) {
    source.addEventListener(type, ({ data }) => void seen.push(JSON.parse(data).type));
  }
  const stopped = Promise.withResolvers<void>();
  source.addEventListener("error", () => source.readyState === source.CLOSED && stopped.resolve());
  await stopped.promise;
  assert.deepEqual([seen[0], seen.at(-1)], ["started", "final"]);
  assert.ok(seen.includes("thinking") && seen.includes("block_started"));
  assert.equal(seen.filter((type) => type === "final").length, 1, "nothing is sent again");
  assert.deepEqual(statuses, [200, 204]);
});

Deno.test("eventsource: without a token it stops at once", async () => {
  await using rig = await startRig([final("It is 2")]);
  const source = new EventSource(await ended(rig));
  const failed = Promise.withResolvers<number | undefined>();
  source.addEventListener("error", ({ code }) => failed.resolve(code));
  assert.equal(await failed.promise, 401);
  assert.equal(source.readyState, source.CLOSED);
});

Deno.test("QueryEventSchema describes the stream: every event fits, without further fields", async () => {
  await using rig = await startRig([
    replyJson(["const a = 1; console.log(a)", "missing()"], { thinking: "First" }),
    replyJson([], { final: "It is {{a}}" }),
  ]);
  const id = await rig.conversation();
  const seen = await allEvents(await rig.post(`/api/v1/conversations/${id}/messages`, { request: "x" }, SSE));
  for (const { data, event } of seen) {
    const { error } = strict(QueryEventSchema).safeParse(data);
    assert.equal(error, undefined, `${event}: ${error && z.prettifyError(error)}`);
  }
  const { components } = await (await rig.ask("/openapi.json")).json();
  const named = components.schemas.QueryEvent.oneOf.map((one: { properties: { type: { const: string } } }) =>
    one.properties.type.const
  );
  assert.deepEqual(named.toSorted(), QueryEventSchema.options.map(({ shape }) => shape.type.value).toSorted());
});

function strict(schema: typeof QueryEventSchema): z.ZodType {
  return z.union(schema.options.map((option): z.ZodType => option.strict()));
}
