import assert from "node:assert/strict";
import type { ApprovalAnswer } from "../../../../src/domain/query/approval.ts";
import { StoreError, UsageError } from "../../../../src/domain/errors.ts";
import { abortable } from "../../../../src/domain/kit/concurrency.ts";
import { reviewRequest } from "../../../../src/domain/query/stored_query.ts";
import { oneToken } from "../../../../src/channels/http/tokens.ts";
import { ASKING } from "../../../helpers/asking_extension.ts";
import { final, replyJson } from "../../../helpers/scripted_provider.ts";
import { until } from "../../../helpers/until.ts";
import { sseEvents } from "../../../helpers/wires/sse_events.ts";
import { allEvents, NO_QUOTA, onCall, type Rig, SSE, startRig, TOKEN } from "../_rig.ts";

const endless = { text: final("never"), delayMs: 60_000 };

const messages = (id: string): string => `/api/v1/conversations/${id}/messages`;

async function nextEvent(events: AsyncGenerator<{ readonly event: string }>, name: string): Promise<void> {
  for (;;) {
    const { value, done } = await events.next();
    if (done) throw new Error(`No event ${name}`);
    if (value.event === name) return;
  }
}

async function queries(rig: Rig, id: string) {
  return (await (await rig.ask(`/api/v1/conversations/${id}/queries`)).json()).items;
}

Deno.test("messages: a query returns its result, and the conversation continues", async () => {
  await using rig = await startRig([replyJson("const kept = 7"), final("{{kept}}"), final("again {{kept}}")]);
  const id = await rig.conversation();
  const result = await (await rig.post(messages(id), { request: "first" })).json();
  assert.deepEqual([result.status, result.answer, result.iterations, result.conversationId], ["done", "7", 2, id]);
  assert.equal((await (await rig.post(messages(id), { request: "second" })).json()).answer, "again 7");
  assert.deepEqual((await queries(rig, id)).map((q: { text: string }) => q.text), ["first", "second"]);
});

Deno.test("messages: the stream carries the events of the query unchanged, numbered, with one end", async () => {
  await using rig = await startRig([replyJson("1 + 1", { thinking: "Hm" }), final("2")]);
  const id = await rig.conversation();
  const response = await rig.post(messages(id), { request: "x" }, SSE);
  assert.equal(response.headers.get("content-type"), "text/event-stream; charset=utf-8");
  const events = await allEvents(response);
  assert.deepEqual(events.map(({ id }) => Number(id)), events.map((_, at) => at + 1));
  assert.ok(events.every(({ event, data }) => event === data.type));
  const names = events.map(({ event }) => event);
  for (const name of ["started", "thinking", "block_started", "block_finished", "answer_delta"]) {
    assert.ok(names.includes(name), name);
  }
  assert.equal(names.filter((name) => ["final", "failed", "cancelled"].includes(name)).length, 1);
  assert.equal(names.at(-1), "final");
});

Deno.test("messages: a key counts for each form of the conversation's id", async () => {
  await using rig = await startRig([final("once"), final("never")]);
  const id = await rig.conversation();
  const [branch] = await rig.engine.conversations.list({ limit: 1 });
  const sent = async (form: string): Promise<string> =>
    (await (await rig.post(messages(form), { request: "x" }, { "idempotency-key": "k1" })).json()).queryId;
  const first = await sent(id);
  for (const form of [id.slice(0, 13), branch?.branchId ?? ""]) assert.equal(await sent(form), first, form);
});

Deno.test("messages: context, images, schema and budget reach the query", async () => {
  await using rig = await startRig([
    replyJson([], { final: { answer: '{"n":3}', answerType: "text", confidence: "high" } }),
  ], {
    engine: { scripted: { capabilities: { images: true } } },
  });
  const id = await rig.conversation();
  const png = `data:image/png;base64,${btoa("\x89PNG\r\n\x1a\nrest")}`;
  const body = {
    request: "count",
    context: { rows: [1, 2, 3] },
    responseSchema: { type: "object", properties: { n: { type: "number" } }, required: ["n"] },
    images: [png],
    maxIterations: 9,
  };
  const result = await (await rig.post(messages(id), body)).json();
  assert.deepEqual(result.value, { n: 3 });
  const asked = rig.engine.provider.requests[0];
  const text = asked?.texts.join("\n") ?? "";
  assert.match(text, /variable context holds context of the request/);
  assert.match(text, /\/9\b|of 9\b|9 iterations/);
  assert.ok(asked?.messages.some((message) => "images" in message && (message.images?.length ?? 0) === 1));
  assert.equal((await queries(rig, id))[0].images, 1);
});

