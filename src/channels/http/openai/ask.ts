import type { Context } from "hono";
import { createHash } from "node:crypto";
import { z } from "zod";
import type { Conversation } from "../../../conversation/conversations.ts";
import type { AskOptions, AskTarget } from "../../../conversation/ask_options.ts";
import { type Image, readImage } from "../../../domain/images.ts";
import { hasAnswer, type QueryReason, shownAnswer } from "../../../domain/query/outcomes.ts";
import type { QueryResult } from "../../../domain/query/query_schemas.ts";
import { type RequestKey, requestOfImages } from "../../../domain/query/stored_query.ts";
import type { Env, HttpParts } from "../http_parts.ts";
import { CONVERSATION_HEADER, eventStream, type FollowedEvent, FollowedQuery } from "../followed_query.ts";
import { Problem, type ProblemKind, unfitField } from "../problem.ts";
import { findConversation, inputSource } from "../route.ts";
import type { Begun } from "../live_runs.ts";
import { callerLabel } from "../tokens.ts";

export const OPENAI_HEADERS = {
  "X-Vis-Conversation": "The conversation to continue; by default, Vis makes a new conversation",
  "Idempotency-Key": "Requests with the same key and body run once, also if the client disconnects; kept for a day",
};

interface OpenAiAsked {
  readonly body: z.infer<typeof OpenAiBody>;
  readonly known: Readonly<Record<string, unknown>>;
  readonly target: AskTarget;
  readonly given: OpenAiRequest;
  readonly askedAs?: AskOptions["askedAs"];
  readonly events: (events: AsyncIterable<FollowedEvent>, begun: Begun) => AsyncGenerator<string>;
  readonly whole: (result: QueryResult, begun: Begun) => object | Promise<object>;
}

interface Asking extends Pick<OpenAiAsked, "target"> {
  readonly request: string;
  readonly given: OpenAiInput & Pick<AskOptions, "limits">;
}

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

