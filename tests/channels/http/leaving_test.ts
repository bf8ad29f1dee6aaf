import assert from "node:assert/strict";
import { oneToken } from "../../../src/channels/http/tokens.ts";
import { final } from "../../helpers/scripted_provider.ts";
import { openAiClient } from "./openai/_client.ts";
import { held as connection } from "./_raw.ts";
import { NO_QUOTA, onCall, type Rig, startRig, TOKEN } from "./_rig.ts";
import { until } from "../../helpers/until.ts";

const endless = { text: final("never"), delayMs: 60_000 };
const user = { role: "user" as const, content: "x" };

function held(text: string) {
  const { promise: after, resolve: release } = Promise.withResolvers<void>();
  return { reply: { text: final(text), after }, release };
}

const messages = (id: string): string => `/api/v1/conversations/${id}/messages`;

/** Returns the reasons for which all queries ended, once none runs. */
async function ended({ engine: { store } }: Rig): Promise<readonly string[]> {
  const queries = async () => {
    const found = await store.listConversations({ limit: 10 });
    return (await Promise.all(found.map(({ branchId }) => store.queries(branchId)))).flat();
  };
  await until(async () => (await queries()).every(({ running }) => !running));
  return (await queries()).map(({ reason }) => reason ?? "running");
}

/** Calls the time limit of a client as soon as the model gets its first call. */
function firstTimesOut({ engine: { provider } }: Rig): typeof fetch {
  let calls = 0;
  return async (input, init = {}) => {
    if (calls++ > 0) return await fetch(input, init);
    const late = new AbortController();
    const answer = fetch(input, { ...init, signal: late.signal });
    await until(() => provider.requests.length > 0);
    late.abort();
    return await answer;
  };
}

async function leave(
  rig: Rig,
  path: string,
  { body = {}, headers = {} }: { readonly body?: object; readonly headers?: Readonly<Record<string, string>> } = {},
): Promise<void> {
  const gone = new AbortController();
  const { requests } = rig.engine.provider;
  const before = requests.length;
  const asked = rig.ask(path, {
    method: "POST",
    headers: { "content-type": "application/json", ...headers },
    body: JSON.stringify(body),
    signal: gone.signal,
  });
  await until(() => requests.length > before);
  gone.abort();
  await assert.rejects(asked.then((response) => response.text()), { name: "AbortError" });
}

/** Waits until the server has noticed another client that leaves now, and so every earlier one. */
async function missed(rig: Rig): Promise<void> {
  const id = await rig.conversation();
  await leave(rig, messages(id), { body: { request: "y" } });
  const [query] = await rig.engine.store.queries(id);
  await until(async () => !(await rig.engine.store.query(query?.queryId ?? ""))?.running);
}

Deno.test("messages: a client that leaves the wait for a result cancels its query", async () => {
  await using rig = await startRig([endless, endless]);
  const id = await rig.conversation();
  await leave(rig, messages(id), { body: { request: "x" } });
  assert.deepEqual(await ended(rig), ["cancelled"]);
  const [{ queryId }] = (await (await rig.ask(`/api/v1/conversations/${id}/queries`)).json()).items;
  await leave(rig, `/api/v1/conversations/${id}/retry`, { body: { queryId } });
  assert.deepEqual([...new Set(await ended(rig))], ["cancelled"]);
});

Deno.test("messages: the usage of a query until its client left counts against the quota of the token", async () => {
  const taking = { ...endless, usage: { input: 1_000_000, output: 0 } };
  await using rig = await startRig([taking], {
    tokens: oneToken(TOKEN, { ...NO_QUOTA, costUsdPerDay: 2 }),
    engine: { scripted: { capabilities: { price: { input: 3, output: 3, cached: 3 } } } },
  });
  const id = await rig.conversation();
  await leave(rig, messages(id), { body: { request: "x" } });
  assert.deepEqual(await ended(rig), ["cancelled"]);
  const [query] = (await (await rig.ask(`/api/v1/conversations/${id}/queries`)).json()).items;
  assert.deepEqual([query.usage.input, query.costUsd], [1_000_000, 3]);
  const refused = await rig.post(messages(id), { request: "y" });
  assert.match(
    (await refused.json()).detail,
    /this token has spent its limit of \$2 for today; try again after 00:00 UTC/,
  );
});

Deno.test("messages: with an idempotency key the query continues, and the next call has its outcome", async () => {
  const { reply, release } = held("went on");
  await using rig = await startRig([reply, endless]);
  const id = await rig.conversation();
  const headers = { "idempotency-key": "k1" };
  await leave(rig, messages(id), { body: { request: "x" }, headers });
  await missed(rig);
  release();
  const again = await (await rig.post(messages(id), { request: "x" }, headers)).json();
  assert.deepEqual([again.reason, again.answer], ["answered", "went on"]);
  assert.equal(rig.engine.provider.requests.length, 2);
});

