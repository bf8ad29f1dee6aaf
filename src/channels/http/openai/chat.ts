import { Hono } from "hono";
import { z } from "zod";
import { describeIn, EVENT_STREAM } from "../request/describe.ts";
import type { Env } from "../request/env.ts";
import { validJson } from "../request/valid.ts";
import { unfitField } from "../response/problem.ts";
import { ChatCompletionSchema } from "./answers.ts";
import { openAiAsk } from "./ask.ts";
import { completion, completionChunks } from "./chat_reply.ts";
import { ChatCompletionBody, type ChatCompletionRequest } from "./chat_request.ts";
import { namedConversation, OPENAI_HEADERS, openAiTarget } from "./conversation.ts";
import { openAiInput } from "./input.ts";
import { servedModel, servedModels, ServedModelSchema } from "./models.ts";
import { ignoredParameters, refuseTools } from "./parameters.ts";

const describe = describeIn("openai");

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
    const id = namedConversation(c, body);
    const wanted = { isNew: id === null, schema: checkChat(body), field: "messages" };
    const facts = { model: body.model, at: parts.now() };
    const includeUsage = body.stream_options?.include_usage === true;
    return await openAiAsk(c, {
      ...openAiInput(body.messages, wanted),
      target: await openAiTarget(id, parts),
      stream: body.stream === true,
      headers: ignoredParameters(body, ChatCompletionBody.shape),
      events: (events, { queryId }) => completionChunks(events, { facts: { ...facts, queryId }, includeUsage }),
      whole: (result, { queryId }) => completion(result, { ...facts, queryId }),
    });
  },
);

/** The JSON Schema that the answer of a chat completion must satisfy; undefined for none. Throws `Problem` for options
 * of the protocol that are not supported here. */
function checkChat({ n, audio, response_format: format, ...body }: ChatCompletionRequest): unknown {
  refuseTools(body);
  if ((n ?? 1) !== 1) throw unfitField("n", `Cannot return ${n} choices: n must be 1`);
  if (audio !== undefined && audio !== null) throw unfitField("audio", "Cannot return audio: answers are text");
  if (!format || format.type === "text") return undefined;
  return (format.type === "json_schema" ? format.json_schema.schema : null) ?? { type: "object" };
}