export async function openAiAsk(c: Context<Env>, asked: OpenAiAsked): Promise<Response> {
  const { parts, abandoned, noticeLeft } = c.env;
  const { body, known, target, askedAs } = asked;
  refuseTools(body);
  const { request, given: input } = openAiInput(asked.given, "channel" in target);
  const priced = c.var.caller.quota.costUsdPerDay !== null;
  const given = { ...input, limits: { costUsd: null, wallMs: null, priced } };
  // An invalid request must not use up the quota of the token.
  await parts.conversations.check({ ...given, request });
  const asking = { target, request, given: { ...given, askedAs } };
  const key = c.req.header("idempotency-key");
  if (key === undefined && Number(c.req.header("x-stainless-retry-count") ?? 0) > 0) {
    await noticeLeft(); // The repeated call may arrive before the server notices that the first client has left.
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
  const failure = openAiFailure(result);
  if (failure) throw new Problem(failure.message, { ...failure.facts, headers });
  return c.json(await asked.whole(result, begun), 200, headers);
}

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

function callOf(c: Context<Env>): string {
  const { caller, bodyText } = c.var;
  return digestOf([caller.name, c.req.path, bodyText]);
}

function digestOf(values: readonly string[]): string {
  return createHash("sha256").update(JSON.stringify(values)).digest("hex");
}

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

const OWN_NAME = "vis";

export const ServedModelSchema = z.object({
  id: z.string(),
  object: z.literal("model"),
  created: z.number(),
  owned_by: z.string(),
});

type ServedModel = z.infer<typeof ServedModelSchema>;

export function servedModels({ model, provider }: Pick<HttpParts, "model" | "provider">): readonly ServedModel[] {
  return [OWN_NAME, model].map((id) => ({
    id,
    object: "model" as const,
    created: 0,
    owned_by: id === model ? provider : OWN_NAME,
  }));
}

export function servedModel(parts: Pick<HttpParts, "model" | "provider">, name: string = OWN_NAME): ServedModel {
  const found = servedModels(parts).find(({ id }) => id === name);
  if (found) return found;
  throw new Problem(
    `Cannot find model ${
      name.slice(0, 100)
    }: this server has only ${OWN_NAME} and ${parts.model}; send one of these names`,
    {
      kind: "not-found",
      errors: [{ path: "model", message: "Unknown" }],
    },
  );
}

const text = z.object({ type: z.enum(["text", "input_text", "output_text"]), text: z.string() });
const refusal = z.object({ type: z.literal("refusal"), refusal: z.string() });
const image = z.union([
  z.object({ type: z.literal("image_url"), image_url: z.object({ url: z.string() }) }),
  z.object({ type: z.literal("input_image"), image_url: z.string() }),
]);

const part = z.union([text, image, refusal], "must be a text, an image or a refusal");

export const MessageSchema = z.object({
  type: z.literal("message").optional(),
  role: z.enum(["system", "developer", "user", "assistant", "tool", "function"]),
  content: z.union([z.string(), z.array(part)]).nullish(),
  name: z.string().optional(),
  tool_calls: z.array(z.unknown()).nullish(),
  tool_call_id: z.string().nullish(),
});

export type OpenAiMessage = z.infer<typeof MessageSchema>;

interface OpenAiRequest {
  readonly messages: readonly OpenAiMessage[];
  readonly field: "messages" | "input";
  readonly format: { readonly type: string; readonly schema?: unknown } | null | undefined;
}

type OpenAiInput = Pick<AskOptions, "images" | "responseSchema" | "variables" | "instructions" | "askedAs">;

/** An existing conversation already has the earlier messages; a new one gets them as the variable `messages`. */
function openAiInput(
  { messages, field, format }: OpenAiRequest,
  isNew: boolean,
): { readonly request: string; readonly given: OpenAiInput } {
  const asked = messages.findLast(({ role }) => role === "user") ?? messages.at(-1);
  const images = asked ? imagesOf(asked) : [];
  const request = requestOfImages(asked ? textOf(asked) : "", images);
  if (request.trim() === "") {
    const role = asked?.role ?? "user";
    throw unfitField(
      field,
      `Cannot run the request: its last ${role} message has neither text nor images; add text or an image`,
    );
  }
  const others = messages.filter((message) => message !== asked);
  const said = others.filter(({ role }) => role !== "system" && role !== "developer");
  const instructions = others.filter((message) => !said.includes(message)).map(textOf).join("\n\n");
  return {
    request,
    given: {
      images,
      responseSchema: !format || format.type === "text" ? undefined : format.schema ?? { type: "object" },
      instructions,
      variables: isNew && said.length > 0 ? { messages: inputSource("messages", said.map(plain)) } : undefined,
    },
  };
}

function plain({ content, type: _, ...message }: OpenAiMessage): Readonly<Record<string, unknown>> {
  const parts = typeof content === "string" ? [{ type: "text" as const, text: content }] : content ?? [];
  const texts = parts.map((part) => {
    if ("image_url" in part) return imageMark(urlOf(part));
    return "text" in part ? part.text : part.refusal;
  });
  return { ...message, content: texts.join("") };
}

function urlOf({ image_url: image }: { readonly image_url: string | { readonly url: string } }): string {
  return typeof image === "string" ? image : image.url;
}

function imageMark(url: string): string {
  const data = /^data:([\w+./-]*)/i.exec(url);
  return data ? `[image: ${data[1] || "data"}, ${url.length} characters of base64]` : `[image: ${url}]`;
}

function textOf({ content }: OpenAiMessage): string {
  if (typeof content === "string") return content;
  return (content ?? []).map((part) => "text" in part ? part.text : "").join("");
}

function imagesOf({ content }: OpenAiMessage): readonly Image[] {
  if (typeof content === "string" || !content) return [];
  const urls = content.flatMap((part) => "image_url" in part ? [urlOf(part)] : []);
  return urls.map((url, at) => readImage(url, `${at + 1}`));
}

const IGNORED_HEADER = "x-vis-ignored";

const MAX_NAMED = 50;
const penalty = z.number().min(-2).max(2).nullish();
const tokens = z.number().int().min(1).nullish();

const ignored = {
  store: z.boolean().nullish(),
  temperature: z.number().min(0).max(2).nullish(),
  top_p: z.number().min(0).max(1).nullish(),
  max_tokens: tokens,
  max_completion_tokens: tokens,
  max_output_tokens: tokens,
  presence_penalty: penalty,
  frequency_penalty: penalty,
  stop: z.union([z.string(), z.array(z.string()).max(4)]).nullish(),
  logprobs: z.boolean().nullish(),
  top_logprobs: z.number().int().min(0).max(20).nullish(),
  seed: z.number().int().nullish(),
  logit_bias: z.record(z.string(), z.number()).nullish(),
};

export const OpenAiBody = z.looseObject({
  ...ignored,
  stream: z.boolean().nullish(),
  metadata: z.record(z.string(), z.unknown()).nullish().describe(
    "With conversation, the id of the conversation to continue",
  ),
  tools: z.array(z.unknown()).nullish(),
  tool_choice: z.unknown().optional(),
  modalities: z.array(z.literal("text", 'must be "text", because every answer is text')).nullish(),
  audio: z.null("must be null, because every answer is text").optional(),
});

function ignoredParameters(
  body: z.infer<typeof OpenAiBody>,
  known: Readonly<Record<string, unknown>>,
): Readonly<Record<string, string>> {
  const names = Object.keys(body).filter((name) =>
    (name in ignored || !(name in known)) && hasEffectElsewhere(name, body[name])
  );
  const shown = names.filter((name) => /^\w{1,64}$/.test(name)).slice(0, MAX_NAMED);
  return shown.length === 0 ? {} : { [IGNORED_HEADER]: shown.join(", ") };
}

function hasEffectElsewhere(name: string, value: unknown): boolean {
  if (value === null || value === undefined || value === false) return name === "store" && value === false;
  return !(name === "store" || (Array.isArray(value) && value.length === 0));
}

function refuseTools(
  { tools, functions, tool_choice: choice, function_call: call }: z.infer<typeof OpenAiBody>,
): void {
  for (const [field, offered, chosen] of [["tools", tools, choice], ["functions", functions, call]] as const) {
    if (!Array.isArray(offered) || offered.length === 0 || chosen === "none") continue;
    throw unfitField(
      field,
      `Cannot call ${field} of the client: Vis runs only code of its own model; leave out ${field}`,
    );
  }
}

const TYPES: Partial<Record<ProblemKind, string>> = {
  unauthorized: "authentication_error",
  forbidden: "permission_error",
  "insufficient-scope": "permission_error",
  "rate-limited": "requests",
  quota: "insufficient_quota",
  conflict: "conflict_error",
  unavailable: "server_error",
  provider: "server_error",
  defect: "server_error",
};

const CODES: Partial<Record<ProblemKind, string>> = {
  unauthorized: "invalid_api_key",
  "rate-limited": "rate_limit_exceeded",
  quota: "insufficient_quota",
};

const PASSING: Partial<Record<QueryReason, ProblemKind>> = {
  configuration: "unavailable",
  process_lost: "unavailable",
  unstored: "unavailable",
  defect: "defect",
};

type Ended = Pick<QueryResult, "reason" | "answer" | "notes" | "noAnswer" | "temporary">;

/** Clients repeat a request after a 5xx, so an end that would occur again has status 400. */
export function openAiFailure(result: Ended): Problem | null {
  const { reason, temporary = false } = result;
  if (hasAnswer(result) && reason !== "unstored") return null;
  const passing = PASSING[reason] ?? (!temporary ? undefined : reason === "cancelled" ? "unavailable" : "provider");
  return new Problem(shownAnswer(result), passing ? { kind: passing } : { kind: "no-answer", code: reason });
}

export function openAiErrorBody(
  problem: Pick<Problem, "kind" | "message" | "facts">,
): { readonly error: Readonly<Record<string, unknown>> } {
  const { kind, message, facts } = problem;
  const param = facts.errors?.[0]?.path || null;
  const code = kind === "not-found" && param === "model"
    ? "model_not_found"
    : facts.code ?? CODES[kind] ?? kind.replaceAll("-", "_");
  return { error: { message, type: TYPES[kind] ?? "invalid_request_error", param, code } };
}

/** Clients must not repeat a request by themselves if it may have begun, or if the quota refuses it. */
export function openAiHeaders({ kind, status }: Problem): Readonly<Record<string, string>> {
  return status >= 500 || status === 409 || kind === "quota" ? { "x-should-retry": "false" } : {};
}
