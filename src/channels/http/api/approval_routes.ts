import { findConversation } from "../request/find_conversation.ts";
import { jsonResponse } from "../response/json_response.ts";
import { Problem } from "../response/problem.ts";
import { type HttpRoute, route } from "../routing/route.ts";
import type { RouteParts } from "../stream/route_parts.ts";
import * as schema from "./schemas.ts";

const BASE = "/api/v1/conversations/{id}/approvals";

/** Routes for what extensions ask the user: the questions that wait, and their answers. */
export function approvalRoutes(parts: RouteParts): readonly HttpRoute[] {
  return [list(parts), answer(parts)];
}

function list({ parts: { conversations }, runs }: RouteParts): HttpRoute {
  return route({
    method: "get",
    path: BASE,
    operation: "listApprovals",
    summary: "List the questions that wait for an answer in the queries that this server runs",
    tag: "messages",
    answers: { 200: { description: "The questions", schema: schema.ApprovalListSchema } },
    handle: async ({ params }) => {
      const { conversationId } = await findConversation(conversations, params["id"]);
      return jsonResponse({ items: runs.of(conversationId).flatMap(({ questions }) => questions.all) });
    },
  });
}

function answer({ parts: { conversations }, runs }: RouteParts): HttpRoute {
  return route({
    method: "post",
    path: `${BASE}/{approvalId}`,
    operation: "answerApproval",
    summary: "Answer a question; the first answer counts",
    tag: "messages",
    body: schema.ApprovalBody,
    answers: { 200: { description: "The answer was taken", schema: schema.ApprovalBody } },
    handle: async ({ params, body }) => {
      const { conversationId } = await findConversation(conversations, params["id"]);
      const id = params["approvalId"] ?? "";
      if (runs.of(conversationId).some(({ questions }) => questions.answer(id, body))) return jsonResponse(body);
      throw new Problem(`Cannot answer question ${id.slice(0, 100)}: no such question waits here`, {
        kind: "not-found",
      });
    },
  });
}
