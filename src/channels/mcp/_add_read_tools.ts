import type { McpServer } from "@modelcontextprotocol/server";
import { z } from "zod";
import { versionText } from "../../conversation/records.ts";
import { clip } from "../../domain/kit/text.ts";
import { conversationOf, type McpParts, toolText } from "./_tool_parts.ts";

const HINTS = { readOnlyHint: true, openWorldHint: false } as const;
const VALUE_CHARS = 20_000;

const conversation = z.string().optional().describe("Id of a conversation; the newest of the workspace by default");
const limit = z.number().int().min(1).max(200).default(20);
const time = z.string().describe("ISO 8601");
const isoOf = (ms: number): string => new Date(ms).toISOString();

/** Tools that read stored data. None of them calls a model or runs anything. */
export function addReadTools(server: McpServer, parts: McpParts): void {
  addSearch(server, parts);
  addConversations(server, parts);
  addVariables(server, parts);
}

function addSearch(server: McpServer, parts: McpParts): void {
  server.registerTool("search", {
    title: "Search what Vis has done",
    description: "Searches requests, code and answers of all conversations. All words must occur; best hits first.",
    inputSchema: z.strictObject({
      text: z.string().min(1),
      kind: z.enum(["request", "code", "answer"]).optional(),
      conversation: z.string().optional().describe("Only in this one"),
      limit,
    }),
    outputSchema: z.object({
      hits: z.array(z.object({
        kind: z.string(),
        snippet: z.string().describe("Around the words, which stand in [ and ]"),
        conversation: z.string(),
        title: z.string(),
        query: z.string(),
        at: time,
      })),
    }),
    annotations: HINTS,
  }, async ({ text, kind, conversation: id, limit }) => {
    const { conversations } = await parts.open();
    const within = id === undefined ? undefined : (await conversations.byId(id)).conversationId;
    const found = await conversations.stored.search(text, { limit, kind, conversationId: within });
    return toolText({
      hits: found.map(({ kind, snippet, conversationId, title, queryId, at }) => {
        return { kind, snippet, conversation: conversationId, title, query: queryId, at: isoOf(at) };
      }),
    });
  });
}

function addConversations(server: McpServer, parts: McpParts): void {
  server.registerTool("conversations", {
    title: "List conversations of Vis",
    description: "Lists conversations, the one with the newest query first.",
    inputSchema: z.strictObject({ limit }),
    outputSchema: z.object({
      conversations: z.array(z.object({
        conversation: z.string(),
        title: z.string(),
        workspace: z.string(),
        queries: z.number(),
        running: z.boolean().describe("Whether a query runs in it now"),
        createdAt: time,
      })),
    }),
    annotations: HINTS,
  }, async ({ limit }) => {
    const { conversations } = await parts.open();
    const listed = await conversations.list({ limit });
    return toolText({
      conversations: listed.map(({ conversationId, title, workspace, queries, running, createdAt }) => {
        return { conversation: conversationId, title, workspace, queries, running, createdAt: isoOf(createdAt) };
      }),
    });
  });
}

function addVariables(server: McpServer, parts: McpParts): void {
  server.registerTool("variables", {
    title: "Read variables of Vis",
    description: "Without a name: the variables that a conversation has kept. With a name: its newest versions with " +
      "their values and the code that made them.",
    inputSchema: z.strictObject({
      conversation,
      name: z.string().optional(),
      versions: z.number().int().min(1).max(50).default(1).describe("With a name: how many of the newest"),
    }),
    outputSchema: z.object({
      conversation: z.string(),
      variables: z.array(z.object({
        name: z.string(),
        version: z.number(),
        kind: z.string(),
        shape: z.string(),
        value: z.string().optional(),
        code: z.string().optional(),
        createdAt: time,
      })),
    }),
    annotations: HINTS,
  }, async ({ conversation: id, name, versions }) => {
    const opened = await parts.open();
    const { records, stored } = opened.conversations;
    const branch = await conversationOf(id, opened);
    const variables = name === undefined
      ? (await stored.variables(branch.branchId)).map(({ name, versions, kind, summary, createdAt }) => {
        return { name, version: versions, kind, shape: summary.inline ?? summary.shape, createdAt: isoOf(createdAt) };
      })
      : (await records.versions(branch, { name, newest: versions })).map((found) => {
        const { name, version, kind, shape, code, createdAt } = found;
        const value = clip(versionText(found), VALUE_CHARS);
        return { name, version, kind, shape, value, code, createdAt: isoOf(createdAt) };
      });
    return toolText({ conversation: branch.conversationId, variables });
  });
}
