import { createHash } from "node:crypto";
import type { Context } from "hono";
import { z } from "zod";
import type { Conversation } from "../../../conversation/conversations.ts";
import type { AskOptions, AskTarget } from "../../../conversation/send_options.ts";
import type { QueryResult } from "../../../domain/query/query_schemas.ts";
import type { RequestKey } from "../../../domain/query/stored_query.ts";
import type { Env, HttpParts } from "../env.ts";
import { CONVERSATION_HEADER, eventStream, type FollowedEvent, FollowedQuery } from "../followed_query.ts";
import { Problem } from "../problem.ts";
import { callerLabel } from "../quotas.ts";
import { findConversation } from "../route.ts";
import type { Begun } from "../runs.ts";
import { openAiFailure } from "./error.ts";
import {
  ignoredParameters,
  type OpenAiBody,
  type OpenAiInput,
  openAiInput,
  type OpenAiRequest,
  refuseTools,
} from "./input.ts";

/** Request headers of the calls that run a query. */
export const OPENAI_HEADERS = {
  "X-Vis-Conversation": "The conversation to continue; a new one by default",
  "Idempotency-Key": "Requests with the same key and body run once, also if the client disconnects; kept for a day",
};

interface OpenAiAsked {
  readonly body: z.infer<typeof OpenAiBody>;
  /** The parameters of the API. */
  readonly known: Readonly<Record<string, unknown>>;
  readonly target: AskTarget;
  readonly given: OpenAiRequest;
  /** What the response repeats of its request. */
  readonly askedAs?: AskOptions["askedAs"];
  /** Server-sent events, for a client that streams. */
  readonly events: (events: AsyncIterable<FollowedEvent>, begun: Begun) => AsyncGenerator<string>;
  /** The body, once the query has an answer. */
  readonly whole: (result: QueryResult, begun: Begun) => object | Promise<object>;
}

interface Asking extends Pick<OpenAiAsked, "target"> {
  readonly request: string;
  readonly given: OpenAiInput & Pick<AskOptions, "limits">;
}

/** The conversation that a client wants to continue, or a new one. */
export async function openAiTarget(
  c: Context<Env>,
  { metadata, conversation }: {
    readonly metadata?: Readonly<Record<string, unknown>> | null | undefined;
    readonly conversation?: string | null | undefined;
  },
): Promise<AskTarget> {
  const { conversations, workspace } = c.env.parts;
  const id = c.req.header(CONVERSATION_HEADER) || metadata?.["conversation"] || conversation;
  return id ? await findConversation(conversations, String(id)) : { channel: "openai", workspace };
}

/** Runs a query for a client of OpenAI's API. Without an idempotency key the query ends when the call does. Throws
 * `Problem` for a query without an answer. */
export async function openAiAsk(c: Context<Env>, asked: OpenAiAsked): Promise<Response> {
  const { parts, abandoned, noticeLeft } = c.env;
  const { body, known, target, askedAs } = asked;
  refuseTools(body);
  const { request, given: input } = openAiInput(asked.given, "channel" in target);
  const priced = c.var.caller.quota.costUsdPerDay !== null;
  const given = { ...input, limits: { costUsd: null, wallMs: null, priced } };
  await parts.conversations.check({ ...given, request }); // before the quota of the token
  const asking = { target, request, given: { ...given, askedAs } };
  const key = c.req.header("idempotency-key");
  if (key === undefined && Number(c.req.header("x-stainless-retry-count") ?? 0) > 0) {
    await noticeLeft(); // the repetition may come before the first client is missed
    abandoned.refuse(callOf(c));
  }
  const { queryId } = key === undefined ? await begin(c, asking) : await once(c, { asking, key });
  const query = await FollowedQuery.find(queryId, c.env);
  const begun = { queryId, branchId: await query.branchId() };
  const headers = { ...ignoredParameters(body, known), [CONVERSATION_HEADER]: begun.branchId };
  const left = (): void => {
    query.leave();
    if (key !== undefined) return;
    abandoned.add(callOf(c));
    query.run?.cancel();
  };
  const { heartbeatMs } = parts.limits;
  if (body.stream) return eventStream(asked.events(query.events(), begun), { headers, heartbeatMs, left });
  const result = await query.result();
  const failure = openAiFailure(result, c.env.runs);
  if (failure) throw failure;
  return c.json(await asked.whole(result, begun), 200, headers);
}

/** Begins a query that is cancelled if its client leaves, unless a key lets the client get the answer later. */
async function begin(
  c: Context<Env>,
  { target, request, given }: Asking,
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
  { asking, key }: { readonly asking: Asking; readonly key: string },
): Promise<{ readonly queryId: string }> {
  const { conversations } = c.env.parts;
  const conversation = await conversationOf(c, { asking, key });
  const target = "channel" in asking.target ? conversation : asking.target;
  const sent = await c.env.once.once(key, {
    conversation,
    what: `openai ${c.var.caller.name}`,
    body: `${c.req.path}\n${c.var.bodyText}`,
    stored: (name) => conversations.stored.keyedQuery(conversation.branchId, name),
    work: (requestKey) => begin(c, { ...asking, target }, requestKey),
  });
  return { queryId: sent?.queryId ?? "" };
}

/** The conversation in which a key is looked up. A key without one has a conversation of its own. */
async function conversationOf(
  c: Context<Env>,
  { asking: { target, request }, key }: { readonly asking: Asking; readonly key: string },
): Promise<Conversation> {
  const { conversations } = c.env.parts;
  if ("branchId" in target) return target;
  if ("queryId" in target) return (await conversations.records.point(target.queryId)).branch;
  const externalId = digestOf([c.var.caller.name, key]);
  return await conversations.records.ensure({ ...target, title: request, externalId });
}

/** The model name that always works, whichever model is behind it. */
const OWN_NAME = "vis";

/** A model in OpenAI's format. */
export const ServedModelSchema = z.object({
  id: z.string(),
  object: z.literal("model"),
  created: z.number(),
  owned_by: z.string(),
});

type ServedModel = z.infer<typeof ServedModelSchema>;

/** The agent under its own name and under the name of its model. */
export function servedModels({ model, provider }: Pick<HttpParts, "model" | "provider">): readonly ServedModel[] {
  return [OWN_NAME, model].map((id) => ({
    id,
    object: "model" as const,
    created: 0,
    owned_by: id === model ? provider : OWN_NAME,
  }));
}

/** The model of this name; the agent if no name is given. Throws `Problem` (404) if there is no such model. */
export function servedModel(parts: Pick<HttpParts, "model" | "provider">, name: string = OWN_NAME): ServedModel {
  const found = servedModels(parts).find(({ id }) => id === name);
  if (found) return found;
  throw new Problem(`Cannot find model: ${name.slice(0, 100)}; this server has ${OWN_NAME} and ${parts.model}`, {
    kind: "not-found",
    errors: [{ path: "model", message: "Unknown" }],
  });
}
