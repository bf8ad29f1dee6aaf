import { z } from "zod";
import type { HttpParts } from "./http_parts.ts";
import { findConversation } from "./find_conversation.ts";
import { jsonResponse } from "./json_response.ts";
import { type Route, route } from "./route.ts";
import * as schema from "./schemas.ts";

const BASE = "/api/v1/conversations/{id}";

/** What is done with stored conversations: rename, delete, export, search. */
export function recordRoutes(parts: HttpParts): readonly Route[] {
  return [rename(parts), remove(parts), exported(parts), search(parts)];
}

function rename({ conversations }: HttpParts): Route {
  return route({
    method: "patch",
    path: BASE,
    operation: "renameConversation",
    summary: "Give the branch another title",
    tag: "conversations",
    body: schema.RenameBody,
    answers: { 200: { description: "The title as it is kept", schema: schema.RenameBody } },
    handle: async ({ params, body }) => {
      const conversation = await findConversation(conversations, params["id"]);
      return jsonResponse({ title: await conversations.records.rename(conversation, body.title) });
    },
  });
}

function remove({ conversations }: HttpParts): Route {
  return route({
    method: "delete",
    path: BASE,
    operation: "deleteConversation",
    summary: "Delete the conversation with all its branches; 409 while a query runs in it",
    tag: "conversations",
    answers: { 204: { description: "It is gone" } },
    handle: async ({ params }) => {
      await conversations.delete(await findConversation(conversations, params["id"]));
      return new Response(null, { status: 204 });
    },
  });
}

function exported({ conversations }: HttpParts): Route {
  return route({
    method: "get",
    path: `${BASE}/export`,
    operation: "exportConversation",
    summary: "All of the conversation as an archive, or the branch as Markdown",
    tag: "conversations",
    query: schema.ExportQuery,
    answers: { 200: { description: "A file", schema: z.unknown() } },
    handle: async ({ params, query: { format } }) => {
      const conversation = await findConversation(conversations, params["id"]);
      const name = `vis-${conversation.conversationId}.${format}`;
      const headers = { "content-disposition": `attachment; filename="${name}"`, "cache-control": "no-store" };
      if (format === "md") {
        const { exportMarkdown } = await import("../../conversation/export_markdown.ts");
        const text = exportMarkdown(await conversations.recording(conversation), { branches: [] });
        return new Response(text, { headers: { ...headers, "content-type": "text/markdown; charset=utf-8" } });
      }
      const { archiveText } = await import("../../conversation/archive_text.ts");
      const pieces = archiveText(await conversations.records.archive(conversation));
      const body = ReadableStream.from(pieces).pipeThrough(new TextEncoderStream());
      return new Response(body, { headers: { ...headers, "content-type": "application/json; charset=utf-8" } });
    },
  });
}

function search({ conversations }: HttpParts): Route {
  return route({
    method: "get",
    path: "/api/v1/search",
    operation: "search",
    summary: "Requests, code and answers that have all the words, best first; the words stand in [ and ]",
    tag: "conversations",
    query: schema.SearchQuery,
    answers: { 200: { description: "Places", schema: z.object({ items: z.array(schema.SearchHitSchema) }) } },
    handle: async ({ query: { q, conversation: conversationId, ...filter } }) => {
      return jsonResponse({ items: await conversations.archive.search(q, { ...filter, conversationId }) });
    },
  });
}