Deno.test("messages: a request that send refuses is a problem, and is not stored", async () => {
  await using rig = await startRig([]);
  const id = await rig.conversation();
  const refused = async (body: unknown): Promise<readonly [number, string]> => {
    const response = await rig.post(messages(id), body);
    const { status, detail } = await response.json();
    assert.equal(response.status, status);
    return [status, detail];
  };
  assert.deepEqual(await refused({ request: "  " }), [
    400,
    "Cannot run the request: its text is empty; write a task or a question",
  ]);
  assert.match((await refused({})).join(" "), /^400 Cannot use the body: request is missing$/);
  assert.match(
    (await refused({ request: "x", extra: 1 })).join(" "),
    /^400 Cannot use the body: it has the unknown key extra$/,
  );
  assert.match((await refused({ request: "x", images: ["ftp://x"] })).join(" "), /^400 Cannot use image/);
  assert.match((await refused({ request: "x", responseSchema: { type: "nonsense" } })).join(" "), /^400 Cannot/);
  assert.match((await refused({ request: "x", maxIterations: 0 })).join(" "), /^400 .*maxIterations/);
  assert.deepEqual(await queries(rig, id), []);
  assert.equal((await rig.post(messages("01234567-0000"), { request: "x" })).status, 404);
});

Deno.test("messages: a busy conversation refuses, is steered, or lets one wait", async () => {
  const sent = Promise.withResolvers<void>();
  await using rig = await startRig([
    { text: replyJson("1"), after: sent.promise },
    (asked) => final(asked.context.includes("and this too") ? "both" : "one"),
    final("waited"),
  ]);
  onCall(rig, "steer", () => sent.resolve());
  const id = await rig.conversation();
  const events = sseEvents(await rig.post(messages(id), { request: "x" }, SSE));
  await nextEvent(events, "started");
  assert.equal((await rig.post(messages(id), { request: "y" })).status, 409);
  const waits = rig.post(messages(id), { request: "y", whenBusy: "wait" });
  const more = { images: [], context: 1, responseSchema: {}, plan: true, maxIterations: 8, model: "m" };
  for (const [key, value] of Object.entries({ ...more, maxCostUsd: 1, timeoutMs: 1_000 })) {
    const refused = await rig.post(messages(id), { request: "z", whenBusy: "steer", [key]: value });
    assert.equal(refused.status, 400, key);
    assert.match((await refused.json()).detail, new RegExp(`^Cannot steer the running request with ${key}: `));
  }
  const steered = await rig.post(messages(id), { request: "and this too", whenBusy: "steer" });
  assert.deepEqual([steered.status, await steered.json()], [202, { steered: true }]);
  await Array.fromAsync(events);
  assert.equal((await (await waits).json()).answer, "waited");
  assert.deepEqual((await queries(rig, id)).map((q: { answer: string }) => q.answer), ["both", "waited"]);
});

Deno.test("retry: more continues the last query for ten steps, and refuses others", async () => {
  await using rig = await startRig([replyJson("const kept = 7"), final("half"), replyJson("kept"), final("{{kept}}")]);
  const id = await rig.conversation();
  const stopped = await (await rig.post(messages(id), { request: "x", maxIterations: 1 })).json();
  assert.equal(stopped.reason, "max_iterations");
  const more = (queryId: string) => rig.post(`/api/v1/conversations/${id}/retry`, { queryId, more: true });
  const done = await (await more(stopped.queryId)).json();
  assert.deepEqual([done.reason, done.answer], ["answered", "7"]);
  assert.match(rig.engine.context(2), /^\[iter 1\/10\]/);
  const refused = await more(stopped.queryId);
  assert.equal(refused.status, 400);
  assert.match(
    (await refused.json()).detail,
    /^Cannot continue request .*: it is not the last request of branch .*; fork the conversation at this request first/,
  );
  const answered = await more(done.queryId);
  assert.match((await answered.json()).detail, /it did not stop at its step limit \(answered\)/);
});

