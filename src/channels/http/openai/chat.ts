import { Hono } from "hono";
import { z } from "zod";
import { isChild, isEnd } from "../../../domain/query/query_event.ts";
import { type QueryResult, QueryResultSchema, type Usage } from "../../../domain/query/query_schemas.ts";
import type { Env } from "../http_parts.ts";
import type { FollowedEvent } from "../followed_query.ts";
import { describeIn, EVENT_STREAM, validJson } from "../route.ts";
import {
  MessageSchema,
  OPENAI_HEADERS,
  openAiAsk,
  OpenAiBody,
  openAiErrorBody,
  openAiFailure,
  openAiTarget,
  servedModel,
  servedModels,
  ServedModelSchema,
} from "./ask.ts";

const describe = describeIn("openai");

const ResponseFormat = z.union([
  z.object({ type: z.enum(["text", "json_object"]) }),
  z.object({ type: z.literal("json_schema"), json_schema: z.object({ schema: z.unknown().optional() }) })
    .transform(({ type, json_schema: { schema } }) => ({ type, schema })),
]);

const ChatCompletionBody = OpenAiBody.extend({
  model: z.string(),
  messages: z.array(MessageSchema).min(1),
  stream_options: z.object({ include_usage: z.boolean().nullish() }).nullish(),
  response_format: ResponseFormat.nullish(),
  n: z.literal(1, "must be 1, because there is one answer").nullish(),
  functions: z.array(z.unknown()).nullish(),
  function_call: z.unknown().optional(),
});

const count = z.number().int();

const ChatCompletionSchema = z.object({
  id: z.string().describe("chatcmpl- followed by the query id"),
  object: z.literal("chat.completion"),
  created: count.describe("Time in seconds since the epoch"),
  model: z.string(),
  choices: z.array(
    z.object({
      index: z.literal(0),
      message: z.object({ role: z.literal("assistant"), content: z.string() }).loose(),
      finish_reason: z.enum(["stop", "length"]).describe("With length, a limit ended the query with its best answer"),
    }).loose(),
  ),
  usage: z.object({ prompt_tokens: count, completion_tokens: count, total_tokens: count }).loose(),
  work: QueryResultSchema.shape.work,
}).loose();

export const chat = new Hono<Env>();

chat.get(
  "/models",
  describe("openaiListModels", "List models in the format of OpenAI", {
    200: z.object({ object: z.literal("list"), data: z.array(ServedModelSchema) }),
  }),
  (c) => c.json({ object: "list", data: servedModels(c.env.parts) }),
);

chat.get(
  "/models/:model",
  describe("openaiGetModel", "Get a model in the format of OpenAI", { 200: ServedModelSchema }),
  (c) => c.json(servedModel(c.env.parts, c.req.param("model"))),
);

chat.post(
  "/chat/completions",
  describe(
    "openaiChatCompletion",
    "Run a query as a chat completion; disconnecting cancels it, except with an Idempotency-Key",
    {
      scope: "write",
      headers: OPENAI_HEADERS,
      200: [ChatCompletionSchema, EVENT_STREAM],
      errors: [409],
    },
  ),
  validJson(ChatCompletionBody),
  async (c) => {
    const body = c.req.valid("json");
    const { parts } = c.env;
    servedModel(parts, body.model);
    const facts = { model: body.model, at: parts.now() };
    const includeUsage = body.stream_options?.include_usage === true;
    return await openAiAsk(c, {
      ...{ body, known: ChatCompletionBody.shape, target: await openAiTarget(c, body) },
      given: { messages: body.messages, field: "messages", format: body.response_format },
      events: (events, { queryId }) => completionChunks(events, { facts: { ...facts, queryId }, includeUsage }),
      whole: (result, { queryId }) => completion(result, { ...facts, queryId }),
    });
  },
);

interface CompletionFacts {
  readonly queryId: string;
  readonly model: string;
  readonly at: number;
}

function completion(result: QueryResult, facts: CompletionFacts): object {
  const message = { role: "assistant", content: result.answer, refusal: null };
  return {
    ...head(facts, "chat.completion"),
    choices: [{ index: 0, message, logprobs: null, finish_reason: finishOf(result) }],
    usage: usageOf(result.usage),
    ...workOf(result),
  };
}

function workOf({ work }: QueryResult): Pick<QueryResult, "work"> {
  return work ? { work } : {};
}

async function* completionChunks(
  events: AsyncIterable<FollowedEvent>,
  { facts, includeUsage }: {
    readonly facts: CompletionFacts;
    readonly includeUsage: boolean;
  },
): AsyncGenerator<string> {
  const usage = includeUsage ? { usage: null } : {};
  const chunk = (delta: object, finish: string | null = null, own: object = {}): string =>
    line({
      ...head(facts, "chat.completion.chunk"),
      choices: [{ index: 0, delta, logprobs: null, finish_reason: finish }],
      ...usage,
      ...own,
    });
  yield chunk({ role: "assistant", content: "", refusal: null });
  for await (const { event } of events) {
    if (isChild(event)) continue;
    if (event.type === "thinking") yield chunk({ reasoning_content: event.delta });
    if (!isEnd(event)) continue;
    const { result } = event;
    const failure = openAiFailure(result);
    if (failure) yield line(openAiErrorBody(failure));
    else {
      yield chunk({ content: result.answer });
      yield chunk({}, finishOf(result), workOf(result));
      const total = { choices: [], usage: usageOf(result.usage) };
      if (includeUsage) yield line({ ...head(facts, "chat.completion.chunk"), ...total });
    }
  }
  yield "data: [DONE]\n\n";
}

function line(value: object): string {
  return `data: ${JSON.stringify(value)}\n\n`;
}

function head({ queryId, model, at }: CompletionFacts, object: string) {
  return { id: `chatcmpl-${queryId}`, object, created: Math.floor(at / 1000), model, system_fingerprint: null };
}

function finishOf({ reason }: QueryResult): "stop" | "length" {
  return reason === "answered" ? "stop" : "length";
}

function usageOf({ input, output, cached, reasoning, estimated = 0 }: Usage) {
  return {
    ...(estimated > 0 ? { estimated: true } : {}),
    prompt_tokens: input,
    completion_tokens: output,
    total_tokens: input + output,
    prompt_tokens_details: { cached_tokens: cached },
    completion_tokens_details: { reasoning_tokens: reasoning },
  };
}
