import type { Conversation } from "../../../conversation/conversations.ts";
import type { AskOptions } from "../../../conversation/send_options.ts";
import type { Approve } from "../../../domain/query/approval.ts";
import { Cancelled } from "../../../domain/errors.ts";
import type { QueryResult } from "../../../domain/query/query_result.ts";
import { readImage } from "../../../domain/images/read_image.ts";
import type { KeyedRequest, RequestKey } from "../../../domain/query/request_key.ts";
import type { StoredQuery } from "../../../domain/query/stored_query.ts";
import type { z } from "zod";
import { QueryResultSchema } from "../../schemas/query_result_schema.ts";
import { callerLabel } from "../auth/caller_label.ts";
import type { Leaving } from "../routing/client_leaving.ts";
import { eventStream, runTexts } from "../stream/event_stream.ts";
import { findConversation } from "../request/find_conversation.ts";
import { findQuery } from "../request/find_query.ts";
import { followTexts } from "../stream/follow_texts.ts";
import { inputSource } from "../request/input_source.ts";
import { Idempotency, type OnceOptions, type StartedQuery } from "./idempotency.ts";
import { jsonResponse } from "../response/json_response.ts";
import { nextChange } from "../stream/next_change.ts";
import { Problem } from "../response/problem.ts";
import { type HttpRoute, route, type RouteCall } from "../routing/route.ts";
import type { RouteParts } from "../stream/route_parts.ts";
import { resultStream } from "../stream/result_stream.ts";
import type { LiveRun } from "../stream/run.ts";
import * as schema from "./schemas.ts";
import { resultOf } from "../stream/stored_events.ts";

const BASE = "/api/v1/conversations/{id}";
const KEY_HEADER = {
  "Idempotency-Key": "Requests with the same key and body run once; keys are remembered for a day",
};
const RESUME_HEADER = {
  "X-Vis-Resume":
    "true: if the query that the key started was interrupted, resume it; from then on the key refers to " +
    "the resumed query",
};

type Message = z.infer<typeof schema.MessageBody>;
type Asking = Pick<RouteCall<Message>, "body" | "caller" | "headers" | "leaving">;

/** Routes for requests: send a message, run a query again, follow a query. */
export function messageRoutes(given: RouteParts): readonly HttpRoute[] {
  const once = new Idempotency();
  return [send(given, once), retry(given, once), events(given)];
}

const ANSWERS = {
  200: {
    description: "The result, once the query has ended in any process; with Accept: text/event-stream, its events as " +
      "they happen",
    schema: QueryResultSchema,
    stream: true,
  },
};

function send({ parts, runs }: RouteParts, once: Idempotency): HttpRoute {
  return route({
    method: "post",
    path: `${BASE}/messages`,
    operation: "sendMessage",
    summary: "Send a message and run a query",
    tag: "messages",
    headers: { ...KEY_HEADER, ...RESUME_HEADER },
    body: schema.MessageBody,
    answers: {
      ...ANSWERS,
      202: { description: "The message was passed to the running query", schema: schema.SteeredSchema },
    },
    handle: async (call) => {
      const conversation = await findConversation(parts.conversations, call.params["id"]);
      const sent = await once.once(call.headers.get("idempotency-key"), {
        ...onceFor(call, { parts, conversation, what: "send" }),
        work: (requestKey) => begin(call, { parts, runs, conversation, requestKey }),
        ...(call.headers.get("x-vis-resume") === "true"
          ? { resume: (sent, key) => resume(call, { parts, runs, sent, key }) }
          : {}),
      });
      if (sent === null) return jsonResponse({ steered: true }, { status: 202 });
      const { cancelOnDisconnect } = call.body;
      return await answer(sent.queryId, { call, parts, runs, ...(cancelOnDisconnect ? { cancelOnDisconnect } : {}) });
    },
  });
}