Deno.test("retry: more names the branch whose last query it can continue, if a newer branch goes on after the query", async () => {
  await using rig = await startRig([
    replyJson("const kept = 7"),
    final("half"),
    final("in the fork"),
    final("{{kept}}"),
  ]);
  const id = await rig.conversation();
  const { queryId } = await (await rig.post(messages(id), { request: "x", maxIterations: 1 })).json();
  const more = (branch: string) => rig.post(`/api/v1/conversations/${branch}/retry`, { queryId, more: true });
  const { branchId } = (await queries(rig, id)).at(-1);
  const fork = await (await rig.post(`/api/v1/conversations/${id}/fork`, { queryId })).json();
  await (await rig.post(messages(fork.branchId), { request: "y" })).text();
  const refused = await more(id);
  assert.equal(refused.status, 400);
  const [, way] = (await refused.json()).detail.split("; ");
  assert.equal(way, `send the call to branch ${branchId}, which ends with this request`);
  assert.equal((await (await more(branchId)).json()).answer, "7");
});

Deno.test("cancel ends the running query as interrupted and keeps the conversation usable", async () => {
  await using rig = await startRig([endless, final("Here")]);
  const id = await rig.conversation();
  const events = sseEvents(await rig.post(messages(id), { request: "x" }, SSE));
  await nextEvent(events, "started");
  assert.ok((await (await rig.ask(`/api/v1/conversations/${id}`)).json()).running);
  const cancelled = await rig.post(`/api/v1/conversations/${id}/cancel`);
  assert.deepEqual(await cancelled.json(), { cancelled: 1 });
  await nextEvent(events, "cancelled");
  assert.equal((await (await rig.post(messages(id), { request: "y" })).json()).answer, "Here");
  assert.deepEqual(await (await rig.post(`/api/v1/conversations/${id}/cancel`)).json(), { cancelled: 0 });
  assert.equal((await (await rig.ask(`/api/v1/conversations/${id}`)).json()).running, null);
});

Deno.test("messages: leaving a stream lets the query continue, or cancels it on request", async () => {
  const left = Promise.withResolvers<void>();
  await using rig = await startRig([{ text: final("went on"), after: left.promise }, endless]);
  const [one, other] = [await rig.conversation(), await rig.conversation()];
  const leave = async (id: string, body: object): Promise<void> => {
    const response = await rig.post(messages(id), { request: "x", ...body }, SSE);
    const reader = response.body?.getReader();
    await reader?.read();
    await reader?.cancel();
  };
  await leave(one, {});
  await leave(other, { cancelOnDisconnect: true });
  const ended = async (id: string) => {
    await until(async () => !(await queries(rig, id))[0].running);
    return (await queries(rig, id))[0].reason;
  };
  assert.equal(await ended(other), "cancelled");
  left.resolve();
  assert.equal(await ended(one), "answered");
});

Deno.test("messages: leaving the wait for a result cancels the query where that is asked; staying gives it whole", async () => {
  await using rig = await startRig([endless, { text: final("whole"), delayMs: 60 }], { limits: { heartbeatMs: 10 } });
  const [one, other] = [await rig.conversation(), await rig.conversation()];
  const controller = new AbortController();
  const left = rig.ask(messages(one), {
    method: "POST",
    headers: { "content-type": "application/json", "idempotency-key": "one" },
    body: JSON.stringify({ request: "x", cancelOnDisconnect: true }),
    signal: controller.signal,
  });
  await until(() => rig.engine.provider.requests.length === 1);
  controller.abort();
  await assert.rejects(left, { name: "AbortError" });
  await until(async () => !(await queries(rig, one))[0].running);
  assert.equal((await queries(rig, one))[0].reason, "cancelled");
  const stayed = await rig.post(messages(other), { request: "x", cancelOnDisconnect: true });
  assert.equal((await stayed.json()).answer, "whole");
});

Deno.test("messages: with cancelOnDisconnect, a database that fails is a 503 too", async () => {
  const fails = () => Promise.reject(new StoreError("Cannot use database x: the disk is full", "full"));
  await using rig = await startRig([replyJson("1 + 1"), replyJson("1 + 1")], { engine: { openSandbox: fails } });
  for (const cancelOnDisconnect of [true, false]) {
    const response = await rig.post(messages(await rig.conversation()), { request: "x", cancelOnDisconnect });
    assert.equal(response.status, 503);
    assert.match((await response.json()).detail, /the disk is full/);
  }
});

