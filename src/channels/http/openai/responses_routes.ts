import { z } from "zod";
import type { Conversation } from "../../../conversation/conversations.ts";
import type { AskTarget } from "../../../conversation/send_options.ts";
import { UsageError } from "../../../domain/errors.ts";
import type { StoredQuery } from "../../../domain/query/stored_query.ts";
import type { HttpParts } from "../routing/http_parts.ts";
import { jsonResponse } from "../response/json_response.ts";
import { ResponseSchema } from "./answers.ts";
import { openAiAsk } from "./ask.ts";
import { namedConversation, openAiTarget } from "./conversation.ts";
import { openAiInput } from "./input.ts";
import { servedModel } from "./models.ts";
import { Problem } from "../response/problem.ts";
import { responseEvents } from "./response_events.ts";
import { responseMessages } from "./response_messages.ts";
import { type ResponseFacts, responseObject } from "./response_object.ts";
import { ResponseBody, type ResponseRequest } from "./responses_request.ts";
import { type HttpRoute, route, type RouteCall } from "../routing/route.ts";
import type { RouteParts } from "../stream/route_parts.ts";
import type { Begun } from "../stream/run.ts";
import { resultOf } from "../stream/stored_events.ts";
import { unfitField } from "../response/unfit_field.ts";

/** The agent as a model for clients that use OpenAI's Responses API. */
export function responsesRoutes(given: RouteParts): readonly HttpRoute[] {
  return [create(given), retrieve(given)];
}

function create({ parts, runs }: RouteParts): HttpRoute {
  return route({
    method: "post",
    path: "/v1/responses",
    operation: "openaiCreateResponse",
    summary: "Run a query as a response; disconnecting cancels it",
    tag: "openai",
    headers: { "X-Vis-Conversation": "The conversation to continue; a new one by default" },
    body: ResponseBody,
    answers: { 200: { description: "The response; with stream, its events", schema: ResponseSchema, stream: true } },
    handle: async (call) => {
      const { body } = call;
      const { id: model } = servedModel(parts, body.model ?? undefined);
      const { messages, schema } = responseMessages(body);
      const isNew = named(call) === null && !body.previous_response_id;
      const { request, given } = openAiInput(messages, { isNew, schema, field: "input" });
      const known = { ...factsOf(body), model, at: parts.now() };
      const facts = ({ queryId, branchId }: Begun) => ({ ...known, queryId, conversationId: branchId });
      return await openAiAsk({ parts, runs }, call, {
        ...{ request, given, target: await targetOf(call, parts) },
        events: (run, begun) => responseEvents(run, facts(begun)),
        whole: async (result, begun) =>
          responseObject(facts(begun), { result, thinking: await thinkingOf(parts, begun.queryId) }),
      });
    },
  });
}

function factsOf(
  { instructions, previous_response_id: previousId, metadata }: ResponseRequest,
): Pick<ResponseFacts, "instructions" | "previousId" | "metadata"> {
  return { instructions: instructions ?? null, previousId: previousId ?? null, metadata: metadata ?? {} };
}

function named({ headers, body }: Pick<RouteCall<ResponseRequest>, "headers" | "body">): string | null {
  const { conversation } = body;
  const id = typeof conversation === "string" ? conversation : conversation?.id;
  return namedConversation({ headers, body }) ?? (id || null);
}

/** The branch that ends with the previous response, a branch that begins at it, or the named conversation. */
async function targetOf(
  call: Pick<RouteCall<ResponseRequest>, "headers" | "body">,
  parts: HttpParts,
): Promise<AskTarget> {
  const { previous_response_id: previous } = call.body;
  if (!previous) return await openAiTarget(named(call), parts);
  const { branch, query } = await findResponse(parts, previous);
  const last = (await parts.conversations.queries(branch)).at(-1);
  return last?.queryId === query.queryId ? branch : { queryId: query.queryId, position: null };
}

async function findResponse(
  { conversations }: Pick<HttpParts, "conversations">,
  id: string,
): Promise<{ readonly branch: Conversation; readonly query: StoredQuery }> {
  const missing = new Problem(`Cannot find response: ${id.slice(0, 100)}`, { kind: "not-found" });
  const [, queryId = null] = /^resp_([0-9a-f-]{36})$/.exec(id) ?? [];
  if (queryId === null) throw missing;
  try {
    const { branch } = await conversations.records.point(queryId);
    const query = (await conversations.queries(branch)).find((one) => one.queryId === queryId);
    if (query) return { branch, query };
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
  }
  throw missing;
}

function retrieve({ parts }: RouteParts): HttpRoute {
  return route({
    method: "get",
    path: "/v1/responses/{response}",
    operation: "openaiGetResponse",
    summary: "Get an earlier response",
    tag: "openai",
    query: z.object({ stream: z.string().optional().describe("Only false is supported") }),
    answers: { 200: { description: "The response", schema: ResponseSchema } },
    handle: async ({ params, query: { stream = "false" } }) => {
      if (stream !== "false") throw unfitField("stream", "Cannot stream a stored response: omit stream");
      const { branch, query } = await findResponse(parts, params["response"] ?? "");
      const nothing = { instructions: null, previousId: null, metadata: {} };
      const { queryId, createdAt: at } = query;
      const facts = { ...nothing, queryId, at, model: servedModel(parts).id, conversationId: branch.branchId };
      return jsonResponse(responseObject(facts, {
        result: query.running ? null : resultOf(query),
        thinking: await thinkingOf(parts, queryId),
      }));
    },
  });
}

async function thinkingOf({ conversations }: Pick<HttpParts, "conversations">, queryId: string): Promise<string> {
  const thinkings = (await conversations.iterations(queryId)).map(({ thinking }) => thinking);
  return thinkings.filter((text) => text !== "").join("\n");
}
