import { z } from "zod";
import { callerLabel } from "./caller_label.ts";
import { checkChat } from "./check_chat.ts";
import { eventStream } from "./event_stream.ts";
import { jsonResponse } from "./json_response.ts";
import { ChatCompletionSchema } from "./openai_answers.ts";
import { CONVERSATION_HEADER, namedConversation, openAiConversation } from "./openai_conversation.ts";
import { openAiGiven } from "./openai_given.ts";
import { servedModel, servedModels, ServedModelSchema } from "./openai_models.ts";
import { completion, completionChunks } from "./openai_reply.ts";
import { ChatCompletionBody } from "./openai_request.ts";
import { type Route, route } from "./route.ts";
import type { RouteParts } from "./route_parts.ts";

/** The agent as a model for any client that speaks OpenAI's chat completions. */
export function openAiRoutes(given: RouteParts): readonly Route[] {
  return [models(given), model(given), chatCompletions(given)];
}

function models({ parts }: RouteParts): Route {
  return route({
    method: "get",
    path: "/v1/models",
    operation: "openaiListModels",
    summary: "Models as OpenAI's clients list them",
    tag: "openai",
    answers: {
      200: { description: "A list", schema: z.object({ object: z.literal("list"), data: z.array(ServedModelSchema) }) },
    },
    handle: () => jsonResponse({ object: "list", data: servedModels(parts) }),
  });
}

function model({ parts }: RouteParts): Route {
  return route({
    method: "get",
    path: "/v1/models/{model}",
    operation: "openaiGetModel",
    summary: "One model as OpenAI's clients ask for it",
    tag: "openai",
    answers: { 200: { description: "The model", schema: ServedModelSchema } },
    handle: ({ params }) => jsonResponse(servedModel(parts, params["model"])),
  });
}

function chatCompletions({ parts, runs }: RouteParts): Route {
  return route({
    method: "post",
    path: "/v1/chat/completions",
    operation: "openaiChatCompletion",
    summary: "One query as a chat completion; leaving the call cancels it",
    tag: "openai",
    headers: { "X-Vis-Conversation": "The conversation to go on with; a new one where it is left out" },
    body: ChatCompletionBody,
    answers: {
      200: { description: "A completion, or its chunks with stream", schema: ChatCompletionSchema, stream: true },
    },
    handle: async (call) => {
      const { body } = call;
      servedModel(parts, body.model);
      const id = namedConversation(call);
      const wanted = { isNew: id === null, schema: checkChat(body), field: "messages" };
      const { request, given } = openAiGiven(body.messages, wanted);
      const { conversations } = parts;
      await conversations.check(given);
      runs.check(call.caller);
      const conversation = await openAiConversation(id, { parts, title: request });
      const label = callerLabel("openai", call.caller);
      const { run, queryId } = await runs.begin(
        (options) => conversations.send(conversation, request, { ...options, ...given, label, refuseWhenBusy: true }),
        { conversationId: conversation.conversationId, caller: call.caller, leaving: call.leaving },
      );
      const facts = { queryId, model: body.model, at: parts.now() };
      const headers = { [CONVERSATION_HEADER]: conversation.branchId };
      if (!body.stream) return jsonResponse(completion(await run.ended, facts), { headers });
      const includeUsage = body.stream_options?.include_usage === true;
      return eventStream(completionChunks(run, { facts, includeUsage }), {
        headers,
        heartbeatMs: parts.limits.heartbeatMs,
        left: () => run.cancel(),
      });
    },
  });
}
