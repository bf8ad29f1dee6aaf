import { z } from "zod";
import { SearchHitSchema } from "../../schemas/search_hit_schema.ts";
import type { HttpParts } from "../routing/http_parts.ts";
import { Changes } from "./changes.ts";
import { conversationDetail } from "./conversation_detail.ts";
import { entityTag } from "../response/entity_tag.ts";
import { findConversation } from "../request/find_conversation.ts";
import { jsonResponse } from "../response/json_response.ts";
import { type HttpRoute, route } from "../routing/route.ts";
import type { RouteParts } from "../stream/route_parts.ts";
import * as schema from "./schemas.ts";

const BASE = "/api/v1/conversations/{id}";

/** Routes for stored conversations: rename, delete, export, search. */
export function recordRoutes(given: RouteParts): readonly HttpRoute[] {
  const changes = new Changes(given.parts);
  return [rename(given, changes), remove(given, changes), exported(given.parts), search(given.parts)];
}

const MATCH = { "If-Match": "ETag of the conversation as it was read; 412 if it has changed since" };

function rename({ parts }: RouteParts, changes: Changes): HttpRoute {
  return route({
    method: "patch",
    path: BASE,
    operation: "renameConversation",
    summary: "Rename the branch",
    tag: "conversations",
    body: schema.RenameBody,
    headers: MATCH,
    answers: {
      200: { description: "The conversation with its new title", schema: schema.ConversationDetailSchema },
    },
    handle: (call) =>
      changes.change(call, async (conversation) => {
        const title = await parts.conversations.records.rename(conversation, call.body.title);
        const detail = await conversationDetail({ ...conversation, title }, parts);
        return jsonResponse(detail, { headers: { etag: entityTag(JSON.stringify(detail)) } });
      }),
  });
}

function remove({ parts: { conversations } }: RouteParts, changes: Changes): HttpRoute {
  return route({
    method: "delete",
    path: BASE,
    operation: "deleteConversation",
    summary: "Delete the conversation with all its branches; 409 while a query is running",
    tag: "conversations",
    scope: "admin",
    headers: MATCH,
    answers: { 204: { description: "The conversation was deleted" } },
    handle: (call) =>
      changes.change(call, async (conversation) => {
        await conversations.delete(conversation);
        return new Response(null, { status: 204 });
      }),
  });
}

function exported({ conversations }: HttpParts): HttpRoute {
  return route({
    method: "get",
    path: `${BASE}/export`,
    operation: "exportConversation",
    summary: "Export the conversation as an archive, or the branch as Markdown or HTML",
    tag: "conversations",
    query: schema.ExportQuery,
    answers: {
      200: {
        description: "The exported file",
        schema: z.unknown(),
        types: ["application/json", "text/markdown", "text/html"],
      },
    },
    handle: async ({ params, query: { format } }) => {
      const conversation = await findConversation(conversations, params["id"]);
      const name = `vis-${conversation.conversationId}.${format}`;
      const headers = { "content-disposition": `attachment; filename="${name}"`, "cache-control": "no-store" };
      if (format === "html") {
        const { exportHtml } = await import("../../../conversation/export/html.ts");
        const text = exportHtml(await conversations.recording(conversation));
        return new Response(text, { headers: { ...headers, "content-type": "text/html; charset=utf-8" } });
      }
      if (format === "md") {
        const { exportMarkdown } = await import("../../../conversation/export/markdown.ts");
        const text = exportMarkdown(await conversations.recording(conversation), { branches: [] });
        return new Response(text, { headers: { ...headers, "content-type": "text/markdown; charset=utf-8" } });
      }
      const { archiveText } = await import("../../../conversation/archive/archive_text.ts");
      const pieces = archiveText(await conversations.records.archive(conversation));
      const body = ReadableStream.from(pieces).pipeThrough(new TextEncoderStream());
      return new Response(body, { headers: { ...headers, "content-type": "application/json; charset=utf-8" } });
    },
  });
}

function search({ conversations }: HttpParts): HttpRoute {
  return route({
    method: "get",
    path: "/api/v1/search",
    operation: "search",
    summary: "Search requests, code and answers for all words, best matches first; matches are enclosed in [ and ]",
    tag: "conversations",
    query: schema.SearchQuery,
    answers: { 200: { description: "The results", schema: z.object({ items: z.array(SearchHitSchema) }) } },
    handle: async ({ query: { q, conversation: conversationId, ...filter } }) => {
      return jsonResponse({ items: await conversations.archive.search(q, { ...filter, conversationId }) });
    },
  });
}
