import type { CallToolResult, McpServer, ServerContext } from "@modelcontextprotocol/server";
import { z } from "zod";
import type { Conversation } from "../../conversation/conversations.ts";
import type { AskTarget } from "../../conversation/ask_options.ts";
import { versionText } from "../../conversation/stored_conversations.ts";
import { UsageError } from "../../domain/errors.ts";
import { oneLine } from "../../domain/kit/text.ts";
import { BlockTally, callsText } from "../../domain/query/host_call.ts";
import { shownAnswer } from "../../domain/query/outcomes.ts";
import { delayLine, isChild } from "../../domain/query/query_event.ts";
import type { QueryEvent, QueryResult } from "../../domain/query/query_schemas.ts";
import type { Session } from "../channel.ts";

type Opened = Pick<Session, "conversations" | "workspace">;

export interface McpParts {
  /** Some clients hide stderr, so a tool call returns the error if `open` rejects. */
  readonly open: () => Promise<Opened>;
}

const RUNS = { readOnlyHint: false, destructiveHint: true, idempotentHint: false, openWorldHint: true } as const;

const wanted = {
  request: z.string().min(1).describe("The task or question, in plain words"),
  maxIterations: z.number().int().min(1).optional().describe(
    "Number of iterations before the model must ask for more, without the first four iterations that have no result; by default, the budget of the settings",
  ),
  schema: z.record(z.string(), z.unknown()).optional().describe("JSON Schema that the answer must satisfy"),
};
const Ask = z.strictObject(wanted);

const Continue = z.strictObject({
  conversation: z.string().optional().describe(
    "Id of a conversation; by default, the most recently used conversation of the workspace",
  ),
  ...wanted,
  request: wanted.request.optional(),
  more: z.boolean().optional().describe(
    "Instead of a request: continue the last request, which stopped at its step limit, for ten more steps",
  ),
});

const Answer = z.object({
  status: z.enum(["done", "error", "interrupted"]),
  reason: z.string(),
  answer: z.string(),
  value: z.unknown().optional().describe("The answer as data, if a schema was given"),
  conversation: z.string(),
  query: z.string(),
  iterations: z.number(),
  inputTokens: z.number(),
  outputTokens: z.number(),
  estimated: z.boolean().describe("Whether a part of the tokens and of the cost is estimated"),
  costUsd: z.number().nullable(),
  work: z.string().describe("Changes and commands in one line; empty if there are none"),
});

export function addAskTools(server: McpServer, parts: McpParts): void {
  server.registerTool("ask", {
    title: "Ask Vis",
    description: "Gives Vis, an agent that works in its own workspace by writing and running code, a task in a new " +
      "conversation, and waits for the answer.",
    inputSchema: Ask,
    outputSchema: Answer,
    annotations: RUNS,
  }, async ({ request, ...given }, context) => {
    const opened = await parts.open();
    const target = { channel: "mcp", workspace: opened.workspace };
    return await answered(request, { opened, target, given, context });
  });
  server.registerTool("continue", {
    title: "Continue a conversation of Vis",
    description: "Gives Vis the next request of a conversation. Variables and earlier requests are still there.",
    inputSchema: Continue,
    outputSchema: Answer,
    annotations: RUNS,
  }, async ({ request, conversation, more = false, ...given }, context) => {
    if (more === (request !== undefined)) {
      throw new UsageError(
        more
          ? "Cannot continue the conversation: request and more exclude each other; pass only one of them"
          : "Cannot continue the conversation: neither request nor more is given; pass one of them",
      );
    }
    const opened = await parts.open();
    const target = await conversationOf(conversation, opened);
    if (request !== undefined) return await answered(request, { opened, target, given, context });
    return toolResult(await opened.conversations.more(target, asking(context)));
  });
}

interface Asked {
  readonly opened: Opened;
  readonly target: AskTarget;
  readonly given: { readonly maxIterations?: number | undefined; readonly schema?: object | undefined };
  readonly context: ServerContext;
}

async function answered(request: string, { opened, target, given, context }: Asked) {
  const { maxIterations, schema } = given;
  const options = { ...asking(context), maxIterations, responseSchema: schema };
  return toolResult(await opened.conversations.ask(target, request, options));
}

