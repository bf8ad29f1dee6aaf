import { Hono } from "hono";
import { z } from "zod";
import { describeIn, EVENT_STREAM } from "../request/describe.ts";
import type { Env } from "../request/env.ts";
import { validJson } from "../request/valid.ts";
import { ChatCompletionSchema } from "./answers.ts";
import { OPENAI_HEADERS, openAiAsk, openAiTarget } from "./ask.ts";
import { completion, completionChunks } from "./chat_reply.ts";
import { MessageSchema } from "./input.ts";
import { servedModel, servedModels, ServedModelSchema } from "./models.ts";
import { OpenAiBody } from "./parameters.ts";

const describe = describeIn("openai");

const ResponseFormat = z.union([
  z.object({ type: z.enum(["text", "json_object"]) }),
  z.object({ type: z.literal("json_schema"), json_schema: z.object({ schema: z.unknown().optional() }) })
    .transform(({ type, json_schema: { schema } }) => ({ type, schema })),
]);

/** Chat completions as clients send them. */
const ChatCompletionBody = OpenAiBody.extend({
  model: z.string(),
  messages: z.array(MessageSchema).min(1),
  stream_options: z.object({ include_usage: z.boolean().nullish() }).nullish(),
  response_format: ResponseFormat.nullish(),
  n: z.literal(1, "It must be 1: there is one answer").nullish(),
  functions: z.array(z.unknown()).nullish(),
  function_call: z.unknown().optional(),
  audio: z.null("Answers are text").optional(),
});

/** The agent as a model for clients that use OpenAI's chat completions. */
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
  describe("openaiChatCompletion", "Run a query as a chat completion; disconnecting cancels it", {
    scope: "write",
    headers: OPENAI_HEADERS,
    200: [ChatCompletionSchema, EVENT_STREAM],
    errors: [409],
  }),
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
