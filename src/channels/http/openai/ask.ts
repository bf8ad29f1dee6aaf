import { createHash } from "node:crypto";
import type { Context } from "hono";
import type { Conversation } from "../../../conversation/conversations.ts";
import type { AskTarget } from "../../../conversation/send_options.ts";
import type { QueryResult } from "../../../domain/query/query_result.ts";
import type { RequestKey } from "../../../domain/query/request_key.ts";
import { callerLabel } from "../auth/quotas.ts";
import type { Env } from "../request/env.ts";
import { eventStream } from "../stream/event_stream.ts";
import type { FollowedEvent } from "../stream/followed_event.ts";
import { FollowedQuery } from "../stream/followed_query.ts";
import type { Begun } from "../stream/run.ts";
import { CONVERSATION_HEADER } from "./conversation.ts";
import { openAiFailure } from "./failure.ts";
import type { OpenAiInput } from "./input.ts";

interface OpenAiAsked {
  readonly target: AskTarget;
  readonly request: string;
  readonly given: OpenAiInput;
  readonly stream: boolean;
  readonly headers: Readonly<Record<string, string>>;
  /** Server-sent events, for a client that streams. */
  readonly events: (events: AsyncIterable<FollowedEvent>, begun: Begun) => AsyncGenerator<string>;
  /** The body, once the query has an answer. */
  readonly whole: (result: QueryResult, begun: Begun) => object | Promise<object>;
}

/** Runs a query for a client of OpenAI's API. Without an idempotency key the query ends when the call does. Throws
 * `Problem` for a query without an answer. */
export async function openAiAsk(c: Context<Env>, asked: OpenAiAsked): Promise<Response> {
  const { parts, abandoned, noticeLeft } = c.env;
  await parts.conversations.check({ ...asked.given, request: asked.request }); // before the quota of the token
  const key = c.req.header("idempotency-key");
  if (key === undefined && Number(c.req.header("x-stainless-retry-count") ?? 0) > 0) {
    await noticeLeft(); // the repetition may come before the first client is missed
    abandoned.refuse(callOf(c));
  }
  const { queryId } = key === undefined ? await begin(c, asked) : await once(c, { asked, key });
  const query = await FollowedQuery.find(queryId, c.env);
  const begun = { queryId, branchId: await query.branchId() };
  const headers = { ...asked.headers, [CONVERSATION_HEADER]: begun.branchId };
  const left = (): void => {
    query.leave();
    if (key !== undefined) return;
    abandoned.add(callOf(c));
    query.run?.cancel();
  };
  const { heartbeatMs } = parts.limits;
  if (asked.stream) return eventStream(asked.events(query.events(), begun), { headers, heartbeatMs, left });
  const result = await query.result();
  const failure = openAiFailure(result);
  if (failure) throw failure;
  return c.json(await asked.whole(result, begun), 200, headers);
}

/** Begins a query that is cancelled if its client leaves, unless a key lets the client get the answer later. */
async function begin(
  c: Context<Env>,
  { target, request, given }: Pick<OpenAiAsked, "target" | "request" | "given">,
  requestKey?: RequestKey,
): Promise<Begun> {
  const { parts, runs, leaving, abandoned } = c.env;
  const { caller } = c.var;
  const more = { ...given, requestKey, label: callerLabel("openai", caller), refuseWhenBusy: true };
  return await runs.begin(
    (options) => parts.conversations.ask(target, request, { ...options, ...more }),
    { caller, leaving: requestKey ? null : (gone) => leaving(() => (abandoned.add(callOf(c)), gone())) },
  );
}

/** Identifies the caller and what it requests. */
function callOf(c: Context<Env>): string {
  const { caller, bodyText } = c.var;
  return digestOf([caller.name, c.req.path, bodyText]);
}

function digestOf(values: readonly string[]): string {
  return createHash("sha256").update(JSON.stringify(values)).digest("hex");
}

/** The query that a key began, in any process, or one that begins now. */
async function once(
  c: Context<Env>,
  { asked, key }: { readonly asked: OpenAiAsked; readonly key: string },
): Promise<{ readonly queryId: string }> {
  const { conversations } = c.env.parts;
  const conversation = await conversationOf(c, { asked, key });
  const target = "branchId" in asked.target || "queryId" in asked.target ? asked.target : conversation;
  const sent = await c.env.once.once(key, {
    conversation,
    what: `openai ${c.var.caller.name}`,
    body: `${c.req.path}\n${c.var.bodyText}`,
    stored: (name) => conversations.records.keyedQuery(conversation, name),
    work: (requestKey) => begin(c, { ...asked, target }, requestKey),
  });
  return { queryId: sent?.queryId ?? "" };
}

/** The conversation in which a key is looked up. A key without one has a conversation of its own. */
async function conversationOf(
  c: Context<Env>,
  { asked: { target, request }, key }: { readonly asked: OpenAiAsked; readonly key: string },
): Promise<Conversation> {
  const { conversations } = c.env.parts;
  if ("branchId" in target) return target;
  if ("queryId" in target) return (await conversations.records.point(target.queryId)).branch;
  const externalId = digestOf([c.var.caller.name, key]);
  return await conversations.records.ensure({ ...target, title: request, externalId });
}
