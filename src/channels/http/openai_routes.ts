import { z } from "zod";
import type { Conversation } from "../../conversation/conversations.ts";
import { oneLine } from "../../domain/clip.ts";
import { eventStream } from "./event_stream.ts";
import { findConversation } from "./find_conversation.ts";
import type { HttpParts } from "./http_parts.ts";
import { jsonResponse } from "./json_response.ts";
import { openAiGiven } from "./openai_given.ts";
import { completion, completionChunks } from "./openai_reply.ts";
import { ChatCompletionBody, type ChatCompletionRequest } from "./openai_request.ts";
import { Problem } from "./problem.ts";
import { type Call, type Route, route } from "./route.ts";
import type { Runs } from "./runs.ts";

/** Names the conversation, in requests and in responses. */
const CONVERSATION = "x-vis-conversation";
/** The model name that always serves, whatever model stands behind it. */
const OWN_NAME = "vis";

interface Given {
  readonly parts: HttpParts;
  readonly runs: Runs;
}

/** The agent as a model for any client that speaks OpenAI's chat completions. */
export function openAiRoutes(given: Given): readonly Route[] {
  return [models(given), model(given), chatCompletions(given)];
}

function served({ model: name, provider }: HttpParts) {
  return [OWN_NAME, name].map((id) => ({
    id,
    object: "model",
    created: 0,
    owned_by: id === name ? provider : OWN_NAME,
  }));
}

const ModelSchema = z.object({ id: z.string(), object: z.literal("model"), created: z.number(), owned_by: z.string() });

function models({ parts }: Given): Route {
  return route({
    method: "get",
    path: "/v1/models",
    operation: "openaiListModels",
    summary: "Models as OpenAI's clients list them",
    tag: "openai",
    answers: {
      200: { description: "A list", schema: z.object({ object: z.literal("list"), data: z.array(ModelSchema) }) },
    },
    handle: () => jsonResponse({ object: "list", data: served(parts) }),
  });
}

function model({ parts }: Given): Route {
  return route({
    method: "get",
    path: "/v1/models/{model}",
    operation: "openaiGetModel",
    summary: "One model as OpenAI's clients ask for it",
    tag: "openai",
    answers: { 200: { description: "The model", schema: ModelSchema } },
    handle: ({ params }) => jsonResponse(find(parts, params["model"] ?? "")),
  });
}

function find(parts: HttpParts, name: string) {
  const found = served(parts).find(({ id }) => id === name);
  if (found) return found;
  throw new Problem(`Cannot find model: ${name.slice(0, 100)}; this server has ${OWN_NAME} and ${parts.model}`, {
    kind: "not-found",
  });
}

function chatCompletions({ parts, runs }: Given): Route {
  return route({
    method: "post",
    path: "/v1/chat/completions",
    operation: "openaiChatCompletion",
    summary: "One query as a chat completion; leaving its stream cancels it",
    tag: "openai",
    headers: { "X-Vis-Conversation": "The conversation to go on with; a new one where it is left out" },
    body: ChatCompletionBody,
    answers: { 200: { description: "A completion, or its chunks with stream", schema: z.unknown(), stream: true } },
    handle: async (call) => {
      const { body } = call;
      find(parts, body.model);
      const id = conversationId(call);
      const { request, given } = openAiGiven(body, { isNew: id === null });
      const { conversations } = parts;
      await conversations.check(given);
      if (request.trim() === "") {
        throw new Problem("Cannot run an empty request: the last message is empty", { kind: "bad-request" });
      }
      const conversation = await conversationOf(id, { parts, title: request });
      const { run, queryId } = await runs.begin(
        (options) =>
          conversations.send(conversation, request, { ...options, ...given, label: "openai", refuseWhenBusy: true }),
        { conversationId: conversation.conversationId, caller: call.caller },
      );
      const facts = { queryId, model: body.model, at: parts.now() };
      const headers = { [CONVERSATION]: conversation.branchId };
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

function conversationId({ headers, body }: Pick<Call<ChatCompletionRequest>, "headers" | "body">): string | null {
  const told = headers.get(CONVERSATION) ?? body.metadata?.["conversation"];
  return told === undefined || told === null || told === "" ? null : String(told);
}

async function conversationOf(
  id: string | null,
  { parts, title }: { readonly parts: HttpParts; readonly title: string },
): Promise<Conversation> {
  const { conversations, workspace } = parts;
  if (id !== null) return await findConversation(conversations, id);
  return await conversations.create({ title: oneLine(title, 100), channel: "openai", workspace });
}