function onceFor(
  { bodyText: body, params }: Pick<RouteCall, "bodyText" | "params">,
  { parts, conversation, what }: Pick<RouteParts, "parts"> & {
    readonly conversation: Conversation;
    readonly what: string;
  },
): Omit<OnceOptions, "work"> {
  const stored = (key: string) => parts.conversations.records.keyedQuery(conversation, key);
  // Uses the name in the address, not the branch it refers to now: a retry may have made a newer one.
  return { conversation, what: `${what} ${params["id"]}`, body, stored };
}

/** Continues an interrupted query: the same request, with the results it has stored. */
async function resume(
  call: Asking,
  { parts, runs, sent, key }: RouteParts & { readonly sent: StartedQuery; readonly key: RequestKey },
): Promise<StartedQuery> {
  const { conversations } = parts;
  const query = sent && await conversations.records.query(sent.queryId);
  if (query?.status !== "interrupted") return sent;
  const conversation = await conversations.byId(query.branchId);
  // Its context is stored with its first iteration.
  const { context, ...rest } = call.body;
  const body = query.iterations > 0 ? rest : { ...rest, context };
  return await begin({ ...call, body }, { parts, runs, conversation, requestKey: { ...key, replaces: query.queryId } });
}

/** Null if a running query received the message. */
async function begin(
  call: Asking,
  { parts, runs, conversation, requestKey }: RouteParts & KeyedRequest & { readonly conversation: Conversation },
): Promise<StartedQuery> {
  const { body, caller } = call;
  const { conversations } = parts;
  const given = optionsOf(body);
  if (body.whenBusy === "steer") {
    await conversations.check(given);
    if (await conversations.steer(conversation, body.request)) return null;
  }
  const more = { ...given, requestKey, label: callerLabel("http", caller), refuseWhenBusy: body.whenBusy === "refuse" };
  const { queryId } = await runs.begin(
    (options, approve) =>
      conversations.ask(conversation, body.request, { ...options, ...more, ...asking(body, approve) }),
    { caller, leaving: body.cancelOnDisconnect === false ? null : leavingOf(call) },
  );
  return { queryId };
}

/** When to cancel the query of a client that waits for its result only. With a key the client can request the result
 * again, and a stream can be resumed where it stopped. */
function leavingOf({ headers, leaving }: Pick<RouteCall, "headers" | "leaving">): Leaving | null {
  return headers.has("idempotency-key") || wantsEvents(headers) ? null : leaving;
}

/** Nobody is asked unless the client says that it answers. */
function asking({ approvals }: Pick<Message, "approvals">, approve: Approve): Pick<AskOptions, "approve"> {
  return approvals === "ask" ? { approve } : {};
}

function optionsOf(
  { images = [], context, responseSchema, maxIterations }: Message,
): Pick<AskOptions, "images" | "context" | "responseSchema" | "maxIterations"> {
  return {
    images: images.map((image, at) => readImage(image, `${at + 1}`)),
    ...(context === undefined ? {} : { context: inputSource("context", context) }),
    ...(responseSchema === undefined ? {} : { responseSchema }),
    ...(maxIterations === undefined ? {} : { maxIterations }),
  };
}

/** The result, or the stream of events, of a query. Reads rows if its run is no longer known or belongs to another
 * process. */
async function answer(
  queryId: string,
  { call, parts, runs, cancelOnDisconnect = false }: RouteParts & {
    readonly call: Pick<RouteCall, "headers">;
    readonly cancelOnDisconnect?: boolean;
  },
): Promise<Response> {
  const run = runs.byQuery(queryId);
  const { heartbeatMs } = parts.limits;
  if (!run) return await storedAnswer(queryId, { call, parts });
  const cancel = (): void => run.cancel();
  if (!wantsEvents(call.headers)) {
    if (cancelOnDisconnect) return resultStream(run.ended, { heartbeatMs, left: cancel });
    return jsonResponse(await run.ended satisfies QueryResult);
  }
  const after = Number(/^\d{1,9}$/.exec(call.headers.get("last-event-id") ?? "")?.[0] ?? 0);
  return eventStream(runTexts(run, after), { heartbeatMs, ...(cancelOnDisconnect ? { left: cancel } : {}) });
}

