import { z } from "zod";
import type { Conversation } from "../../../conversation/conversations.ts";
import { conversationDetail } from "./conversation_detail.ts";
import { findConversation } from "../request/find_conversation.ts";
import { findQuery } from "../request/find_query.ts";
import { jsonResponse } from "../response/json_response.ts";
import { cursorText, readCursor } from "./list_cursor.ts";
import { type HttpRoute, route } from "../routing/route.ts";
import type { RouteParts } from "../stream/route_parts.ts";
import * as schema from "./schemas.ts";

const BASE = "/api/v1/conversations";
/** The default of the schema: the first request becomes the title. */
const UNTITLED = "New conversation";

/** Routes for conversations: list, create, read, branch, cancel what runs. */
export function conversationRoutes(parts: RouteParts): readonly HttpRoute[] {
  return [list(parts), create(parts), show(parts), queries(parts), fork(parts), cancel(parts)];
}

function shown({ conversationId, branchId, title, workspace, createdAt }: Conversation) {
  return { conversationId, branchId, title, workspace, createdAt };
}

function list({ parts }: RouteParts): HttpRoute {
  return route({
    method: "get",
    path: BASE,
    operation: "listConversations",
    summary: "List conversations, most recently used first",
    tag: "conversations",
    query: schema.PageQuery,
    answers: { 200: { description: "A page of conversations", schema: schema.ConversationListSchema } },
    handle: async ({ query: { limit, cursor } }) => {
      const after = cursor === undefined ? undefined : readCursor(cursor);
      const found = await parts.conversations.list({ limit: limit + 1, after });
      const page = found.slice(0, limit);
      const last = found.length > limit ? page.at(-1) : undefined;
      const items = page.map((one) => ({ ...shown(one), queries: one.queries, running: one.running }));
      return jsonResponse({ items, next: last ? cursorText(last.place) : null });
    },
  });
}

function create({ parts }: RouteParts): HttpRoute {
  return route({
    method: "post",
    path: BASE,
    operation: "createConversation",
    summary: "Create a conversation in the server's workspace",
    tag: "conversations",
    body: schema.NewConversationBody,
    answers: { 201: { description: "The new conversation", schema: schema.ConversationSchema } },
    handle: async ({ body: { title } }) => {
      const { workspace, conversations } = parts;
      const untitled = title === UNTITLED;
      const made = await conversations.create({ title, channel: "http", workspace, untitled });
      return created(made);
    },
  });
}

function created(made: Conversation): Response {
  return jsonResponse(shown(made), { status: 201, headers: { location: `${BASE}/${made.conversationId}` } });
}

function show({ parts }: RouteParts): HttpRoute {
  return route({
    method: "get",
    path: `${BASE}/{id}`,
    operation: "getConversation",
    summary: "Get a conversation and its branches",
    tag: "conversations",
    answers: { 200: { description: "The conversation", schema: schema.ConversationDetailSchema } },
    handle: async ({ params }) => {
      const conversation = await findConversation(parts.conversations, params["id"]);
      return jsonResponse(await conversationDetail(conversation, parts));
    },
  });
}

function queries({ parts: { conversations } }: RouteParts): HttpRoute {
  return route({
    method: "get",
    path: `${BASE}/{id}/queries`,
    operation: "listQueries",
    summary: "List the queries of a branch with their answers, oldest first",
    tag: "conversations",
    query: schema.QueriesQuery,
    answers: {
      200: {
        description: "A page of queries",
        schema: z.object({
          items: z.array(schema.QuerySchema),
          before: z.number().int().describe("Number of earlier queries; pass it as before to get them"),
        }),
      },
    },
    handle: async ({ params, query: { before, limit } }) => {
      const conversation = await findConversation(conversations, params["id"]);
      const found = (await conversations.queries(conversation)).slice(0, before);
      const from = Math.max(0, found.length - limit);
      return jsonResponse({ items: found.slice(from), before: from });
    },
  });
}

function fork({ parts: { conversations } }: RouteParts): HttpRoute {
  return route({
    method: "post",
    path: `${BASE}/{id}/fork`,
    operation: "forkConversation",
    summary: "Create a branch that continues from an earlier point; its branchId can be used as a conversation id",
    tag: "conversations",
    body: schema.ForkBody,
    answers: { 201: { description: "The new branch", schema: schema.ConversationSchema } },
    handle: async ({ params, body: { queryId, iteration, title } }) => {
      const conversation = await findConversation(conversations, params["id"]);
      await findQuery(conversations, { conversation, queryId });
      const position = iteration === undefined ? null : iteration - 1;
      const made = await conversations.fork({ queryId, position, ...(title === undefined ? {} : { title }) });
      return jsonResponse(shown(made), { status: 201, headers: { location: `${BASE}/${made.branchId}` } });
    },
  });
}

function cancel({ parts: { conversations }, runs }: RouteParts): HttpRoute {
  return route({
    method: "post",
    path: `${BASE}/{id}/cancel`,
    operation: "cancel",
    summary: "Cancel what this server runs in the conversation; completed steps are kept",
    tag: "conversations",
    answers: {
      200: { description: "Number of queries being cancelled", schema: z.object({ cancelled: z.number().int() }) },
    },
    handle: async ({ params }) => {
      const { conversationId } = await findConversation(conversations, params["id"]);
      const found = runs.of(conversationId);
      for (const run of found) run.cancel();
      return jsonResponse({ cancelled: found.length });
    },
  });
}
