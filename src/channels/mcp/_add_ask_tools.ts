import type { McpServer, ServerContext } from "@modelcontextprotocol/server";
import { z } from "zod";
import type { AskTarget } from "../../conversation/send_options.ts";
import { oneLine } from "../../domain/kit/text.ts";
import { BlockTally } from "../../domain/query/calls.ts";
import { shownAnswer } from "../../domain/query/outcomes.ts";
import { delayLine, isChild } from "../../domain/query/query_event.ts";
import type { QueryEvent, QueryResult } from "../../domain/query/query_schemas.ts";
import { conversationOf, type McpParts, type Opened, toolText } from "./_tool_parts.ts";

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
    const opened = await parts.open();
    const target = { channel: "mcp", workspace: opened.workspace };
    return await answered(request, { opened, target, given, context });
  });
  server.registerTool("continue", {
    title: "Continue a conversation of Vis",
    description: "Gives Vis the next request of a conversation. Variables and everything said before are still there.",
    inputSchema: Continue,
    outputSchema: Answer,
    annotations: HINTS,
  }, async ({ request, conversation, ...given }, context) => {
    const opened = await parts.open();
    const target = await conversationOf(conversation, opened);
    return await answered(request, { opened, target, given, context });
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
  const result = await opened.conversations.ask(target, request, {
    signal: context.mcpReq.signal,
    emit: progress(context),
    refuseWhenBusy: true,
    maxIterations,
    responseSchema: schema,
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

/** Tells a client that requested progress what the query does: each block, each wait, each step. */
function progress({ mcpReq }: ServerContext): (event: QueryEvent) => void {
  const token = mcpReq._meta?.progressToken;
  if (token === undefined) return () => {};
  let told = 0;
  let tally = new BlockTally();
  const tell = (event: QueryEvent, text: string): void => {
    const params = { progressToken: token, progress: ++told, message: `Step ${event.iteration}: ${text}` };
    mcpReq.notify({ method: "notifications/progress", params }).catch(() => {}); // the client has left
  };
  return (event) => {
    if (isChild(event)) return;
    if (event.type === "host_call") tally.take(event);
    else if (event.type === "block_started") {
      tally = new BlockTally();
      tell(event, "running code");
    } else if (event.type === "block_finished") {
      const failed = tally.failed || !event.result.ok;
      tell(event, `${failed ? "✗ " : ""}${tally.text || (failed ? "code failed" : "ran code")}`);
    } else if (event.type === "waiting" || event.type === "retrying") tell(event, oneLine(delayLine(event), 300));
    else if (event.type === "iteration_finished") tell(event, event.reason ?? event.outcome);
  };
}
