import { z } from "zod";
import { jsonResponse } from "../response/json_response.ts";
import { ChatCompletionSchema } from "./answers.ts";
import { openAiAsk } from "./ask.ts";
import { namedConversation, openAiTarget } from "./conversation.ts";
import { openAiInput } from "./input.ts";
import { servedModel, servedModels, ServedModelSchema } from "./models.ts";
import { completion, completionChunks } from "./chat_reply.ts";
import { ChatCompletionBody, type ChatCompletionRequest } from "./chat_request.ts";
import { type HttpRoute, route } from "../routing/route.ts";
import type { RouteParts } from "../stream/route_parts.ts";
import { unfitField } from "../response/unfit_field.ts";

/** The JSON Schema that the answer of a chat completion must satisfy; undefined for none. Throws `Problem` for options
 * of the protocol that are not supported here. */
function checkChat(
  { tools, functions, n, audio, response_format: format }: ChatCompletionRequest,
): unknown {
  if ((tools?.length ?? 0) > 0) {
    throw unfitField("tools", "Cannot call tools of the client: the agent runs its own code");
  }
  if ((functions?.length ?? 0) > 0) {
    throw unfitField("functions", "Cannot call functions of the client: the agent runs its own code");
  }
  if ((n ?? 1) !== 1) throw unfitField("n", `Cannot return ${n} choices: n must be 1`);
  if (audio !== undefined && audio !== null) throw unfitField("audio", "Cannot return audio: answers are text");
  if (!format || format.type === "text") return undefined;
  return format.type === "json_schema" ? format.json_schema.schema : { type: "object" };
}

/** The agent as a model for clients that use OpenAI's chat completions. */
export function openAiRoutes(given: RouteParts): readonly HttpRoute[] {
  return [models(given), model(given), chatCompletions(given)];
}

function models({ parts }: RouteParts): HttpRoute {
  return route({
    method: "get",
    path: "/v1/models",
    operation: "openaiListModels",
    summary: "List models in the format of OpenAI",
    tag: "openai",
    answers: {
      200: {
        description: "The models",
        schema: z.object({ object: z.literal("list"), data: z.array(ServedModelSchema) }),
      },
    },
    handle: () => jsonResponse({ object: "list", data: servedModels(parts) }),
  });
}

function model({ parts }: RouteParts): HttpRoute {
  return route({
    method: "get",
    path: "/v1/models/{model}",
    operation: "openaiGetModel",
    summary: "Get a model in the format of OpenAI",
    tag: "openai",
    answers: { 200: { description: "The model", schema: ServedModelSchema } },
    handle: ({ params }) => jsonResponse(servedModel(parts, params["model"])),
  });
}

function chatCompletions({ parts, runs }: RouteParts): HttpRoute {
  return route({
    method: "post",
    path: "/v1/chat/completions",
    operation: "openaiChatCompletion",
    summary: "Run a query as a chat completion; disconnecting cancels it",
    tag: "openai",
    headers: { "X-Vis-Conversation": "The conversation to continue; a new one by default" },
    body: ChatCompletionBody,
    answers: {
      200: { description: "The completion; with stream, its chunks", schema: ChatCompletionSchema, stream: true },
    },
    handle: async (call) => {
      const { body } = call;
      servedModel(parts, body.model);
      const id = namedConversation(call);
      const wanted = { isNew: id === null, schema: checkChat(body), field: "messages" };
      const facts = { model: body.model, at: parts.now() };
      const includeUsage = body.stream_options?.include_usage === true;
      return await openAiAsk({ parts, runs }, call, {
        ...openAiInput(body.messages, wanted),
        target: await openAiTarget(id, parts),
        events: (run, { queryId }) => completionChunks(run, { facts: { ...facts, queryId }, includeUsage }),
        whole: (result, { queryId }) => completion(result, { ...facts, queryId }),
      });
    },
  });
}