Deno.test("followQuery continues after Last-Event-ID while the query runs, and is the same for two clients", async () => {
  const followed = Promise.withResolvers<void>();
  await using rig = await startRig([{ text: replyJson("1 + 1"), after: followed.promise }, final("2")]);
  const id = await rig.conversation();
  const first = await rig.post(messages(id), { request: "x" }, SSE);
  const reader = sseEvents(first);
  const begun = (await reader.next()).value;
  const path = `/api/v1/conversations/${id}/queries/${begun?.data.queryId}/events`;
  const responses = [
    await rig.ask(path, { headers: { ...SSE, "last-event-id": "1" } }),
    await rig.ask(path, { headers: SSE }),
  ];
  followed.resolve();
  const [again, second] = await Promise.all(responses.map(allEvents));
  const rest = await Array.fromAsync(reader);
  assert.deepEqual(again, rest);
  assert.deepEqual(second, [begun, ...rest]);
  const late = await allEvents(await rig.ask(path, { headers: { "last-event-id": rest.at(-2)?.id ?? "" } }));
  assert.deepEqual(late, rest.slice(-1), "after the end the run is still known");
});

Deno.test("followQuery rebuilds another process's query from rows, from the place where a client lost it", async () => {
  await using rig = await startRig([replyJson("1 + 1", { thinking: "Adding" }), final("2")]);
  const result = await rig.engine.ask("count");
  const path = `/api/v1/conversations/${result.conversationId}/queries/${result.queryId}/events`;
  const events = await allEvents(await rig.ask(path));
  assert.deepEqual(events.map(({ id, event }) => `${id} ${event}`), [
    ...["r1 started", "r2 thinking", "r3 block_started", "r4 block_finished", "r5 iteration_finished"],
    ...["r6 iteration_finished", "r7 final"],
  ]);
  const end = events.at(-1)?.data;
  assert.deepEqual(end?.type === "final" && end.result, result);
  const tail = await allEvents(await rig.ask(path, { headers: { "last-event-id": "r5" } }));
  assert.deepEqual(tail, events.slice(5));
  const anew = await allEvents(await rig.ask(path, { headers: { "last-event-id": "4711" } }));
  assert.equal(anew[0]?.event, "started");
});

Deno.test("followQuery answers 204 to a client that has the last event, so that an EventSource ends", async () => {
  await using rig = await startRig([final("1"), final("2")]);
  const id = await rig.conversation();
  const live = await allEvents(await rig.post(messages(id), { request: "x" }, SSE));
  const elsewhere = await rig.engine.ask("x");
  const last = async (path: string): Promise<readonly [string, string | undefined]> => {
    return [path, (await allEvents(await rig.ask(path))).at(-1)?.id];
  };
  const paths = [
    [`/api/v1/conversations/${id}/queries/${live[0]?.data.queryId}/events`, live.at(-1)?.id],
    await last(`/api/v1/conversations/${elsewhere.conversationId}/queries/${elsewhere.queryId}/events`),
  ] as const;
  for (const [path, lastId = ""] of paths) {
    const ended = await rig.ask(path, { headers: { ...SSE, "last-event-id": lastId } });
    assert.deepEqual([ended.status, await ended.text()], [204, ""], lastId);
  }
});

Deno.test("messages: an idempotency key runs a request once, also for clients at the same time", async () => {
  await using rig = await startRig([{ text: final("once"), delayMs: 20 }, final("other")]);
  const id = await rig.conversation();
  const key = { "idempotency-key": "abc" };
  const send = async (body: object) => await (await rig.post(messages(id), body, key)).json();
  const [one, two] = await Promise.all([send({ request: "x" }), send({ request: "x" })]);
  const three = await send({ request: "x" });
  assert.deepEqual([one.answer, two.queryId, three.queryId], ["once", one.queryId, one.queryId]);
  assert.equal((await send({ request: "y" })).status, 422);
  for (
    const [bad, detail] of [
      [
        "ä",
        'Cannot use Idempotency-Key "ä": it has characters that are not printable ASCII; send only printable ASCII',
      ],
      [
        "k".repeat(300),
        `${"k".repeat(56)}… (+244 chars)": it has 300 characters, more than the limit of 255; send a shorter key`,
      ],
      [" ", 'Cannot use Idempotency-Key "": it is empty; send 1 to 255 characters'],
    ] as const
  ) {
    const refused = await rig.post(messages(id), { request: "x" }, { "idempotency-key": bad });
    const problem = await refused.json();
    assert.deepEqual([refused.status, String(problem.detail).endsWith(detail)], [400, true], problem.detail);
  }
  const elsewhere = await rig.conversation();
  assert.equal((await (await rig.post(messages(elsewhere), { request: "x" }, key)).json()).answer, "other");
  const events = await allEvents(await rig.post(messages(id), { request: "x" }, { ...key, ...SSE }));
  assert.equal(events[0]?.data.queryId, one.queryId);
  assert.equal(rig.engine.provider.remaining, 0);
});

