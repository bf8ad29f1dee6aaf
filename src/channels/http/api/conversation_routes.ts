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
export function conversationRoutes(given: RouteParts): readonly HttpRoute[] {
  return [list(given), create(given), show(given), queries(given), fork(given), cancel(given)];
}

function shown({ conversationId, branchId, title, workspace, createdAt }: Conversation) {
  return { conversationId, branchId, title, workspace, createdAt };
}

function list({ parts }: RouteParts): HttpRoute {
  return route({
    method: "get",
    path: BASE,
    operation: "listConversations",
    summary: "Conversations, the one with the newest query first",
    tag: "conversations",
    query: schema.PageQuery,
    answers: { 200: { description: "A page", schema: schema.ConversationListSchema } },
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
    summary: "A new conversation in the server's workspace",
    tag: "conversations",
    body: schema.NewConversationBody,
    answers: { 201: { description: "It was made", schema: schema.ConversationSchema } },
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
    summary: "A conversation and its branches",
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
    summary: "What was asked and answered, oldest first",
    tag: "conversations",
    query: schema.QueriesQuery,
    answers: {
      200: {
        description: "Queries of the branch",
        schema: z.object({
          items: z.array(schema.QuerySchema),
          before: z.number().int().describe("How many come before these; what before must be for them"),
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
    summary: "A branch that goes on from a point of this one; its branchId serves as the id of a conversation",
    tag: "conversations",
    body: schema.ForkBody,
    answers: { 201: { description: "The branch", schema: schema.ConversationSchema } },
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
    summary: "End what this server runs in the conversation; what was done is kept",
    tag: "conversations",
    answers: {
      200: { description: "How many queries were told to end", schema: z.object({ cancelled: z.number().int() }) },
    },
    handle: async ({ params }) => {
      const { conversationId } = await findConversation(conversations, params["id"]);
      const found = runs.of(conversationId);
      for (const run of found) run.cancel();
      return jsonResponse({ cancelled: found.length });
    },
  });
}
