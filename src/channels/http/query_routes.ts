import { z } from "zod";
import type { Conversations } from "../../conversation/conversations.ts";
import { readable } from "../../domain/readable.ts";
import { findConversation } from "./find_conversation.ts";
import { findQuery } from "./find_query.ts";
import type { HttpParts } from "./http_parts.ts";
import { jsonResponse } from "./json_response.ts";
import { Problem } from "./problem.ts";
import { type Route, route } from "./route.ts";
import * as schema from "./schemas.ts";

const BASE = "/api/v1/conversations/{id}";
const VALUE_CHARS = 20_000;

type StoredIteration = Awaited<ReturnType<Conversations["iterations"]>>[number];

/** What queries did: iterations, the messages they were asked with, variables and their versions. */
export function queryRoutes(parts: HttpParts): readonly Route[] {
  return [iterations(parts), sentMessages(parts), variables(parts), variable(parts)];
}

function iterations({ conversations }: HttpParts): Route {
  return route({
    method: "get",
    path: `${BASE}/queries/{queryId}/iterations`,
    operation: "listIterations",
    summary: "The iterations of a query with their blocks and results",
    tag: "queries",
    answers: {
      200: { description: "All iterations", schema: z.object({ items: z.array(schema.IterationSchema) }) },
    },
    handle: async ({ params }) => {
      const conversation = await findConversation(conversations, params["id"]);
      const { queryId } = await findQuery(conversations, { conversation, queryId: params["queryId"] });
      return jsonResponse({ items: (await conversations.iterations(queryId)).map(shownIteration) });
    },
  });
}

function shownIteration({ position, blocks, ...rest }: StoredIteration) {
  const { status, thinking, response, error, traces, metadata, createdAt } = rest;
  return {
    iteration: position + 1,
    ...{ status, thinking, response, error },
    blocks: blocks.map(({ code, result, reads }) => ({ code, result, reads })),
    ...{ traces, metadata, createdAt },
  };
}

function sentMessages({ conversations }: HttpParts): Route {
  return route({
    method: "get",
    path: `${BASE}/queries/{queryId}/iterations/{iteration}/messages`,
    operation: "getSentMessages",
    summary: "The messages that an iteration (1-based) was asked with",
    tag: "queries",
    answers: { 200: { description: "The messages", schema: schema.MessagesSchema } },
    handle: async ({ params }) => {
      const conversation = await findConversation(conversations, params["id"]);
      const { queryId } = await findQuery(conversations, { conversation, queryId: params["queryId"] });
      const number = Number(/^\d{1,6}$/.exec(params["iteration"] ?? "")?.[0] ?? 0);
      const messages = number < 1 ? null : await conversations.sentMessages(queryId, number - 1);
      if (messages) return jsonResponse({ messages });
      throw new Problem(`Cannot find iteration: ${(params["iteration"] ?? "").slice(0, 20)}`, { kind: "not-found" });
    },
  });
}

function variables({ conversations }: HttpParts): Route {
  return route({
    method: "get",
    path: `${BASE}/variables`,
    operation: "listVariables",
    summary: "Every variable of the branch, newest first, system ones included",
    tag: "variables",
    answers: { 200: { description: "All variables", schema: z.object({ items: z.array(schema.VariableSchema) }) } },
    handle: async ({ params }) => {
      const conversation = await findConversation(conversations, params["id"]);
      return jsonResponse({ items: await conversations.variables(conversation) });
    },
  });
}

function variable({ conversations }: HttpParts): Route {
  return route({
    method: "get",
    path: `${BASE}/variables/{name}`,
    operation: "getVariableHistory",
    summary: "The versions of a variable, oldest first",
    tag: "variables",
    answers: {
      200: {
        description: "All versions",
        schema: z.object({ name: z.string(), items: z.array(schema.VersionSchema) }),
      },
    },
    handle: async ({ params }) => {
      const name = params["name"] ?? "";
      const conversation = await findConversation(conversations, params["id"]);
      const versions = await conversations.variableHistory(conversation, name);
      if (versions.length === 0) {
        throw new Problem(`Cannot find variable: ${name.slice(0, 100)}`, { kind: "not-found" });
      }
      const items = versions.map(({ value, ...rest }) => {
        const text = readable(value);
        return { ...rest, value: text.slice(0, VALUE_CHARS), chars: text.length };
      });
      return jsonResponse({ name, items });
    },
  });
}