Deno.test("eventStream() a client that does not read holds nothing up and gets the end when it reads again", async () => {
  const code = Array.from({ length: 40 }, (_, at) => `console.log("line ${at} ${"x".repeat(400)}")`).join("\n");
  await using rig = await startRig([{ text: replyJson([code, code, code]), chunk: 1 }, final("It is here")]);
  const id = await rig.conversation();
  const slow = await rig.post(messages(id), { request: "x" }, SSE);
  await until(async () => (await queries(rig, id))[0]?.running === false);
  const events = await allEvents(slow);
  assert.equal(events.at(-1)?.event, "final", JSON.stringify(events.at(-1)));
  assert.ok(events.length < 20_000, "what is kept for it is bounded");
  const numbers = events.map(({ id }) => Number(id));
  assert.deepEqual(numbers, numbers.toSorted((a, b) => a - b));
});

Deno.test("messages: two conversations run side by side", async () => {
  await using rig = await startRig([{ text: final("a"), delayMs: 30 }, { text: final("b"), delayMs: 30 }]);
  const ids = [await rig.conversation(), await rig.conversation()];
  const answers = await Promise.all(ids.map(async (id) => {
    return (await (await rig.post(messages(id), { request: "x" })).json()).answer;
  }));
  assert.deepEqual(answers.toSorted(), ["a", "b"]);
});

Deno.test("messages: a key is answered from rows once its run is forgotten", async () => {
  const more = Array.from({ length: 101 }, (_, at) => final(`answer ${at}`));
  await using rig = await startRig([final("the first one"), ...more]);
  const [id, other] = [await rig.conversation(), await rig.conversation()];
  const key = { "idempotency-key": "k" };
  const first = await (await rig.post(messages(id), { request: "x" }, key)).json();
  for (const _ of more) await (await rig.post(messages(other), { request: "y" })).text();
  assert.deepEqual(await (await rig.post(messages(id), { request: "x" }, key)).json(), first);
  const events = await allEvents(await rig.post(messages(id), { request: "x" }, { ...key, ...SSE }));
  assert.deepEqual([events[0]?.id, events.at(-1)?.event], ["r1", "final"]);
});

const ASKS = replyJson("const said = await asking.open()");
const SAID = final("{{said.allowed}} {{said.reason}}");
const options = { engine: { extensions: [ASKING] } };

interface Question {
  readonly id: string;
  readonly what: string;
}