async function storedAnswer(
  queryId: string,
  { call, parts }: Pick<RouteParts, "parts"> & { readonly call: Pick<RouteCall, "headers"> },
): Promise<Response> {
  const query = await parts.conversations.records.query(queryId);
  if (!query) throw new Problem(`Cannot find query: ${queryId}`, { kind: "not-found" });
  if (wantsEvents(call.headers)) return followed(query, { parts, run: null, lastId: "" });
  if (!query.running) return jsonResponse(resultOf(query));
  const leaving = new AbortController();
  const { heartbeatMs } = parts.limits;
  const ended = endOf(query, { parts, signal: leaving.signal });
  return resultStream(ended, { heartbeatMs, left: () => leaving.abort() });
}

/** The result of a query that another process runs. Rejects if the client leaves. */
async function endOf(
  query: StoredQuery,
  waiting: Pick<RouteParts, "parts"> & { readonly signal: AbortSignal },
): Promise<QueryResult> {
  for (let now: StoredQuery | null = query; now; now = await nextChange(now, waiting)) {
    if (!now.running) return resultOf(now);
  }
  throw new Cancelled("Cancelled");
}

function followed(
  query: StoredQuery,
  { parts, run, lastId }: Pick<RouteParts, "parts"> & { readonly run: LiveRun | null; readonly lastId: string },
): Response {
  const leaving = new AbortController();
  const texts = followTexts(query, { parts, run, lastId, signal: leaving.signal });
  return eventStream(texts, { heartbeatMs: parts.limits.heartbeatMs, left: () => leaving.abort() });
}

function wantsEvents(headers: Headers): boolean {
  return /text\/event-stream/i.test(headers.get("accept") ?? "");
}

function retry({ parts, runs }: RouteParts, once: Idempotency): HttpRoute {
  return route({
    method: "post",
    path: `${BASE}/retry`,
    operation: "retryQuery",
    summary: "Run a query again from the state before it; the previous run can still be read",
    tag: "messages",
    headers: KEY_HEADER,
    body: schema.RetryBody,
    answers: ANSWERS,
    handle: async (call) => {
      const { conversations } = parts;
      const conversation = await findConversation(conversations, call.params["id"]);
      const { queryId, maxIterations } = call.body;
      const { body } = call;
      const work = async (requestKey: RequestKey | undefined): Promise<StartedQuery> => {
        await findQuery(conversations, { conversation, queryId });
        const more = maxIterations === undefined ? {} : { maxIterations };
        const label = callerLabel("http", call.caller);
        const begun = await runs.begin(
          (options, approve) =>
            conversations.retry(queryId, { ...options, ...more, requestKey, label, ...asking(body, approve) }),
          { caller: call.caller, leaving: leavingOf(call) },
        );
        return { queryId: begun.queryId };
      };
      const wanted = { ...onceFor(call, { parts, conversation, what: "retry" }), work };
      const sent = await once.once(call.headers.get("idempotency-key"), wanted);
      return await answer(sent?.queryId ?? "", { call, parts, runs });
    },
  });
}

function events({ parts, runs }: RouteParts): HttpRoute {
  return route({
    method: "get",
    path: `${BASE}/queries/{queryId}/events`,
    operation: "followQuery",
    summary:
      "Stream the events of a query, from where a client lost them; a stream that begins with started starts over",
    tag: "messages",
    headers: { "Last-Event-ID": "Id of the last event received" },
    answers: { 200: { description: "The events", stream: true } },
    handle: async ({ params, headers }) => {
      const conversation = await findConversation(parts.conversations, params["id"]);
      const query = await findQuery(parts.conversations, { conversation, queryId: params["queryId"] });
      const lastId = headers.get("last-event-id") ?? "";
      return followed(query, { parts, run: runs.byQuery(query.queryId), lastId });
    },
  });
}
