import { createHash } from "node:crypto";
import type { Context } from "hono";
import type { Conversation } from "../../../conversation/conversations.ts";
import type { AskTarget } from "../../../conversation/send_options.ts";
import type { QueryResult } from "../../../domain/query/query_result.ts";
import type { RequestKey } from "../../../domain/query/request_key.ts";
import type { StoredQuery } from "../../../domain/query/stored_query.ts";
import { callerLabel } from "../auth/caller_label.ts";
import type { Env } from "../request/env.ts";
import { Problem } from "../response/problem.ts";
import { eventStream } from "../stream/event_stream.ts";
import type { Begun, LiveRun } from "../stream/run.ts";
import { storedResult } from "../stream/stored_result.ts";
import { CONVERSATION_HEADER } from "./conversation.ts";
import { openAiFailure } from "./failure.ts";
import type { OpenAiInput } from "./input.ts";

interface OpenAiAsked {
  readonly target: AskTarget;
  readonly request: string;
  readonly given: OpenAiInput;
  readonly stream: boolean;
  readonly headers: Readonly<Record<string, string>>;
  /** The server-sent events of a query, for a client that streams. */
  readonly events: (run: FollowedRun, begun: Begun) => AsyncGenerator<string>;
  /** The body, once the query has an answer. */
  readonly whole: (result: QueryResult, begun: Begun) => object | Promise<object>;
}

/** A query that runs here, or one of which only the result is known. */
export type FollowedRun = Pick<LiveRun, "next">;

interface Followed extends FollowedRun {
  readonly ended: Promise<QueryResult>;
  readonly left: () => void;
}

/** Runs a query for a client of OpenAI's API. Without an idempotency key the query ends when the call does. Throws
 * `Problem` for a query without an answer. */
export async function openAiAsk(c: Context<Env>, asked: OpenAiAsked): Promise<Response> {
  const { parts, abandoned } = c.env;
  await parts.conversations.check({ ...asked.given, request: asked.request }); // before the quota of the token
  const key = c.req.header("idempotency-key");
  if (key === undefined && Number(c.req.header("x-stainless-retry-count") ?? 0) > 0) abandoned.refuse(callOf(c));
  const { begun, run } = key === undefined ? await begin(c, asked) : await once(c, { asked, key });
  const headers = { ...asked.headers, [CONVERSATION_HEADER]: begun.branchId };
  const { heartbeatMs } = parts.limits;
  if (asked.stream) return eventStream(asked.events(run, begun), { headers, heartbeatMs, left: run.left });
  const result = await run.ended;
  const failure = openAiFailure(result);
  if (failure) throw failure;
  return c.json(await asked.whole(result, begun), 200, headers);
}

/** A query that is cancelled if its client leaves, unless a key lets the client get the answer later. */
async function begin(
  c: Context<Env>,
  { target, request, given }: Pick<OpenAiAsked, "target" | "request" | "given">,
  requestKey?: RequestKey,
): Promise<{ readonly begun: Begun; readonly run: Followed }> {
  const { parts, runs, leaving, abandoned } = c.env;
  const { caller } = c.var;
  const more = { ...given, requestKey, label: callerLabel("openai", caller), refuseWhenBusy: true };
  const { run, ...begun } = await runs.begin(
    (options) => parts.conversations.ask(target, request, { ...options, ...more }),
    { caller, leaving: requestKey ? null : (gone) => leaving(() => (abandoned.add(callOf(c)), gone())) },
  );
  const left = () => {
    abandoned.add(callOf(c));
    run.cancel();
  };
  return { begun, run: followed(run, requestKey ? () => {} : left) };
}

/** Identifies the caller and what it requests. */
function callOf(c: Context<Env>): string {
  const { caller, bodyText } = c.var;
  return digestOf([caller.name, c.req.path, bodyText]);
}

function digestOf(values: readonly string[]): string {
  return createHash("sha256").update(JSON.stringify(values)).digest("hex");
}

function followed(run: LiveRun, left: () => void): Followed {
  return { ended: run.ended, next: (after) => run.next(after), left };
}

/** The query that a key began, in any process, or one that begins now. */
async function once(
  c: Context<Env>,
  { asked, key }: { readonly asked: OpenAiAsked; readonly key: string },
): Promise<{ readonly begun: Begun; readonly run: Followed }> {
  const { parts: { conversations }, runs } = c.env;
  const conversation = await conversationOf(c, { asked, key });
  const target = "branchId" in asked.target || "queryId" in asked.target ? asked.target : conversation;
  const sent = await c.env.once.once(key, {
    conversation,
    what: `openai ${c.var.caller.name}`,
    body: `${c.req.path}\n${c.var.bodyText}`,
    stored: (name) => conversations.records.keyedQuery(conversation, name),
    work: async (requestKey) => (await begin(c, { ...asked, target }, requestKey)).begun,
  });
  const queryId = sent?.queryId ?? "";
  const query = await conversations.records.query(queryId);
  if (!query) throw new Problem("Cannot find the request of this key: it was deleted", { kind: "not-found" });
  const run = runs.byQuery(queryId);
  const begun = { queryId, branchId: query.branchId };
  return { begun, run: run ? followed(run, () => {}) : stored(c, query) };
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

/** Follows a query of another process, or one that ended a while ago: its end is its only event. */
function stored(c: Context<Env>, query: StoredQuery): Followed {
  const leaving = new AbortController();
  const ended = storedResult(query, { parts: c.env.parts, signal: leaving.signal });
  ended.catch(() => {}); // a client that left does not receive it
  return {
    ended,
    next: async (after) => after > 0 ? null : { number: 1, event: endOf(await ended) },
    left: () => leaving.abort(),
  };
}

function endOf(result: QueryResult) {
  const facts = { seq: 1, at: 0, queryId: result.queryId, iteration: null };
  return { ...facts, type: result.status === "done" ? "final" as const : "failed" as const, result };
}