async function asked(rig: Rig, id: string): Promise<readonly Question[]> {
  for (;;) {
    const { items } = await (await rig.ask(`/api/v1/conversations/${id}/approvals`)).json();
    if (items.length > 0) return items;
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

Deno.test("a client that accepts questions is asked: the question is an event and in a list, and its answer goes to the call", async () => {
  await using rig = await startRig([ASKS, SAID], options);
  const id = await rig.conversation();
  const stream = await rig.post(`/api/v1/conversations/${id}/messages`, { request: "x", approvals: "ask" }, SSE);
  const events = stream.text();
  const [question] = await asked(rig, id);
  assert.deepEqual({ ...question, id: "" }, {
    id: "",
    extension: "test.asking",
    what: "open doors",
    why: "It is locked.",
    scope: "doors",
  });
  const at = `/api/v1/conversations/${id}/approvals/${question?.id}`;
  const wrong = await rig.post(at, { decision: "maybe" });
  assert.deepEqual([wrong.status, (await asked(rig, id)).length], [400, 1]);
  const answered = await rig.post(at, { decision: "no", reason: "not today" });
  assert.deepEqual([answered.status, await answered.json()], [200, { decision: "no", reason: "not today" }]);
  const text = await events;
  assert.match(
    text,
    /event: approval_requested\n.*"what":"open doors"[^]*event: approval_answered\n.*"reason":"not today"/,
  );
  assert.match(text, /false the user said no and wrote \\?"not today/);
  const late = await rig.post(at, { decision: "once" });
  assert.equal(late.status, 404);
  assert.match(
    (await late.json()).detail,
    /^Cannot answer question .*: no open question of the conversation has this id/,
  );
});

Deno.test("a question that is asked every time takes no lasting answer", async () => {
  await using rig = await startRig(
    [replyJson('const said = await asking.open("doors", "open doors", "", false)'), SAID],
    options,
  );
  const id = await rig.conversation();
  const sent = rig.post(`/api/v1/conversations/${id}/messages`, { request: "x", approvals: "ask" });
  const [question] = await asked(rig, id);
  const at = `/api/v1/conversations/${id}/approvals/${question?.id}`;
  const wrong = await rig.post(at, { decision: "workspace" });
  assert.equal(wrong.status, 400);
  assert.equal(
    (await wrong.json()).detail,
    `Cannot accept the decision "workspace": Vis asks this question every time; send "once" or "no"`,
  );
  assert.equal((await rig.post(at, { decision: "once" })).status, 200);
  assert.equal((await (await sent).json()).answer, "true ");
});

Deno.test("a client that does not accept questions is not kept waiting", async () => {
  await using rig = await startRig([ASKS, SAID, ASKS, SAID], options);
  const id = await rig.conversation();
  const path = `/api/v1/conversations/${id}`;
  const sent = await (await rig.post(`${path}/messages`, { request: "x" })).json();
  assert.equal(sent.answer, "false no user can answer here");
  const again = await (await rig.post(`${path}/retry`, { queryId: sent.queryId })).json();
  assert.equal(again.answer, "false no user can answer here");
});

Deno.test("a retry asks as well, other clients can answer, and of two answers the first one counts", async () => {
  await using rig = await startRig([final("first"), ASKS, SAID], options);
  const id = await rig.conversation();
  const path = `/api/v1/conversations/${id}`;
  const { queryId } = await (await rig.post(`${path}/messages`, { request: "x" })).json();
  const leaving = new AbortController();
  const stream = await rig.ask(`${path}/retry`, {
    method: "POST",
    headers: { "content-type": "application/json", ...SSE },
    body: JSON.stringify({ queryId, approvals: "ask" }),
    signal: leaving.signal,
  });
  const [question] = await asked(rig, id);
  leaving.abort();
  await stream.text().catch(() => {});
  const answers = await Promise.all(
    ["conversation", "no"].map((decision) => rig.post(`${path}/approvals/${question?.id}`, { decision })),
  );
  assert.deepEqual(answers.map(({ status }) => status).sort(), [200, 404]);
  for (;;) {
    const { items } = await (await rig.ask(`${path}/queries`)).json();
    if (items.at(-1).running) continue;
    assert.match(items.at(-1).answer, /^(true|false the user said no)/);
    return;
  }
});

Deno.test("a query that another process runs is answered, followed and cancelled through the server", async () => {
  await using rig = await startRig([ASKS, { text: final("never"), after: new Promise<void>(() => {}) }], options);
  const id = await rig.conversation();
  const path = `/api/v1/conversations/${id}`;
  const { conversations } = rig.engine;
  const running = conversations.ask(await conversations.byId(id), "x", {
    ...{ signal: new AbortController().signal, emit: () => {} },
    approve: (_question, signal) => abortable(new Promise<never>(() => {}), signal),
  });
  const [question] = await asked(rig, id);
  const { items: [{ queryId }] } = await (await rig.ask(`${path}/queries`)).json();
  const events = (await rig.ask(`${path}/queries/${queryId}/events`)).text();
  assert.equal((await rig.post(`${path}/approvals/${question?.id}`, { decision: "once" })).status, 200);
  assert.equal((await rig.post(`${path}/approvals/${question?.id}`, { decision: "once" })).status, 404);
  assert.deepEqual(await (await rig.post(`${path}/cancel`)).json(), { cancelled: 1 });
  assert.equal((await running).reason, "cancelled");
  assert.match(await events, /"result":\{"status":"interrupted"/);
});

Deno.test("the events of a query of another process have its question and the answer", async () => {
  await using rig = await startRig([ASKS, SAID], options);
  const id = await rig.conversation();
  const { conversations } = rig.engine;
  const answered = Promise.withResolvers<ApprovalAnswer>();
  const running = conversations.ask(await conversations.byId(id), "x", {
    ...{ signal: new AbortController().signal, emit: () => {}, approve: () => answered.promise },
  });
  await asked(rig, id);
  const { items: [{ queryId }] } = await (await rig.ask(`/api/v1/conversations/${id}/queries`)).json();
  const stream = await rig.ask(`/api/v1/conversations/${id}/queries/${queryId}/events`);
  let text = "";
  for await (const part of stream.body?.pipeThrough(new TextDecoderStream()) ?? []) {
    text += part;
    if (text.includes('"what":"open doors"')) answered.resolve({ decision: "no", reason: "not today" });
  }
  assert.match(text, /event: approval_requested\n.*"what":"open doors"/);
  assert.match(text, /event: final/);
  await running;
});

Deno.test("the events of a query of another process have its waiting messages and the code of its running iteration", async () => {
  const code = "await new Promise((wake) => setTimeout(wake, 300_000)); 1";
  await using rig = await startRig([replyJson(code)], options);
  const id = await rig.conversation();
  const { conversations } = rig.engine;
  const branch = await conversations.byId(id);
  const gone = new AbortController();
  const running = conversations.ask(branch, "x", { signal: gone.signal, emit: () => {} });
  await until(async () => (await conversations.queries(branch))[0]?.running === true);
  const { items: [{ queryId }] } = await (await rig.ask(`/api/v1/conversations/${id}/queries`)).json();
  const stream = await rig.ask(`/api/v1/conversations/${id}/queries/${queryId}/events`);
  let text = "";
  let steered = false;
  for await (const part of stream.body?.pipeThrough(new TextDecoderStream()) ?? []) {
    text += part;
    if (!steered && text.includes("event: block_started")) {
      void conversations.steer(branch, "be brief");
      steered = true;
    }
    if (text.includes("event: steering")) gone.abort();
  }
  assert.match(text, /event: block_started\n.*setTimeout.*"iteration":1/);
  assert.match(text, /event: steering\n.*"texts":\["be brief"\]/);
  await running;
});

Deno.test("cancelling ends the question, and so does a server that ends", async () => {
  await using rig = await startRig([ASKS, ASKS], options);
  const id = await rig.conversation();
  const path = `/api/v1/conversations/${id}`;
  const first = rig.post(`${path}/messages`, { request: "x", approvals: "ask" });
  await asked(rig, id);
  await rig.post(`${path}/cancel`);
  assert.equal((await (await first).json()).reason, "cancelled");
  assert.deepEqual(await (await rig.ask(`${path}/approvals`)).json(), { items: [] });
  const second = rig.post(`${path}/messages`, { request: "x", approvals: "ask" });
  await asked(rig, id);
  await rig.close();
  assert.equal((await (await second).json()).reason, "cancelled");
});

Deno.test("a conversation begins in a workspace of the server, and in no other", async () => {
  await using rig = await startRig([], { workspaces: ["/other"] });
  const { workspaces } = await (await rig.ask("/api/v1")).json();
  assert.deepEqual(workspaces, ["/work", "/other"]);
  const made = await (await rig.post("/api/v1/conversations", { workspace: "/other" })).json();
  assert.equal(made.workspace, "/other");
  const refused = await rig.post("/api/v1/conversations", { workspace: "/etc" });
  assert.equal(refused.status, 400);
  assert.match(
    (await refused.json()).detail,
    /^Cannot use workspace \/etc: the server does not have it; run vis serve there, or add it to server.workspaces$/,
  );
});

Deno.test("a message names the model that serves it, and may lower the limits of the server", async () => {
  const facts = { contextTokens: null, price: null, reasoning: false, images: false, known: true, root: false };
  const listed = {
    provider: "scripted",
    source: "service" as const,
    detail: "",
    models: [{ name: "other", ...facts }],
  };
  await using rig = await startRig([final("All is well"), { text: final("never sent"), delayMs: 60_000 }], {
    models: [listed],
  });
  const at = `/api/v1/conversations/${await rig.conversation()}`;
  const stream = { accept: "text/event-stream" };
  const events = await (await rig.post(`${at}/messages`, { request: "a", model: "scripted/other" }, stream)).text();
  assert.match(events, /"type":"started"[^\n]*"model":"other"/);
  for (const wrong of [{ maxCostUsd: 0 }, { timeoutMs: 1.5 }, { model: "" }]) {
    assert.equal((await rig.post(`${at}/messages`, { request: "b", ...wrong })).status, 400, JSON.stringify(wrong));
  }
  const result = await (await rig.post(`${at}/messages`, { request: "c", timeoutMs: 200 })).json();
  assert.equal(result.reason, "limit_time");
});

Deno.test("a message or a retry with a model that the server does not list is refused, and calls nothing", async () => {
  const facts = { contextTokens: null, price: null, reasoning: false, images: false, known: true, root: false };
  const listed = ["scripted", "house"].map((provider) => {
    return { provider, source: "service" as const, detail: "", models: [{ name: `of-${provider}`, ...facts }] };
  });
  await using rig = await startRig([], { models: listed, engine: { scripted: { otherwise: final("done") } } });
  const at = `/api/v1/conversations/${await rig.conversation()}`;
  const served = ["script", "scripted/script", "of-scripted", "scripted/of-scripted", "cost", "intelligence"];
  for (const model of served) {
    assert.equal((await rig.post(`${at}/messages`, { request: "a", model })).status, 200, model);
  }
  const queryId = (await (await rig.ask(`${at}/queries`)).json()).items[0].queryId;
  const calls = rig.engine.provider.requests.length;
  // Without its provider, a name would go to another service.
  for (const model of ["nope", "scripted/nope", "of-house", "house/of-scripted", "scripted/", "scripted/of-scriptet"]) {
    for (const [call, body] of [["messages", { request: "b" }], ["retry", { queryId }]] as const) {
      const response = await rig.post(`${at}/${call}`, { ...body, model });
      const { type, detail, errors } = await response.json();
      assert.deepEqual([response.status, type, errors], [404, "urn:vis:problem:not-found", [{
        path: "model",
        message: "Unknown",
      }]], model);
      assert.match(detail, /^Cannot find model /);
    }
  }
  assert.equal(rig.engine.provider.requests.length, calls);
});

Deno.test("a token whose cost has a quota cannot use a model with an unknown price, of either API", async () => {
  const quota = { ...NO_QUOTA, costUsdPerDay: 1 };
  await using rig = await startRig([], { tokens: oneToken(TOKEN, quota) });
  const at = `/api/v1/conversations/${await rig.conversation()}`;
  for (
    const [path, body] of [
      [`${at}/messages`, { request: "a" }],
      ["/v1/chat/completions", { model: "vis", messages: [{ role: "user", content: "a" }] }],
      ["/v1/responses", { input: "a" }],
    ] as const
  ) {
    const response = await rig.post(path, body);
    assert.equal(response.status, 400, path);
    assert.match(await response.text(), /Cannot use script with a daily cost quota: its price is unknown/);
  }
  assert.equal(rig.engine.provider.requests.length, 0);
});

Deno.test("answers come as trees without markup when they are asked for", async () => {
  await using rig = await startRig([final("- <b>one</b>"), final("plain"), final(`# ${"a".repeat(31_000)}`)]);
  const at = `/api/v1/conversations/${await rig.conversation()}`;
  for (const request of ["1", "2", "3"]) await (await rig.post(`${at}/messages`, { request })).text();
  const { items } = await (await rig.ask(`${at}/queries?answers=tree`)).json();
  const text = { kind: "text", text: "<b>one</b>" };
  assert.deepEqual(items[0].answerTree[0].items[0].blocks, [{ kind: "paragraph", inlines: [text] }]);
  assert.deepEqual([items[1].answerTree, items[2].answerTree], [null, null]);
  const [plain] = (await (await rig.ask(`${at}/queries?limit=1`)).json()).items;
  assert.ok(!("answerTree" in plain));
});

Deno.test("a review of an unknown branch is a bad request, and the conversation stays empty", async () => {
  const targetOf = () => Promise.reject(new UsageError("Cannot review nosuch: the repository has no such branch"));
  await using rig = await startRig([], { engine: { targetOf } });
  const id = await rig.conversation();
  const sent = await rig.post(messages(id), { request: reviewRequest("nosuch"), review: true });
  assert.equal(sent.status, 400);
  assert.match((await sent.json()).detail, /^Cannot review nosuch: /);
  assert.deepEqual(await queries(rig, id), []);
});

Deno.test("a request for both a plan and a review is a bad request, and the conversation stays empty", async () => {
  await using rig = await startRig([]);
  const id = await rig.conversation();
  const sent = await rig.post(messages(id), { request: "x", plan: true, review: true });
  assert.equal(sent.status, 400);
  assert.match((await sent.json()).detail, /^Cannot use plan with review: /);
  assert.deepEqual(await queries(rig, id), []);
});
