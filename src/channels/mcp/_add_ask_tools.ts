import type { McpServer, ServerContext } from "@modelcontextprotocol/server";
import { z } from "zod";
import type { AskTarget } from "../../conversation/send_options.ts";
import { isChild, type QueryEvent } from "../../domain/query/query_event.ts";
import type { QueryResult } from "../../domain/query/query_result.ts";
import { shownAnswer } from "../../domain/query/shown_answer.ts";
import { conversationOf, type McpParts, toolText } from "./_tool_parts.ts";

const HINTS = { readOnlyHint: false, destructiveHint: true, idempotentHint: false, openWorldHint: true } as const;

const wanted = {
  request: z.string().min(1).describe("What Vis is to do or to answer, in plain words"),
  maxIterations: z.number().int().min(1).optional().describe("Iterations it may use; the configured number by default"),
  schema: z.record(z.string(), z.unknown()).optional().describe("JSON Schema that the answer must satisfy"),
};
const Ask = z.strictObject(wanted);
const Continue = z.strictObject({
  conversation: z.string().optional().describe("Id of a conversation; the newest of the workspace by default"),
  ...wanted,
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
  costUsd: z.number().nullable(),
});

/** Tools that run a query: `ask` in a new conversation, `continue` in an existing one. */
export function addAskTools(server: McpServer, parts: McpParts): void {
  server.registerTool("ask", {
    title: "Ask Vis",
    description: "Gives Vis, an agent that works in its own workspace by writing and running code, a task in a new " +
      "conversation, and waits for the answer.",
    inputSchema: Ask,
    outputSchema: Answer,
    annotations: HINTS,
  }, async ({ request, ...given }, context) => {
    const target = { channel: "mcp", workspace: parts.workspace };
    return await answered(request, { parts, target, given, context });
  });
  server.registerTool("continue", {
    title: "Continue a conversation of Vis",
    description: "Gives Vis the next request of a conversation. Variables and everything said before are still there.",
    inputSchema: Continue,
    outputSchema: Answer,
    annotations: HINTS,
  }, async ({ request, conversation, ...given }, context) => {
    const target = await conversationOf(conversation, parts);
    return await answered(request, { parts, target, given, context });
  });
}

interface Asked {
  readonly parts: McpParts;
  readonly target: AskTarget;
  readonly given: { readonly maxIterations?: number | undefined; readonly schema?: object | undefined };
  readonly context: ServerContext;
}

async function answered(request: string, { parts, target, given, context }: Asked) {
  const { maxIterations, schema } = given;
  const result = await parts.conversations.ask(target, request, {
    signal: context.mcpReq.signal,
    emit: progress(context),
    refuseWhenBusy: true,
    ...(maxIterations === undefined ? {} : { maxIterations }),
    ...(schema === undefined ? {} : { responseSchema: schema }),
  });
  return { ...toolText(facts(result), shownAnswer(result)), isError: result.status !== "done" };
}

function facts({ status, reason, answer, value, conversationId, queryId, iterations, usage, costUsd }: QueryResult) {
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
    costUsd,
  };
}

/** Reports each iteration of the query itself to a client that requested progress. */
function progress({ mcpReq }: ServerContext): (event: QueryEvent) => void {
  const token = mcpReq._meta?.progressToken;
  if (token === undefined) return () => {};
  return (event) => {
    if (event.type !== "iteration_finished" || isChild(event)) return;
    const message = `Iteration ${event.iteration}: ${event.reason ?? event.outcome}`;
    const params = { progressToken: token, progress: event.iteration ?? 0, message };
    mcpReq.notify({ method: "notifications/progress", params }).catch(() => {}); // the client has left
  };
}