function asking(context: ServerContext) {
  return { signal: context.mcpReq.signal, emit: progress(context), refuseWhenBusy: true };
}

function toolResult(result: QueryResult) {
  const told = [shownAnswer(result), ...result.work?.text ? [result.work.text] : []].join("\n\n");
  return { ...toolText(facts(result), told), isError: result.status !== "done" };
}

function facts(
  { status, reason, answer, value, conversationId, queryId, iterations, usage, costUsd, work }: QueryResult,
) {
  return {
    status,
    reason,
    answer,
    ...(value === undefined ? {} : { value }),
    conversation: conversationId,
    query: queryId,
    iterations,
    inputTokens: usage.input,
    outputTokens: usage.output,
    estimated: (usage.estimated ?? 0) > 0,
    costUsd,
    work: work?.text ?? "",
  };
}

function progress({ mcpReq }: ServerContext): (event: QueryEvent) => void {
  const token = mcpReq._meta?.progressToken;
  if (token === undefined) return () => {};
  let told = 0;
  let tally = new BlockTally();
  const tell = (event: QueryEvent, text: string): void => {
    const params = { progressToken: token, progress: ++told, message: `Step ${event.iteration}: ${text}` };
    mcpReq.notify({ method: "notifications/progress", params }).catch(() => {}); // The client may have left.
  };
  return (event) => {
    if (isChild(event)) return;
    if (event.type === "host_call") tally.take(event);
    else if (event.type === "block_started") {
      tally = new BlockTally();
      tell(event, "running code");
    } else if (event.type === "block_finished") {
      const failed = event.result.ok || tally.failed ? [] : [{ state: "failed", text: "code failed" } as const];
      tell(event, callsText([...tally.linesWithin(Infinity), ...failed]) || "ran code");
    } else if (event.type === "waiting" || event.type === "retrying") tell(event, oneLine(delayLine(event), 300));
    else if (event.type === "iteration_finished") tell(event, event.reason ?? event.outcome);
  };
}

const READS = { readOnlyHint: true, openWorldHint: false } as const;

const VALUE_CHARS = 20_000;

const conversation = z.string().optional().describe(
  "Id of a conversation; by default, the most recently used conversation of the workspace",
);

const limit = z.number().int().min(1).max(200).default(20);

const time = z.string().describe("ISO 8601");

const isoOf = (ms: number): string => new Date(ms).toISOString();

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
      conversation: z.string().optional().describe("Only search this conversation"),
      limit,
    }),
    outputSchema: z.object({
      hits: z.array(z.object({
        kind: z.string(),
        snippet: z.string().describe("Text around the words, which are enclosed in [ and ]"),
        conversation: z.string(),
        title: z.string(),
        query: z.string(),
        at: time,
      })),
    }),
    annotations: READS,
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
    description: "Lists conversations, the most recently used first.",
    inputSchema: z.strictObject({ limit }),
    outputSchema: z.object({
      conversations: z.array(z.object({
        conversation: z.string(),
        title: z.string(),
        workspace: z.string(),
        queries: z.number(),
        running: z.boolean().describe("Whether a query is running in it"),
        createdAt: time,
      })),
    }),
    annotations: READS,
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
    description:
      "Without a name: the variables that a conversation has kept. With a name: the newest versions of this variable with " +
      "their values and the code that made them.",
    inputSchema: z.strictObject({
      conversation,
      name: z.string().optional(),
      versions: z.number().int().min(1).max(50).default(1).describe("With a name, the number of newest versions"),
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
    annotations: READS,
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
        const value = versionText(found, VALUE_CHARS);
        return { name, version, kind, shape, value, code, createdAt: isoOf(createdAt) };
      });
    return toolText({ conversation: branch.conversationId, variables });
  });
}

async function conversationOf(
  id: string | undefined,
  { conversations, workspace }: Opened,
): Promise<Conversation> {
  const found = id === undefined ? await conversations.latest(workspace) : await conversations.byId(id);
  if (found) return found;
  throw new UsageError(`Cannot find a conversation in ${workspace}: it has none yet; begin one with the tool ask`);
}

/** Some clients read only text, so the default text repeats the facts. */
function toolText(facts: Record<string, unknown>, text: string = JSON.stringify(facts)): CallToolResult {
  return { content: [{ type: "text", text }], structuredContent: facts };
}