Deno.test("messages: a client may let its query continue without it", async () => {
  const { reply, release } = held("went on");
  await using rig = await startRig([reply, endless]);
  await leave(rig, messages(await rig.conversation()), { body: { request: "x", cancelOnDisconnect: false } });
  await missed(rig);
  release();
  assert.deepEqual((await ended(rig)).toSorted(), ["answered", "cancelled"]);
});

Deno.test("messages: a message for a running query that became a query continues without its client", async () => {
  const { reply, release } = held("went on");
  await using rig = await startRig([reply, endless]);
  await leave(rig, messages(await rig.conversation()), { body: { request: "x", whenBusy: "steer" } });
  await missed(rig);
  release();
  assert.deepEqual((await ended(rig)).toSorted(), ["answered", "cancelled"]);
});

Deno.test("messages: a client that leaves while it waits for another's query begins none", async () => {
  const { reply, release } = held("first");
  await using rig = await startRig([reply, endless]);
  const id = await rig.conversation();
  const first = rig.post(messages(id), { request: "first", cancelOnDisconnect: false });
  await until(() => rig.engine.provider.requests.length > 0);
  const gone = new AbortController();
  const come = Promise.withResolvers<void>();
  onCall(rig, "ask", () => come.resolve());
  const waiting = rig.ask(messages(id), {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ request: "second", whenBusy: "wait" }),
    signal: gone.signal,
  });
  void come.promise.then(() => gone.abort());
  await assert.rejects(waiting.then((response) => response.text()), { name: "AbortError" });
  await missed(rig);
  release();
  assert.equal((await (await first).json()).answer, "first");
  const answered = () =>
    rig.logged.filter(({ event, data }) => event === "request" && Object(data).path === messages(id)).length;
  await until(() => answered() >= 2);
  assert.equal(rig.engine.provider.requests.length, 2);
});

Deno.test("openai client: a call that times out leaves no query running, and its repetition does not run it again", async () => {
  const client = (rig: Rig) => openAiClient(rig).withOptions({ fetch: firstTimesOut(rig), maxRetries: 1 });
  const calls: Readonly<Record<string, (rig: Rig) => Promise<unknown>>> = {
    completions: (rig) => client(rig).chat.completions.create({ model: "vis", messages: [user] }),
    responses: (rig) => client(rig).responses.create({ input: "x" }),
  };
  await Promise.all(
    Object.values(calls).map(async (call) => {
      await using rig = await startRig([endless, endless]);
      await assert.rejects(call(rig), { status: 409, message: /your client stopped waiting.*Idempotency-Key/ });
      assert.deepEqual(await ended(rig), ["cancelled"]);
    }),
  );
});

Deno.test("openai: a repetition is refused though the server has not missed the first client yet", async () => {
  await using rig = await startRig([endless]);
  const body = JSON.stringify({ model: "vis", messages: [user] });
  const lines = [
    "POST /v1/chat/completions HTTP/1.1",
    `Host: ${new URL(rig.url).host}`,
    `Authorization: Bearer ${TOKEN}`,
    "Content-Type: application/json",
    `Content-Length: ${body.length}`,
  ];
  const socket = await connection(rig.url, [...lines, "", body].join("\r\n"));
  await until(() => rig.engine.provider.requests.length > 0);
  await new Promise((resolve) => socket.once("close", resolve).destroy());
  const again = await rig.post("/v1/chat/completions", body, { "x-stainless-retry-count": "1" });
  assert.equal(again.status, 409);
  await again.body?.cancel();
  assert.deepEqual(await ended(rig), ["cancelled"]);
});

Deno.test("openai client: a call that is aborted cancels its query", async () => {
  await using rig = await startRig([endless]);
  const gone = new AbortController();
  const asked = openAiClient(rig).chat.completions.create({ model: "vis", messages: [user] }, { signal: gone.signal });
  await until(() => rig.engine.provider.requests.length > 0);
  gone.abort();
  await assert.rejects(asked);
  assert.deepEqual(await ended(rig), ["cancelled"]);
});

Deno.test("an answered call does not count as abandoned", async () => {
  await using rig = await startRig([final("one"), final("two")]);
  const id = await rig.conversation();
  assert.equal((await (await rig.post(messages(id), { request: "x" })).json()).reason, "answered");
  const done = await openAiClient(rig).chat.completions.create({ model: "vis", messages: [user] });
  assert.equal(done.choices[0]?.message.content, "two");
  assert.deepEqual(await ended(rig), ["answered", "answered"]);
});
