import { z } from "zod";
import type { Conversations } from "../../../conversation/conversations.ts";
import type { ShownVersion } from "../../../conversation/records.ts";
import { UsageError } from "../../../domain/errors.ts";
import { readable } from "../../../domain/text/readable.ts";
import { findConversation } from "../request/find_conversation.ts";
import { findQuery } from "../request/find_query.ts";
import type { HttpParts } from "../routing/http_parts.ts";
import { jsonResponse } from "../response/json_response.ts";
import { Problem } from "../response/problem.ts";
import { type HttpRoute, route } from "../routing/route.ts";
import * as schema from "./schemas.ts";

const BASE = "/api/v1/conversations/{id}";
const VALUE_CHARS = 20_000;

type StoredIteration = Awaited<ReturnType<Conversations["iterations"]>>[number];

/** Routes for the details of queries: iterations, their prompts, variables and their versions. */
export function queryRoutes(parts: HttpParts): readonly HttpRoute[] {
  return [iterations(parts), sentMessages(parts), variables(parts), variable(parts), difference(parts), graph(parts)];
}

function iterations({ conversations }: HttpParts): HttpRoute {
  return route({
    method: "get",
    path: `${BASE}/queries/{queryId}/iterations`,
    operation: "listIterations",
    summary: "List the iterations of a query with their blocks and results, in order",
    tag: "queries",
    query: schema.IterationsQuery,
    answers: {
      200: {
        description: "A page of iterations",
        schema: z.object({
          items: z.array(schema.IterationSchema),
          next: z.number().int().nullable().describe("Pass it as after to get the next page; null at the end"),
        }),
      },
    },
    handle: async ({ params, query: { after, limit } }) => {
      const conversation = await findConversation(conversations, params["id"]);
      const { queryId } = await findQuery(conversations, { conversation, queryId: params["queryId"] });
      const found = await conversations.iterations(queryId, { after: after - 1, limit: limit + 1 });
      const items = found.slice(0, limit).map(shownIteration);
      return jsonResponse({ items, next: found.length > limit ? items.at(-1)?.iteration ?? null : null });
    },
  });
}

function shownIteration({ position, blocks, ...rest }: StoredIteration) {
  const { status, thinking, response, error, steered, traces, metadata, createdAt } = rest;
  return {
    iteration: position + 1,
    ...{ status, thinking, response, error, steered },
    blocks: blocks.map(({ code, result, reads }) => ({ code, result, reads })),
    ...{ traces, metadata, createdAt },
  };
}

function sentMessages({ conversations }: HttpParts): HttpRoute {
  return route({
    method: "get",
    path: `${BASE}/queries/{queryId}/iterations/{iteration}/messages`,
    operation: "getSentMessages",
    summary: "Get the messages sent to the model for an iteration (1-based)",
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

function variables({ conversations }: HttpParts): HttpRoute {
  return route({
    method: "get",
    path: `${BASE}/variables`,
    operation: "listVariables",
    summary: "List all variables of the branch, newest first, including system ones",
    tag: "variables",
    answers: { 200: { description: "All variables", schema: z.object({ items: z.array(schema.VariableSchema) }) } },
    handle: async ({ params }) => {
      const conversation = await findConversation(conversations, params["id"]);
      return jsonResponse({ items: await conversations.records.variables(conversation) });
    },
  });
}

function variable({ conversations }: HttpParts): HttpRoute {
  return route({
    method: "get",
    path: `${BASE}/variables/{name}`,
    operation: "getVariableHistory",
    query: schema.VersionsQuery,
    summary: "List the latest versions of a variable, oldest first",
    tag: "variables",
    answers: {
      200: {
        description: "The versions",
        schema: z.object({ name: z.string(), items: z.array(schema.VersionSchema) }),
      },
    },
    handle: async ({ params, query: { newest } }) => {
      const name = params["name"] ?? "";
      const conversation = await findConversation(conversations, params["id"]);
      const versions = await found(name, () => conversations.records.versions(conversation, { name, newest }));
      return jsonResponse({ name, items: versions.map(shownVersion) });
    },
  });
}

function shownVersion({ version, kind, shape, reason, code, createdAt, shown }: ShownVersion) {
  const text = shown === null ? null : readable(shown.value);
  const value = text?.slice(0, VALUE_CHARS) ?? null;
  return { ...{ version, kind, shape, reason, code, createdAt }, value, chars: text?.length ?? null };
}

function difference({ conversations }: HttpParts): HttpRoute {
  return route({
    method: "get",
    path: `${BASE}/variables/{name}/diff`,
    operation: "getVariableDiff",
    summary: "Compare two versions of a variable",
    tag: "variables",
    query: schema.DiffQuery,
    answers: { 200: { description: "The difference", schema: z.object({ diff: z.unknown() }) } },
    handle: async ({ params, query: { from, to } }) => {
      const name = params["name"] ?? "";
      const conversation = await findConversation(conversations, params["id"]);
      const diff = await found(name, () => conversations.records.diff(conversation, { name, from, to }));
      return jsonResponse({ diff });
    },
  });
}

function graph({ conversations }: HttpParts): HttpRoute {
  return route({
    method: "get",
    path: `${BASE}/graph`,
    operation: "getGraph",
    summary: "Get the variables of the branch and which of them each was computed from",
    tag: "variables",
    answers: { 200: { description: "The graph", schema: schema.GraphSchema } },
    handle: async ({ params }) => {
      const conversation = await findConversation(conversations, params["id"]);
      const heads = await conversations.records.variables(conversation);
      const names = new Set(heads.map(({ name }) => name));
      const edges = await conversations.records.dependencies(conversation);
      return jsonResponse({
        nodes: heads.map(({ name, kind, scope, versions, summary }) => {
          return { name, kind, scope, versions, shape: summary.shape };
        }),
        edges: edges.filter(({ name, reads }) => names.has(name) && names.has(reads)),
      });
    },
  });
}

/** A missing record is a 404, not a bad request. */
async function found<T>(name: string, read: () => Promise<T>): Promise<T> {
  try {
    return await read();
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    throw new Problem(`Cannot find variable or version: ${name.slice(0, 100)}`, { kind: "not-found" });
  }
}
